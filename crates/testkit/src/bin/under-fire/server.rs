//! Our server as a process of its own, and what is behind it.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use scripted_model::ScriptedModel;
use tempfile::TempDir;
use testkit::process::{descendants, is_running};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::http::Connection;
use crate::mischief::head;

/// The key of the clients under fire.
const KEY: &str = "key-of-those-under-fire";

/// How long the server may take to start, and to stop.
const START_AND_STOP: Duration = Duration::from_secs(30);

/// Settings that differ from the defaults, and why.
pub(crate) const SETTINGS: [(&str, &str, &str); 7] = [
    ("PROXY_LOG_FORMAT", "json", "the log is read"),
    ("PROXY_MAX_BODY_BYTES", "4194304", "bodies that are too large are sent often"),
    ("PROXY_MAX_STREAM_BUFFER_BYTES", "262144", "slow readers are to be cut"),
    ("PROXY_HEADER_TIMEOUT_MS", "2000", "heads that never end are sent often"),
    ("PROXY_BODY_TIMEOUT_MS", "3000", "so are bodies"),
    ("PROXY_IDLE_TIMEOUT_MS", "8000", "a child that hangs is to be noticed by its turns"),
    ("PROXY_QUEUE_WAIT_MS", "5000", "some shall wait in vain"),
];

/// What stands behind the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The scripted app-server.
    Scripted,
    /// The real Codex, and the scripted model as its upstream.
    Real,
}

/// Whom the clients talk to.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: SocketAddr,
    pub(crate) host: String,
    pub(crate) key: String,
    pub(crate) model: &'static str,
}

/// A running server.
pub(crate) struct Server {
    process: Child,
    pub(crate) pid: u32,
    pub(crate) target: Target,
    /// A key for somebody who behaves.
    pub(crate) probe_key: String,
    folder: TempDir,
    _model: Option<ScriptedModel>,
}

// === impl Kind ===

impl Kind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Scripted => "scripted",
            Self::Real => "real",
        }
    }
}

// === impl Target ===

impl Target {
    pub(crate) fn authorization(&self) -> String {
        format!("authorization: Bearer {}\r\n", self.key)
    }

    /// Status and body of a path that is only looked at.
    pub(crate) async fn look(&self, path: &str) -> Result<(u16, String), String> {
        let look = async {
            let mut connection = Connection::open(self.address).await.map_err(|e| e.to_string())?;
            let request = head("GET", path, &self.host, "look", &self.authorization());
            connection.send(&request).await.map_err(|error| error.to_string())?;
            let head = connection.head().await.map_err(|gone| gone.to_string())?;
            let body = connection.whole().await.map_err(|gone| gone.to_string())?;
            Ok((head.status, String::from_utf8_lossy(&body).into_owned()))
        };
        let late = |_| format!("{path} is not answered");
        tokio::time::timeout(Duration::from_secs(10), look).await.map_err(late)?
    }

    /// A gauge, or a counter without labels.
    pub(crate) async fn metric(&self, name: &str) -> Result<u64, String> {
        let (_, metrics) = self.look("/metrics").await?;
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.and_then(|value| value.parse().ok()).ok_or_else(|| format!("there is no {name}"))
    }
}

// === impl Server ===

impl Server {
    /// Starts it, and waits until it takes turns.
    pub(crate) async fn start(
        binary: &Path,
        codex: &Path,
        kind: Kind,
        turns: u32,
    ) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let (upstream, model) = match kind {
            // Nobody is there: the scripted app-server asks no upstream.
            Kind::Scripted => ("http://127.0.0.1:9/v1".to_owned(), None),
            Kind::Real => {
                let model = ScriptedModel::start().await?;
                (model.base_url(), Some(model))
            }
        };
        fs::create_dir(folder.path().join("data"))?;
        let mut key = command(binary, folder.path());
        let key = key.args(["key", "add", "probe"]).stderr(Stdio::null()).output().await?;
        let probe_key = String::from_utf8_lossy(&key.stdout).trim().to_owned();
        allow_turns(folder.path(), turns)?;
        let mut serve = command(binary, folder.path());
        let mut process = serve
            .args(["serve", "--port", "0"])
            .env("PROXY_HOST", "127.0.0.1")
            .env("PROXY_API_KEY", KEY)
            .env("PROXY_UPSTREAM_BASE_URL", upstream)
            .env("CODEX_BIN", codex)
            .envs(SETTINGS.map(|(name, value, _)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(folder.path().join("log"))?)
            .kill_on_drop(true)
            .spawn()?;
        let pid = process.id().ok_or_else(|| io::Error::other("the server has ended"))?;
        let address = tokio::time::timeout(START_AND_STOP, read_address(&mut process)).await??;
        let model_name = match kind {
            Kind::Scripted => "scripted",
            Kind::Real => "gpt-5.5",
        };
        let target =
            Target { address, host: address.to_string(), key: KEY.to_owned(), model: model_name };
        Ok(Self { process, pid, target, probe_key, folder, _model: model })
    }

    /// Has it run so many turns at once from now on.
    pub(crate) fn allow_turns(&self, turns: u32) -> io::Result<()> {
        allow_turns(self.folder.path(), turns)
    }

    /// Everything that it has written to standard error.
    pub(crate) fn log(&self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(self.folder.path().join("log"))?).into_owned())
    }

    /// Asks it to stop, and says what is wrong with how it does.
    pub(crate) async fn stop(mut self) -> Vec<String> {
        let started = descendants(self.pid);
        signal(self.pid, "-TERM").await;
        let mut wrong = Vec::new();
        match tokio::time::timeout(START_AND_STOP, self.process.wait()).await {
            Ok(Ok(status)) if status.success() => {}
            other => wrong.push(format!("the server did not stop well: {other:?}")),
        }
        wrong.extend(
            started
                .into_iter()
                .filter(|pid| is_running(*pid))
                .map(|pid| format!("process {pid} outlives the server")),
        );
        wrong
    }
}

/// The children of Codex that a server has. The one that is run need not be the one that was named: an
/// installed wrapper stands for the binary behind it.
pub(crate) fn children(server: u32) -> Vec<u32> {
    let is_codex = |pid: &u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|argument| argument == b"app-server")
    };
    descendants(server).into_iter().filter(is_codex).collect()
}

/// Sends a signal; the process may have gone.
pub(crate) async fn signal(pid: u32, name: &str) -> bool {
    let mut kill = Command::new("kill");
    kill.args([name, &pid.to_string()]).stderr(Stdio::null());
    kill.status().await.is_ok_and(|status| status.success())
}

/// Our binary with nothing of this process's environment.
fn command(binary: &Path, folder: &Path) -> Command {
    let mut command = Command::new(binary);
    command
        .env_clear()
        .current_dir(folder)
        .env("HOME", folder)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("PROXY_DATA_DIR", folder.join("data"));
    command
}

/// In the file, because it changes while the server runs.
fn allow_turns(folder: &Path, turns: u32) -> io::Result<()> {
    let new = folder.join("data/config.toml.new");
    fs::write(&new, format!("max_concurrent_turns = {turns}\n"))?;
    fs::rename(new, folder.join("data/config.toml"))
}

/// The server says where it is once it takes turns.
async fn read_address(process: &mut Child) -> io::Result<SocketAddr> {
    let output = process.stdout.take().ok_or_else(|| io::Error::other("no output"))?;
    let mut lines = BufReader::new(output).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some((_, rest)) = line.split_once("base URL  http://") {
            return rest.trim_end_matches("/v1").parse().map_err(io::Error::other);
        }
    }
    Err(io::Error::other("the server ended before it was ready"))
}
