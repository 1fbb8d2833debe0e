//! Starting Codex for one command, and choosing the upstream of a model.

use std::error::Error;

use codex_app_server::{Client, ClientConfig, CodexBinary, DEMO_MODEL, Model, StartError};
use configuration::Settings;
use model_turn::Upstream;

use crate::cli;
use crate::demo::{self, Demo};
use crate::progress;

/// A running child, and the model `demo` behind it.
pub(crate) struct Codex {
    pub(crate) client: Client,
    demo: Demo,
    upstream: Option<Upstream>,
}

// === impl Codex ===

impl Codex {
    pub(crate) async fn start(settings: &Settings) -> Result<Self, Box<dyn Error>> {
        Self::start_with(locate(settings).await?, settings).await
    }

    /// The same with a binary that was found before.
    pub(crate) async fn start_with(
        binary: CodexBinary,
        settings: &Settings,
    ) -> Result<Self, Box<dyn Error>> {
        let demo = Demo::start().await?;
        let mut config = settings.client_config(binary);
        config.canary = Some(demo::canary(settings));
        let client = start_child(config).await?;
        Ok(Self { client, demo, upstream: settings.codex.upstream.clone() })
    }

    /// Checks that this Codex may be used with a model.
    pub(crate) async fn check_promises(&self, model: &str) -> Result<(), String> {
        if model == DEMO_MODEL {
            return Ok(());
        }
        let canary = self.client.play_canary().await;
        match canary.broken() {
            Some(broken) if !canary.permits() => {
                let program = cli::program();
                Err(format!(
                    "this Codex breaks a promise, and takes no turns of real models: {broken} \
                     (`{program} doctor` shows what to do)"
                ))
            }
            _ => Ok(()),
        }
    }

    /// Where a model's requests go; `None` is wherever the login leads.
    pub(crate) fn upstream_of(&self, model: &str) -> Option<Upstream> {
        if model == DEMO_MODEL {
            return Some(self.demo.upstream());
        }
        self.upstream.clone()
    }
}

/// Starts Codex alone, for a command that asks no model.
pub(crate) async fn start_client(settings: &Settings) -> Result<Client, Box<dyn Error>> {
    Ok(start_child(settings.client_config(locate(settings).await?)).await?)
}

async fn start_child(config: ClientConfig) -> Result<Client, StartError> {
    // Boxed, because it is large and polled once a command.
    let starting = Box::pin(Client::start(config));
    progress::during("Starting Codex", starting).await
}

pub(crate) async fn locate(
    settings: &Settings,
) -> Result<CodexBinary, codex_app_server::BinaryError> {
    CodexBinary::locate(settings.codex.binary.as_deref(), &settings.codex_copies()).await
}

/// The model where none is chosen.
pub(crate) fn default_model(settings: &Settings, models: &[Model]) -> Result<String, &'static str> {
    let codex = &settings.codex;
    codex
        .aliases
        .default_model(codex.model.as_deref(), models)
        .ok_or("Codex names no default model; set CODEX_MODEL")
}
