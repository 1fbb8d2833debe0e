//! Settings from the environment.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use codex_app_server::{
    ClientConfig, CodexBinary, InvalidAlias, ModelAliases, PoolConfig, TurnLimits, Upstream,
};
use etcetera::base_strategy::{BaseStrategy as _, choose_native_strategy};

/// Everything that the environment can say.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// `PROXY_DATA_DIR`
    pub(crate) data_folder: PathBuf,
    /// `CODEX_BIN`
    pub(crate) codex_bin: Option<PathBuf>,
    /// `PROXY_CODEX_HOME`
    pub(crate) codex_home: PathBuf,
    /// `CODEX_MODEL`
    pub(crate) model: Option<String>,
    /// `PROXY_UPSTREAM_BASE_URL`, `PROXY_UPSTREAM_API_KEY`
    pub(crate) upstream: Option<Upstream>,
    /// `PROXY_MODEL_ALIASES`, beside the built-in ones
    pub(crate) aliases: ModelAliases,
    /// `PROXY_LOG`
    pub(crate) log: Option<String>,
    /// `PROXY_CHATGPT_BASE_URL`
    chatgpt_base_url: Option<String>,
    /// What of our environment the child sees beside what every child sees
    child_environment: Vec<(String, String)>,
    /// `WORKER_COUNT`
    workers: usize,
    backoff_initial: Duration,
    backoff_max: Duration,
    retries: u32,
    limits: TurnLimits,
    max_line_bytes: usize,
    handshake_timeout: Duration,
    request_timeout: Duration,
    /// `WORKER_SHUTDOWN_GRACE_MS`: how long a stop may wait for anybody
    pub(crate) shutdown_grace: Duration,
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum SettingError {
    #[error("{name}={value:?}: expected {allowed}")]
    Value { name: &'static str, value: String, allowed: &'static str },
    #[error("PROXY_MODEL_ALIASES: {0}; separate several by commas")]
    Alias(#[from] InvalidAlias),
    #[error("there is no data folder for this user; set PROXY_DATA_DIR")]
    NoDataFolder,
    #[error("PROXY_UPSTREAM_API_KEY is set, but PROXY_UPSTREAM_BASE_URL is not: whose key is it?")]
    KeyWithoutUpstream,
}

/// Codex's own variables for another issuer of logins.
const LOGIN_VARIABLES: [&str; 3] = [
    "CODEX_APP_SERVER_LOGIN_ISSUER",
    "CODEX_REFRESH_TOKEN_URL_OVERRIDE",
    "CODEX_REVOKE_TOKEN_URL_OVERRIDE",
];

/// Most children that a machine could have a use for.
const MAX_WORKERS: usize = 64;

/// The environment, or something that stands for it in a test.
struct Source<F>(F);

// === impl Settings ===

impl Settings {
    pub(crate) fn from_environment() -> Result<Self, SettingError> {
        let user_data = choose_native_strategy().ok().map(|folders| folders.data_dir());
        Self::read(&Source(|name: &str| std::env::var(name).ok()), user_data)
    }

    fn read(
        source: &Source<impl Fn(&str) -> Option<String>>,
        user_data: Option<PathBuf>,
    ) -> Result<Self, SettingError> {
        let data_folder = source
            .text("PROXY_DATA_DIR")
            .map(PathBuf::from)
            .or_else(|| user_data.map(|folder| folder.join("codex-completions")))
            .ok_or(SettingError::NoDataFolder)?;
        let codex_home = source
            .text("PROXY_CODEX_HOME")
            .map_or_else(|| data_folder.join("codex-home"), PathBuf::from);
        let probe = source.millis("PROXY_CALL_PROBE_MS", 10_000, 0)?;
        Ok(Self {
            codex_bin: source.text("CODEX_BIN").map(PathBuf::from),
            codex_home,
            data_folder,
            model: source.text("CODEX_MODEL"),
            upstream: source.upstream()?,
            aliases: source.text("PROXY_MODEL_ALIASES").unwrap_or_default().parse()?,
            chatgpt_base_url: source
                .address("PROXY_CHATGPT_BASE_URL", "an http:// or https:// address")?,
            child_environment: LOGIN_VARIABLES
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), source.text(name)?)))
                .collect(),
            workers: source.workers()?,
            backoff_initial: source.millis("WORKER_BACKOFF_INITIAL_MS", 500, 1)?,
            backoff_max: source.millis("WORKER_BACKOFF_MAX_MS", 5_000, 1)?,
            log: source.text("PROXY_LOG"),
            retries: source.number("PROXY_UPSTREAM_RETRIES", 2, 0, "a whole number, 0 or more")?,
            limits: TurnLimits {
                timeout: source.millis("PROXY_TIMEOUT_MS", 600_000, 1)?,
                idle_timeout: source.millis("PROXY_IDLE_TIMEOUT_MS", 300_000, 1)?,
                probe_after: (!probe.is_zero()).then_some(probe),
            },
            max_line_bytes: source.number(
                "PROXY_MAX_LINE_BYTES",
                64 * 1024 * 1024,
                65_536,
                "a whole number of bytes, 65536 or more",
            )?,
            handshake_timeout: source.millis("WORKER_HANDSHAKE_TIMEOUT_MS", 15_000, 1)?,
            request_timeout: source.millis("WORKER_REQUEST_TIMEOUT_MS", 30_000, 1)?,
            shutdown_grace: source.millis("WORKER_SHUTDOWN_GRACE_MS", 5_000, 0)?,
        })
    }

    /// Where `./start` puts its copies of Codex.
    pub(crate) fn codex_copies(&self) -> PathBuf {
        self.data_folder.join("codex")
    }

    pub(crate) fn client_config(&self, binary: CodexBinary) -> ClientConfig {
        let mut config = ClientConfig::new(binary, &self.codex_home);
        config.retries = self.retries;
        config.limits = self.limits;
        config.max_line_bytes = self.max_line_bytes;
        config.handshake_timeout = self.handshake_timeout;
        config.request_timeout = self.request_timeout;
        config.shutdown_grace = self.shutdown_grace;
        config.chatgpt_base_url.clone_from(&self.chatgpt_base_url);
        config.environment.clone_from(&self.child_environment);
        config
    }

    pub(crate) fn pool_config(&self, binary: CodexBinary) -> PoolConfig {
        let mut config = PoolConfig::new(self.client_config(binary));
        config.workers = self.workers;
        config.backoff_initial = self.backoff_initial;
        config.backoff_max = self.backoff_max;
        config
    }
}

// === impl Source ===

impl<F: Fn(&str) -> Option<String>> Source<F> {
    /// An empty value is none, as in a `.env` file with the line `NAME=`.
    fn text(&self, name: &str) -> Option<String> {
        (self.0)(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn number<T: FromStr + PartialOrd + Copy>(
        &self,
        name: &'static str,
        default: T,
        min: T,
        allowed: &'static str,
    ) -> Result<T, SettingError> {
        let Some(value) = self.text(name) else { return Ok(default) };
        match value.parse() {
            Ok(number) if number >= min => Ok(number),
            _ => Err(SettingError::Value { name, value, allowed }),
        }
    }

    fn millis(&self, name: &'static str, default: u64, min: u64) -> Result<Duration, SettingError> {
        let allowed = match min {
            0 => "a whole number of milliseconds, 0 or more",
            _ => "a whole number of milliseconds, 1 or more",
        };
        self.number(name, default, min, allowed).map(Duration::from_millis)
    }

    fn workers(&self) -> Result<usize, SettingError> {
        const NAME: &str = "WORKER_COUNT";
        const ALLOWED: &str = "a whole number from 1 to 64";
        let workers = self.number(NAME, 1, 1, ALLOWED)?;
        if workers > MAX_WORKERS {
            let value = workers.to_string();
            return Err(SettingError::Value { name: NAME, value, allowed: ALLOWED });
        }
        Ok(workers)
    }

    /// An address without a slash at its end.
    fn address(
        &self,
        name: &'static str,
        allowed: &'static str,
    ) -> Result<Option<String>, SettingError> {
        match self.text(name) {
            Some(value) if !value.starts_with("http://") && !value.starts_with("https://") => {
                Err(SettingError::Value { name, value, allowed })
            }
            value => Ok(value.map(|value| value.trim_end_matches('/').to_owned())),
        }
    }

    fn upstream(&self) -> Result<Option<Upstream>, SettingError> {
        let allowed = "an http:// or https:// address, without /responses";
        let base_url = self.address("PROXY_UPSTREAM_BASE_URL", allowed)?;
        match (base_url, self.text("PROXY_UPSTREAM_API_KEY")) {
            (None, Some(_)) => Err(SettingError::KeyWithoutUpstream),
            (None, None) => Ok(None),
            (Some(base_url), api_key) => Ok(Some(Upstream { base_url, api_key })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> Result<Settings, SettingError> {
        let find = |name: &str| {
            values.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        };
        Settings::read(&Source(find), Some(PathBuf::from("data")))
    }

    #[test]
    fn defaults_lie_in_the_data_folder() {
        let settings = read(&[("CODEX_BIN", "")]).unwrap();
        assert_eq!(settings.codex_home, PathBuf::from("data/codex-completions/codex-home"));
        assert_eq!(settings.codex_copies(), PathBuf::from("data/codex-completions/codex"));
        assert_eq!(settings.codex_bin, None);
        assert_eq!(settings.limits.probe_after, Some(Duration::from_secs(10)));
    }

    #[test]
    fn zero_switches_the_probe_off() {
        assert_eq!(read(&[("PROXY_CALL_PROBE_MS", "0")]).unwrap().limits.probe_after, None);
    }

    #[test]
    fn a_bad_value_is_named_with_what_is_allowed() {
        for (name, value, words) in [
            ("PROXY_TIMEOUT_MS", "soon", "PROXY_TIMEOUT_MS=\"soon\": expected a whole number"),
            ("PROXY_TIMEOUT_MS", "0", "1 or more"),
            ("PROXY_UPSTREAM_RETRIES", "-1", "0 or more"),
            ("PROXY_MAX_LINE_BYTES", "10", "65536 or more"),
            ("PROXY_UPSTREAM_BASE_URL", "localhost:1", "an http:// or https:// address"),
            ("PROXY_UPSTREAM_API_KEY", "sk-x", "whose key is it?"),
            ("PROXY_CHATGPT_BASE_URL", "chatgpt.com", "an http:// or https:// address"),
            ("PROXY_MODEL_ALIASES", "fast", "\"fast\" is not name=model"),
            ("WORKER_COUNT", "0", "from 1 to 64"),
            ("WORKER_COUNT", "65", "from 1 to 64"),
            ("WORKER_BACKOFF_MAX_MS", "0", "1 or more"),
        ] {
            let error = read(&[(name, value)]).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn an_upstream_has_its_key_and_hides_it() {
        let settings = read(&[
            ("PROXY_UPSTREAM_BASE_URL", "http://127.0.0.1:1/v1/"),
            ("PROXY_UPSTREAM_API_KEY", "sk-x"),
        ])
        .unwrap();
        let upstream = settings.upstream.clone().unwrap();
        assert_eq!(upstream.base_url, "http://127.0.0.1:1/v1");
        assert_eq!(upstream.api_key.as_deref(), Some("sk-x"));
        assert!(!format!("{settings:?}").contains("sk-x"));
    }
}
