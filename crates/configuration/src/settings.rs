//! The settings, in the types of those who use them.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bridge::{StreamArguments, TurnSettings};
use codex_app_server::{
    ClientConfig, CodexBinary, ContinuityLimits, ModelAliases, PoolConfig, StderrContent,
    TurnLimits, TurnOptions, Upstream,
};
use secrecy::SecretString;

use crate::table::{ANSWERS, VARIABLES};

mod reading;

/// All settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Everything of ours on disk: `PROXY_DATA_DIR`.
    pub data_folder: PathBuf,
    /// Where the server listens.
    pub listen: Listen,
    /// Who may use it.
    pub access: Access,
    /// The Codex behind it.
    pub codex: CodexSettings,
    /// What becomes of a turn's answer.
    pub turns: TurnSettings,
    /// How much the server takes.
    pub limits: ServingLimits,
    /// `/metrics`
    pub metrics: Metrics,
    /// `PROXY_USAGE_MAX_AGE_DAYS`
    pub usage_max_age: Duration,
    /// Responses that are kept.
    pub responses: ResponsesSettings,
    /// `PROXY_CONTINUITY`
    pub continuity: bool,
    /// `PROXY_CONTINUITY_MAX`, `_TTL_MS`, `_MAX_BYTES`
    pub continuity_limits: ContinuityLimits,
    /// `PROXY_KEEP_REASONING_BYTES`; `None` keeps none.
    pub keep_reasoning: Option<usize>,
    /// Logs.
    pub log: LogSettings,
    /// `PROXY_OTEL_EXPORTER_URL`
    pub traces_url: Option<String>,
    /// Records of requests; `None` keeps none.
    pub captures: Option<CaptureSettings>,
    /// `NAME=value` of what is not as by default.
    changed: Arc<[String]>,
}

/// Responses that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponsesSettings {
    /// `PROXY_RESPONSES_STORE`
    pub store: bool,
    /// `PROXY_RESPONSES_STORE_MAX_AGE_DAYS`
    pub max_age: Duration,
    /// `PROXY_RESPONSES_STORE_MAX_BYTES`
    pub max_bytes: u64,
}

/// Where the server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listen {
    /// `PROXY_HOST`
    pub host: Host,
    /// `PORT`; 0 lets the system choose.
    pub port: u16,
}

/// The addresses of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// Both loopback addresses, or those that the machine has.
    Loopback,
    /// This one alone.
    Address(IpAddr),
}

/// Who may use the server.
#[derive(Debug, Clone)]
pub struct Access {
    /// `PROXY_API_KEY`; [`crate::ApiKey::obtain`] gives one in any case.
    pub api_key: Option<SecretString>,
    /// `PROXY_ALLOW_REMOTE`
    pub allow_remote: bool,
    /// `PROXY_PROTECT_MODELS`
    pub protect_models: bool,
    /// `PROXY_ALLOWED_HOSTS`, beside the loopback names; in lower case.
    pub allowed_hosts: Vec<String>,
    /// `PROXY_CORS_ALLOWED_ORIGINS`, beside the built-in ones; in lower case.
    pub allowed_origins: Vec<String>,
}

/// The Codex behind the server.
#[derive(Debug, Clone)]
pub struct CodexSettings {
    /// `CODEX_BIN`
    pub binary: Option<PathBuf>,
    /// `PROXY_CODEX_HOME`
    pub home: PathBuf,
    /// `CODEX_MODEL`
    pub model: Option<String>,
    /// `PROXY_MODEL_ALIASES`, beside the built-in ones.
    pub aliases: ModelAliases,
    /// `PROXY_MODEL_FALLBACK`
    pub model_fallback: Option<String>,
    /// `PROXY_UPSTREAM_BASE_URL`, `PROXY_UPSTREAM_API_KEY`
    pub upstream: Option<Upstream>,
    /// `PROXY_UPSTREAM_RETRIES`
    pub retries: u32,
    /// `PROXY_TIMEOUT_MS`, `PROXY_IDLE_TIMEOUT_MS`, `PROXY_CALL_PROBE_MS`
    pub turn_limits: TurnLimits,
    /// `PROXY_ALLOW_UNTESTED_CODEX`
    pub allow_untested: bool,
    /// `PROXY_CHATGPT_BASE_URL`
    pub chatgpt_base_url: Option<String>,
    /// What of our environment the child sees beside what every child sees.
    pub environment: Vec<(String, String)>,
    /// The processes.
    pub children: ChildSettings,
}

/// The processes of Codex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChildSettings {
    /// `WORKER_COUNT`
    pub count: usize,
    /// `WORKER_THREADS_AHEAD`
    pub threads_ahead: usize,
    /// `WORKER_BACKOFF_INITIAL_MS`
    pub backoff_initial: Duration,
    /// `WORKER_BACKOFF_MAX_MS`
    pub backoff_max: Duration,
    /// `WORKER_HANDSHAKE_TIMEOUT_MS`
    pub handshake_timeout: Duration,
    /// `WORKER_REQUEST_TIMEOUT_MS`
    pub request_timeout: Duration,
    /// `WORKER_SHUTDOWN_GRACE_MS`: how long a stop may wait for anybody.
    pub shutdown_grace: Duration,
    /// `PROXY_MAX_LINE_BYTES`
    pub max_line_bytes: usize,
}

/// How much the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServingLimits {
    /// `PROXY_MAX_CONCURRENT_TURNS`
    pub concurrent_turns: usize,
    /// `PROXY_QUEUE_MAX`
    pub queue_max: usize,
    /// `PROXY_QUEUE_WAIT_MS`
    pub queue_wait: Duration,
    /// `PROXY_RATE_LIMIT_ENABLED`; `None` is no such limit.
    pub rate_limit: Option<RateLimit>,
    /// `PROXY_MAX_BODY_BYTES`
    pub body_bytes: usize,
    /// `PROXY_BODY_TIMEOUT_MS`
    pub body_time: Duration,
    /// `PROXY_MAX_CONNECTIONS`
    pub connections: usize,
    /// `PROXY_HEADER_TIMEOUT_MS`
    pub header_time: Duration,
    /// `PROXY_MAX_HEADER_BYTES`
    pub header_bytes: usize,
    /// `PROXY_MAX_HEADERS`
    pub headers: usize,
    /// `PROXY_MAX_JSON_DEPTH`
    pub json_depth: usize,
    /// `PROXY_MAX_STREAM_BUFFER_BYTES`
    pub stream_buffer_bytes: usize,
    /// `PROXY_SSE_KEEPALIVE_MS`; `None` sends none.
    pub sse_keepalive: Option<Duration>,
}

/// How many requests of a key are let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// `PROXY_RATE_LIMIT_MAX`
    pub max: u32,
    /// `PROXY_RATE_LIMIT_WINDOW_MS`
    pub window: Duration,
}

/// `/metrics`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Metrics {
    /// `PROXY_ENABLE_METRICS`
    pub enabled: bool,
    /// `PROXY_METRICS_ALLOW_LOOPBACK`
    pub allow_loopback: bool,
}

/// Logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// `PROXY_LOG`; each command has its own default.
    pub filter: Option<String>,
    /// `PROXY_LOG_FORMAT`; the default depends on who reads.
    pub format: Option<LogFormat>,
    /// `PROXY_LOG_CONTENT`
    pub content: bool,
}

/// Records of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureSettings {
    /// `PROXY_CAPTURE_DIR`
    pub folder: PathBuf,
    /// `PROXY_CAPTURE_MAX_BYTES`
    pub max_bytes: u64,
}

/// The form of the log's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs.
    Json,
}

// === impl Settings ===

impl Settings {
    /// `NAME=value` of the settings that are not as by default; secrets are hidden.
    pub fn changed(&self) -> &[String] {
        &self.changed
    }

    /// Those of them that decide about answers: what the log of a turn names.
    pub fn changed_answers(&self) -> impl Iterator<Item = &str> {
        let about_answers = |entry: &&str| {
            let name = entry.split('=').next();
            VARIABLES.iter().any(|known| known.group == ANSWERS && Some(known.name) == name)
        };
        self.changed.iter().map(String::as_str).filter(about_answers)
    }

    /// Where `./start` puts its copies of Codex.
    pub fn codex_copies(&self) -> PathBuf {
        self.data_folder.join("codex")
    }

    /// What outlives a restart. A folder of its own: the data folder is watched for settings.
    pub fn database(&self) -> PathBuf {
        self.data_folder.join("store").join("codex-completions.sqlite3")
    }

    /// How turns run.
    pub fn turn_options(&self) -> TurnOptions {
        TurnOptions {
            limits: self.codex.turn_limits,
            retries: self.codex.retries,
            max_waiting_bytes: self.limits.stream_buffer_bytes,
        }
    }

    /// How one child is started.
    pub fn client_config(&self, binary: CodexBinary) -> ClientConfig {
        let CodexSettings { children, .. } = &self.codex;
        let mut config = ClientConfig::new(binary, &self.codex.home);
        let TurnOptions { limits, retries, max_waiting_bytes } = self.turn_options();
        config.retries = retries;
        config.limits = limits;
        config.max_waiting_bytes = max_waiting_bytes;
        config.max_line_bytes = children.max_line_bytes;
        config.handshake_timeout = children.handshake_timeout;
        config.request_timeout = children.request_timeout;
        config.shutdown_grace = children.shutdown_grace;
        config.classic_models = self.turns.parallel_calls == Some(true);
        config.early_arguments = self.turns.stream_arguments == StreamArguments::Auto;
        config.allow_untested = self.codex.allow_untested;
        config.chatgpt_base_url.clone_from(&self.codex.chatgpt_base_url);
        config.environment.clone_from(&self.codex.environment);
        if self.log.content {
            config.stderr_content = StderrContent::Shown;
        }
        config
    }

    /// How the children of the server are kept.
    pub fn pool_config(&self, binary: CodexBinary) -> PoolConfig {
        let CodexSettings { children, .. } = &self.codex;
        let mut config = PoolConfig::new(self.client_config(binary));
        config.workers = children.count;
        config.client.threads_ahead = children.threads_ahead;
        config.backoff_initial = children.backoff_initial;
        config.backoff_max = children.backoff_max;
        config.continuity = self.continuity_limits;
        config
    }
}

// === impl Host ===

impl Host {
    /// Whether only this machine can reach it.
    pub fn is_loopback(self) -> bool {
        match self {
            Self::Loopback => true,
            Self::Address(address) => address.to_canonical().is_loopback(),
        }
    }
}

#[cfg(test)]
mod tests;
