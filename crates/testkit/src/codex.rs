//! A real Codex child in a temporary home, with a scripted upstream.

use std::path::PathBuf;

use codex_app_server::{Client, ClientConfig, CodexBinary, TurnRequest};
use scripted_model::ScriptedModel;
use tempfile::TempDir;

use crate::outcome::Outcome;

/// A running child, its upstream and its home; everything goes when it is dropped.
pub struct TestCodex {
    /// The client under test.
    pub client: Client,
    /// The model behind it.
    pub model: ScriptedModel,
    /// The child's home.
    pub home: TempDir,
}

/// Where `./start` and `./test` install the pinned Codex.
pub fn data_folder() -> PathBuf {
    let chosen = std::env::var_os("PROXY_DATA_DIR").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    chosen
        .or_else(|| {
            let data = std::env::var_os("XDG_DATA_HOME")
                .map(PathBuf::from)
                .or_else(home);
            data.map(|data| data.join("codex-completions"))
        })
        .unwrap_or_default()
}

/// The Codex to test with: `CODEX_BIN`, or the copy that `./test` installed.
///
/// # Panics
/// If there is none.
#[allow(clippy::expect_used, reason = "a test without Codex cannot go on")]
pub async fn codex_binary() -> CodexBinary {
    let path = std::env::var_os("CODEX_BIN").map_or_else(
        || data_folder().join("codex/0.166.0/node_modules/@openai/codex/bin/codex.js"),
        PathBuf::from,
    );
    CodexBinary::at(&path)
        .await
        .expect("no Codex to test with: run ./test, which installs it")
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
        config.retries = 0;
        change(&mut config);
        let client = Client::start(config).await.expect("Codex does not start");
        Self {
            client,
            model,
            home,
        }
    }

    /// A request for one user message, to the scripted model.
    pub fn ask(&self, text: &str) -> TurnRequest {
        crate::ask(&self.model.base_url(), text)
    }

    /// Runs a turn to its end.
    ///
    /// # Panics
    /// If the request is invalid.
    #[allow(
        clippy::expect_used,
        reason = "an invalid request is a mistake in the test"
    )]
    pub async fn run(&self, request: TurnRequest) -> Outcome {
        Outcome::of(self.client.start_turn(request).expect("an invalid turn")).await
    }
}
