//! What can be chosen about a child.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::canary::CanaryConfig;
use crate::codex::Codex;
use crate::connection::WireTap;
use crate::timing::Timings;
use crate::turn::TurnOptions;

/// Everything about a child that can be chosen.
#[derive(Clone)]
pub struct ClientConfig {
    /// What is run.
    pub codex: Arc<dyn Codex>,
    /// Folder of the child's own; made if it is missing.
    pub home: PathBuf,
    /// Name towards the upstream (`originator`).
    pub client_name: String,
    /// Version towards the upstream.
    pub client_version: String,
    /// From the start of the process to the end of the handshake; also for another child that is
    /// starting in the same home.
    pub handshake_timeout: Duration,
    /// For one JSON-RPC request.
    pub request_timeout: Duration,
    /// Between two ways of asking the child to stop.
    pub shutdown_grace: Duration,
    /// Longest line of the child that is read.
    pub max_line_bytes: usize,
    /// How turns run that have no options of their own.
    pub turns: TurnOptions,
    /// Whether every model is asked the classic way, in which it may make several calls at once.
    ///
    /// Newer models ship with a leaner one, in which Codex asks for one call at a time. Whether
    /// OpenAI's own service takes the classic way for them has not been tried.
    pub classic_models: bool,
    /// Whether the child's log is read for arguments as the model writes them.
    pub early_arguments: bool,
    /// What shows whether this Codex keeps our promises. Without it that is taken for granted.
    pub canary: Option<CanaryConfig>,
    /// Whether turns of real models are taken all the same where it does not.
    pub allow_untested: bool,
    /// Where a ChatGPT login finds its accounts and limits, instead of Codex's own address.
    pub chatgpt_base_url: Option<String>,
    /// Variables that the child sees beside those that every child sees.
    pub environment: Vec<(String, String)>,
    /// Whether what the child writes to standard error is told whole.
    pub stderr_content: StderrContent,
    /// Sees every line in both directions, keys and all.
    pub tap: Option<WireTap>,
    /// Is told how long things take.
    pub timings: Option<Timings>,
}

/// How much is told of what a child writes to standard error, which can quote its turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StderrContent {
    /// Once it takes turns, only where a line comes from.
    #[default]
    Hidden,
    /// Everything.
    Shown,
}

// === impl ClientConfig ===

impl ClientConfig {
    /// The defaults for a Codex and a home.
    pub fn new(codex: impl Codex + 'static, home: impl Into<PathBuf>) -> Self {
        Self {
            codex: Arc::new(codex),
            home: home.into(),
            client_name: "codex-completions".to_owned(),
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            handshake_timeout: Duration::from_secs(15),
            request_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(5),
            max_line_bytes: 64 * 1024 * 1024,
            turns: TurnOptions::default(),
            classic_models: false,
            early_arguments: true,
            canary: None,
            allow_untested: false,
            chatgpt_base_url: None,
            environment: Vec::new(),
            stderr_content: StderrContent::default(),
            tap: None,
            timings: None,
        }
    }
}
