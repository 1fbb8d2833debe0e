//! A real Codex child in a temporary home, with a scripted upstream.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use codex_app_server::{
    CanaryConfig, CanaryModel, Client, ClientConfig, CodexBinary, ModelAliases, Turn,
};
use model_turn::{TurnRequest, Upstream};
use scripted_model::ScriptedModel;
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use crate::outcome::{Outcome, speaking};
use crate::until;

/// A running child, its upstream and its home; everything goes when it is dropped.
pub struct TestCodex {
    /// The client under test.
    pub client: Client,
    /// The model behind it.
    pub model: ScriptedModel,
    /// The child's home.
    pub home: TempDir,
}

/// The Codex to test with: `CODEX_BIN`, or else the pinned copy, which is installed if need be.
///
/// # Panics
/// If there is none.
#[allow(clippy::expect_used, reason = "a test without Codex cannot go on")]
pub async fn codex_binary() -> CodexBinary {
    let path = match std::env::var_os("CODEX_BIN") {
        Some(path) => PathBuf::from(path),
        None => install_pinned().await,
    };
    CodexBinary::at(&path).await.expect("no Codex to test with")
}

#[allow(clippy::expect_used, reason = "a test without Codex cannot go on")]
async fn install_pinned() -> PathBuf {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/install-codex");
    let output = Command::new(script).arg("--pinned").output().await.expect("install-codex runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// Waits until no turn runs on a child, and Codex has forgotten every thread.
///
/// # Panics
/// If Codex does not answer, or still has a thread after a long time.
#[allow(clippy::expect_used, reason = "a broken contract fails the test")]
pub(crate) async fn until_no_thread_is_loaded(client: &Client) {
    let is_idle = async || {
        // First: a turn that is dropped while it starts has its thread only later.
        let is_running = client.running_turns() > 0;
        let loaded = client.loaded_threads().await.expect("an answer");
        !is_running && loaded.is_empty()
    };
    until("no thread is loaded", is_idle).await;
}

/// A canary like the server's, for children without it.
pub fn canary() -> CanaryConfig {
    CanaryConfig {
        model: Arc::new(|| Box::pin(RecordingModel::start())),
        default_model: None,
        aliases: ModelAliases::default(),
    }
}

struct RecordingModel(ScriptedModel);

// === impl RecordingModel ===

impl RecordingModel {
    async fn start() -> io::Result<Box<dyn CanaryModel>> {
        Ok(Box::new(Self(ScriptedModel::start().await?)))
    }
}

impl CanaryModel for RecordingModel {
    fn upstream(&self) -> Upstream {
        Upstream { base_url: self.0.base_url(), api_key: None }
    }

    fn message(&self) -> String {
        "[[args:bytes=120,piece=40]]".to_owned()
    }

    fn requests(&self) -> Vec<Value> {
        self.0.recorded().into_iter().map(|request| request.body).collect()
    }
}

// === impl TestCodex ===

impl TestCodex {
    /// Starts a child with the defaults, but without retries.
    pub async fn start() -> Self {
        Self::with(|_| {}).await
    }

    /// Starts a child with changed settings.
    ///
    /// # Panics
    /// If it does not start.
    #[allow(clippy::expect_used, reason = "a test without Codex cannot go on")]
    pub async fn with(change: impl FnOnce(&mut ClientConfig)) -> Self {
        let home = tempfile::tempdir().expect("no temporary folder");
        let model = ScriptedModel::start().await.expect("no scripted model");
        let mut config = ClientConfig::new(codex_binary().await, home.path());
        config.turns.retries = 0;
        change(&mut config);
        let client = Client::start(config).await.expect("Codex does not start");
        Self { client, model, home }
    }

    /// A request for one user message, to the scripted model.
    pub fn ask(&self, text: &str) -> TurnRequest {
        crate::ask(&self.model.base_url(), text)
    }

    /// A turn that has said something and then says nothing more.
    ///
    /// # Panics
    /// If it says nothing.
    #[allow(clippy::expect_used, reason = "a broken contract fails the test")]
    pub async fn hanging_turn(&self) -> Turn {
        speaking(self.client.start_turn(self.ask("[[hang]]")).expect("a valid turn")).await
    }

    /// Waits until Codex has forgotten every thread, and with it every turn.
    ///
    /// # Panics
    /// If Codex does not answer, or still has a thread after a long time.
    pub async fn until_no_thread_is_loaded(&self) {
        until_no_thread_is_loaded(&self.client).await;
    }

    /// Runs a turn to its end.
    ///
    /// # Panics
    /// If the request is invalid.
    #[allow(clippy::expect_used, reason = "an invalid request is a mistake in the test")]
    pub async fn run(&self, request: TurnRequest) -> Outcome {
        Outcome::of(self.client.start_turn(request).expect("an invalid turn")).await
    }
}
