//! The settings, in the types of those who use them.

use std::net::IpAddr;
use std::path::PathBuf;

use bridge::{StreamArguments, TurnSettings};
use codex_app_server::{
    ClientConfig, CodexBinary, ContinuityLimits, ModelAliases, PoolConfig, StderrContent,
    TurnLimits, TurnOptions,
};
use model_turn::Upstream;
use secrecy::SecretString;

use crate::table::{self as t, ANSWERS, VARIABLES};
use crate::values::Values;

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
    /// Logs.
    pub log: LogSettings,
    /// `PROXY_CAPTURE_DIR`, the folder for records of requests.
    pub captures: Option<PathBuf>,
    /// Each setting by itself. The server is configured from these, in its own types.
    pub values: Values,
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
    /// `PROXY_ALLOW_UNTESTED_CODEX`
    pub allow_untested: bool,
    /// What of our environment the child sees beside what every child sees.
    pub environment: Vec<(String, String)>,
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
    /// Settings that decide about answers and are not as by default: what the log of a turn names.
    pub fn changed_answers(&self) -> String {
        let about_answers = |entry: &String| {
            let name = entry.split('=').next();
            VARIABLES.iter().any(|known| known.group == ANSWERS && Some(known.name) == name)
        };
        let changed: Vec<_> = self.values.changed().into_iter().filter(about_answers).collect();
        changed.join(" ")
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
        let values = &self.values;
        TurnOptions {
            limits: TurnLimits {
                timeout: values.millis(&t::PROXY_TIMEOUT_MS),
                idle_timeout: values.millis(&t::PROXY_IDLE_TIMEOUT_MS),
                probe_after: values.millis_unless_zero(&t::PROXY_CALL_PROBE_MS),
            },
            retries: values.number(&t::PROXY_UPSTREAM_RETRIES),
            max_waiting_bytes: values.number(&t::PROXY_MAX_STREAM_BUFFER_BYTES),
        }
    }

    /// How one child is started.
    pub fn client_config(&self, binary: CodexBinary) -> ClientConfig {
        let values = &self.values;
        ClientConfig {
            turns: self.turn_options(),
            max_line_bytes: values.number(&t::PROXY_MAX_LINE_BYTES),
            handshake_timeout: values.millis(&t::WORKER_HANDSHAKE_TIMEOUT_MS),
            request_timeout: values.millis(&t::WORKER_REQUEST_TIMEOUT_MS),
            shutdown_grace: values.millis(&t::WORKER_SHUTDOWN_GRACE_MS),
            classic_models: self.turns.parallel_calls == Some(true),
            early_arguments: self.turns.stream_arguments == StreamArguments::Auto,
            allow_untested: self.codex.allow_untested,
            chatgpt_base_url: values.text(&t::PROXY_CHATGPT_BASE_URL).map(str::to_owned),
            environment: self.codex.environment.clone(),
            stderr_content: if self.log.content {
                StderrContent::Shown
            } else {
                StderrContent::Hidden
            },
            ..ClientConfig::new(binary, &self.codex.home)
        }
    }

    /// How the children of the server are kept.
    pub fn pool_config(&self, binary: CodexBinary) -> PoolConfig {
        let values = &self.values;
        let client = ClientConfig { ..self.client_config(binary) };
        PoolConfig {
            workers: values.number(&t::WORKER_COUNT),
            backoff_initial: values.millis(&t::WORKER_BACKOFF_INITIAL_MS),
            backoff_max: values.millis(&t::WORKER_BACKOFF_MAX_MS),
            continuity: ContinuityLimits {
                max_threads: values.number(&t::PROXY_CONTINUITY_MAX),
                max_age: values.millis(&t::PROXY_CONTINUITY_TTL_MS),
                max_bytes: values.number(&t::PROXY_CONTINUITY_MAX_BYTES),
            },
            ..PoolConfig::new(client)
        }
    }
}

// === impl Host ===

impl Host {
    /// The address, where it is a single one.
    pub fn address(self) -> Option<IpAddr> {
        match self {
            Self::Loopback => None,
            Self::Address(address) => Some(address),
        }
    }

    /// Whether only this machine can reach it.
    pub fn is_loopback(self) -> bool {
        self.address().is_none_or(|address| address.to_canonical().is_loopback())
    }
}

#[cfg(test)]
mod tests;
