//! Our server as a process of its own, with nothing of this process's environment.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tokio::sync::watch;

use crate::http::{Connection, request_head};
use crate::process::{KilledOnDrop, descendants, is_running, send_signal, until_gone};
use crate::{blocking_until, within};

/// How long the server may take to stop.
const STOPPED_WITHIN: Duration = Duration::from_secs(30);

/// Longest that a path may take that is only looked at.
const LOOK: Duration = Duration::from_secs(10);

/// A server as its clients know it.
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

/// The folder of a server, in which it can be started more than once. It is removed with its last clone.
#[derive(Clone)]
pub struct ServerFolder {
    root: Arc<TempDir>,
    data: PathBuf,
}

/// A server, which is killed when this is dropped.
pub struct ServerProcess {
    /// The process itself.
    pub process: KilledOnDrop,
    /// Its standard output, as far as it came.
    output: watch::Receiver<String>,
}

// === impl Target ===

impl Target {
    /// The server at this address, for the client with this key.
    pub fn new(address: SocketAddr, key: &str, model: &'static str) -> Self {
        Self { address, host: address.to_string(), key: key.to_owned(), model }
    }

    /// The header with the key.
    pub fn authorization(&self) -> String {
        format!("authorization: Bearer {}\r\n", self.key)
    }

    /// Status and body of a path that is only looked at.
    pub async fn look(&self, path: &str) -> Result<(u16, String), String> {
        let look = async {
            let request = request_head("GET", path, &self.host, "look", &self.authorization());
            let mut connection = Connection::open(self.address).await?;
            let response = connection.ask(&request).await?;
            Ok((response.status, String::from_utf8_lossy(&response.body).into_owned()))
        };
        let late = |_| format!("{path} is not answered");
        tokio::time::timeout(LOOK, look).await.map_err(late)?
    }

    /// A gauge or a counter, with its labels if it has some.
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
    pub fn new() -> io::Result<Self> {
        let root = tempfile::tempdir()?;
        let data = root.path().join("data");
        fs::create_dir(&data)?;
        Ok(Self { root: Arc::new(root), data })
    }

    /// The data folder of the server, which is its working folder too.
    pub fn data(&self) -> &Path {
        &self.data
    }

    /// Where the server's standard error goes.
    pub fn log_file(&self) -> PathBuf {
        self.root.path().join("log")
    }

    /// Everything that the server has written to standard error.
    pub fn log(&self) -> io::Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(self.log_file())?).into_owned())
    }

    /// A command in this folder, with nothing of this process's environment.
    pub fn prepare(&self, mut command: Command) -> Command {
        command
            .env_clear()
            .current_dir(&self.data)
            .env("HOME", self.root.path())
            // Programs look for their parts in it.
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("PROXY_DATA_DIR", &self.data)
            .stdin(Stdio::null());
        command
    }

    /// Adds a key, and returns it.
    pub fn add_key(&self, binary: &Path, name: &str) -> io::Result<String> {
        let mut command = self.prepare(Command::new(binary));
        let output = command.args(["key", "add", name]).stderr(Stdio::null()).output()?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Starts a server on this port with these settings, which logs to the file.
    pub fn serve(
        &self,
        program: Command,
        port: u16,
        codex: &Path,
        settings: &[(&str, &str)],
    ) -> io::Result<ServerProcess> {
        let mut command = self.prepare(program);
        command
            .args(["serve", "--port", &port.to_string()])
            .env("PROXY_HOST", "127.0.0.1")
            .env("CODEX_BIN", codex)
            .envs(settings.iter().copied())
            .stderr(File::create(self.log_file())?);
        ServerProcess::spawn(command)
    }
}

// === impl ServerProcess ===

impl ServerProcess {
    /// Runs a command that serves, and reads its standard output.
    pub fn spawn(mut command: Command) -> io::Result<Self> {
        let mut process = KilledOnDrop(command.stdout(Stdio::piped()).spawn()?);
        let (lines, output) = watch::channel(String::new());
        let stdout = process.stdout.take().ok_or_else(ended)?;
        for_each_line(stdout, move |line| {
            lines.send_modify(|all| *all = format!("{all}{line}\n"));
        });
        Ok(Self { process, output })
    }

    /// Waits until it takes turns, and returns where it listens.
    pub async fn ready(&mut self) -> io::Result<SocketAddr> {
        let ready = self.output.wait_for(|output| address_in(output).is_some());
        let output = within("the server is ready", ready).await.ok();
        output.and_then(|output| address_in(&output)).ok_or_else(ended)
    }

    /// The same, blocking.
    pub fn blocking_ready(&self) -> io::Result<SocketAddr> {
        blocking_until("the server is ready", || {
            let has_ended = self.output.has_changed().is_err();
            let address = address_in(&self.output.borrow()).map(Ok);
            address.or_else(|| has_ended.then(|| Err(ended())))
        })
    }

    /// Everything that it has written to standard output.
    pub fn output(&self) -> String {
        self.output.borrow().clone()
    }

    /// Waits for its end, and for all of its standard output.
    pub async fn end(&mut self) -> io::Result<ExitStatus> {
        until_gone(&[self.process.id()]).await;
        let status = self.process.wait()?;
        while self.output.changed().await.is_ok() {}
        Ok(status)
    }

    /// Asks it to stop, and returns what is wrong with how it does.
    pub async fn stop(mut self) -> Vec<String> {
        let started = descendants(self.process.id());
        send_signal(self.process.id(), "-TERM");
        let mut wrong = Vec::new();
        match tokio::time::timeout(STOPPED_WITHIN, self.end()).await {
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

/// Reads lines in a thread of its own, to their end.
pub fn for_each_line(
    from: impl Read + Send + 'static,
    mut take: impl FnMut(&str) + Send + 'static,
) {
    thread::spawn(move || {
        for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
            take(&String::from_utf8_lossy(&line));
        }
    });
}

/// The address in the greeting, which comes once it takes turns.
fn address_in(output: &str) -> Option<SocketAddr> {
    let (_, rest) = output.split_once("base URL  http://")?;
    rest.split_once("/v1\n")?.0.parse().ok()
}

fn ended() -> io::Error {
    io::Error::other("the server ended before it was ready")
}
