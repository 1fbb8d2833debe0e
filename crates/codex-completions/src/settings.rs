//! Settings from the environment.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use codex_app_server::{ClientConfig, CodexBinary, TurnLimits, Upstream};
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
    /// `PROXY_LOG`
    pub(crate) log: Option<String>,
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
    #[error("there is no data folder for this user; set PROXY_DATA_DIR")]
    NoDataFolder,
    #[error("PROXY_UPSTREAM_API_KEY is set, but PROXY_UPSTREAM_BASE_URL is not: whose key is it?")]
    KeyWithoutUpstream,
}

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

    fn upstream(&self) -> Result<Option<Upstream>, SettingError> {
        const NAME: &str = "PROXY_UPSTREAM_BASE_URL";
        let api_key = self.text("PROXY_UPSTREAM_API_KEY");
        match self.text(NAME) {
            None if api_key.is_some() => Err(SettingError::KeyWithoutUpstream),
            None => Ok(None),
            Some(value) if !value.starts_with("http://") && !value.starts_with("https://") => {
                let allowed = "an http:// or https:// address, without /responses";
                Err(SettingError::Value { name: NAME, value, allowed })
            }
            Some(value) => {
                Ok(Some(Upstream { base_url: value.trim_end_matches('/').to_owned(), api_key }))
            }
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
