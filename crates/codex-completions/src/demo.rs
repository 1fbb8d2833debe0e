//! The model `demo`: built in, and for nobody but our own Codex.

use std::error::Error;
use std::io;
use std::sync::Arc;

use codex_app_server::{CanaryConfig, CanaryModel};
use configuration::Settings;
use model_turn::Upstream;
use scripted_model::ScriptedModel;
use serde_json::Value;

/// The running model. It listens like any server, so it has a key of its own, which Codex is told.
pub(crate) struct Demo {
    model: ScriptedModel,
    key: String,
}

// === impl Demo ===

impl Demo {
    pub(crate) async fn start() -> Result<Self, Box<dyn Error>> {
        let key = configuration::random_key()?;
        Ok(Self { model: ScriptedModel::demo(&key).await?, key })
    }

    /// Where it is asked.
    pub(crate) fn upstream(&self) -> Upstream {
        Upstream { base_url: self.model.base_url(), api_key: Some(self.key.clone()) }
    }

    /// One that canaries ask: another for each, so that every request to it is the canary's.
    async fn for_canary() -> io::Result<Box<dyn CanaryModel>> {
        let key = configuration::random_key().map_err(io::Error::other)?;
        Ok(Box::new(Self { model: ScriptedModel::recording_demo(&key).await?, key }))
    }
}

impl CanaryModel for Demo {
    fn upstream(&self) -> Upstream {
        self.upstream()
    }

    fn message(&self) -> String {
        "[[args:bytes=120,piece=40]]".to_owned()
    }

    fn requests(&self) -> Vec<Value> {
        self.model.recorded().into_iter().map(|request| request.body).collect()
    }
}

/// What shows whether a child keeps our promises.
pub(crate) fn canary(settings: &Settings) -> CanaryConfig {
    CanaryConfig {
        model: Arc::new(|| Box::pin(Demo::for_canary())),
        default_model: settings.codex.model.clone(),
        aliases: settings.codex.aliases.clone(),
    }
}
