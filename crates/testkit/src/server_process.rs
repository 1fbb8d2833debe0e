//! Our server as a process of its own, with nothing of this process's environment.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::http::{Connection, request_head};
use crate::process::{descendants, is_running};

/// How long the server may take to start, and to stop.
const START_AND_STOP: Duration = Duration::from_secs(30);

/// Longest that a path may take that is only looked at.
const LOOK: Duration = Duration::from_secs(10);

/// Whom clients talk to.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where it listens.
    pub address: SocketAddr,
    /// The same as a `host` header.
    pub host: String,
    /// The key of the client.
    pub key: String,
    /// The model that is asked for.
    pub model: &'static str,
}

/// A server that is about to be started: its folder is there, and keys can be added.
pub struct ServerFolder {
    folder: TempDir,
}

/// A running server.
pub struct ServerProcess {
    process: Child,
    /// Its process id.
    pub pid: u32,
    /// Where it listens.
    pub address: SocketAddr,
    folder: ServerFolder,
}

// === impl Target ===

impl Target {
    /// The header with the key.
    pub fn authorization(&self) -> String {
        format!("authorization: Bearer {}\r\n", self.key)
    }

    /// Status and body of a path that is only looked at.
    ///
    /// # Errors
    /// If there is no answer.
    pub async fn look(&self, path: &str) -> Result<(u16, String), String> {
        let look = async {
            let mut connection = Connection::open(self.address).await.map_err(|e| e.to_string())?;
            let request = request_head("GET", path, &self.host, "look", &self.authorization());
            connection.send(&request).await.map_err(|error| error.to_string())?;
            let head = connection.head().await.map_err(|gone| gone.to_string())?;
            let body = connection.whole().await.map_err(|gone| gone.to_string())?;
            Ok((head.status, String::from_utf8_lossy(&body).into_owned()))
        };
        let late = |_| format!("{path} is not answered");
        tokio::time::timeout(LOOK, look).await.map_err(late)?
    }

    /// A gauge or a counter, with its labels if it has some.
    ///
    /// # Errors
    /// If there is none of this name.
    pub async fn metric(&self, name: &str) -> Result<u64, String> {
        let (_, metrics) = self.look("/metrics").await?;
        metric(&metrics, name).ok_or_else(|| format!("there is no {name}"))
    }
}

/// A gauge or a counter in the text of `/metrics`, with its labels if it has some.
pub fn metric(metrics: &str, name: &str) -> Option<u64> {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok())
}

// === impl ServerFolder ===

impl ServerFolder {
    /// A new folder, with a data folder in it.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        fs::create_dir(folder.path().join("data"))?;
        Ok(Self { folder })
    }

    /// The data folder of the server.
    pub fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data")
    }

    /// Where the server's standard error goes.
    pub fn log_file(&self) -> std::path::PathBuf {
        self.folder.path().join("log")
    }

    /// Adds a key, and says what it is.
    ///
    /// # Errors
    /// If the server's binary does not run.
    pub async fn add_key(&self, binary: &Path, name: &str) -> io::Result<String> {
        let mut key = self.command(binary);
        let key = key.args(["key", "add", name]).stderr(Stdio::null()).output().await?;
        Ok(String::from_utf8_lossy(&key.stdout).trim().to_owned())
    }

    /// Starts the server with these settings, and waits until it takes turns.
    ///
    /// # Errors
    /// If it does not start.
    pub async fn serve(
        self,
        binary: &Path,
        codex: &Path,
        settings: &[(&str, &str)],
    ) -> io::Result<ServerProcess> {
        let mut process = self
            .command(binary)
            .args(["serve", "--port", "0"])
            .env("PROXY_HOST", "127.0.0.1")
            .env("CODEX_BIN", codex)
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(self.log_file())?)
            .kill_on_drop(true)
            .spawn()?;
        let pid = process.id().ok_or_else(|| io::Error::other("the server has ended"))?;
        let address = tokio::time::timeout(START_AND_STOP, read_address(&mut process)).await??;
        Ok(ServerProcess { process, pid, address, folder: self })
    }

    /// Our binary with nothing of this process's environment.
    fn command(&self, binary: &Path) -> Command {
        let mut command = Command::new(binary);
        command
            .env_clear()
            .current_dir(self.folder.path())
            .env("HOME", self.folder.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("PROXY_DATA_DIR", self.data());
        command
    }
}

// === impl ServerProcess ===

impl ServerProcess {
    /// The folder that it was started in.
    pub fn folder(&self) -> &ServerFolder {
        &self.folder
    }

    /// Somebody with this key.
    pub fn target(&self, key: &str, model: &'static str) -> Target {
        let address = self.address;
        Target { address, host: address.to_string(), key: key.to_owned(), model }
    }

    /// Everything that it has written to standard error.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn log(&self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(self.folder.log_file())?).into_owned())
    }

    /// Asks it to stop, and says what is wrong with how it does.
    pub async fn stop(mut self) -> Vec<String> {
        let started = descendants(self.pid);
        send_signal(self.pid, "-TERM").await;
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
pub fn codex_children(server: u32) -> Vec<u32> {
    let is_codex = |pid: &u32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.split(|byte| *byte == 0).any(|argument| argument == b"app-server")
    };
    descendants(server).into_iter().filter(is_codex).collect()
}

/// Sends a signal; the process may have gone.
pub async fn send_signal(pid: u32, name: &str) -> bool {
    let mut kill = Command::new("kill");
    kill.args([name, &pid.to_string()]).stderr(Stdio::null());
    kill.status().await.is_ok_and(|status| status.success())
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
