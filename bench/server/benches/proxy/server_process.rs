//! Our server as a process of its own, in front of the scripted app-server.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::workspace_program;

use crate::case::{Case, UPSTREAM};
use crate::endpoint::Endpoint;

const KEY: &str = "key-of-the-benchmark";

/// Between two attempts to connect to whoever is being started: the same for all who are compared.
pub(crate) const KNOCK_PAUSE: Duration = Duration::from_millis(1);

/// A running server; dropping it ends it.
pub(crate) struct ServerProcess {
    process: Child,
    pub(crate) endpoint: Endpoint,
    /// What it says about itself, which nobody reads after the greeting.
    _output: BufReader<ChildStdout>,
    /// None if it is somebody else's.
    _folder: Option<TempDir>,
}

// === impl ServerProcess ===

impl ServerProcess {
    /// Starts it, and waits until it takes turns.
    pub(crate) fn start(binary: &Path) -> Self {
        Self::start_with(binary, &[])
    }

    /// The same with more settings.
    pub(crate) fn start_with(binary: &Path, settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("no temporary folder");
        let mut command = command(Command::new(binary), folder.path(), 0);
        command.envs(settings.iter().copied());
        Self::greeted(command.spawn().expect("no server"), Some(folder))
    }

    /// The same in a folder that it may have had before, and how long it takes from the process to its
    /// first connection.
    pub(crate) fn start_in(
        folder: &Path,
        binary: &Path,
        settings: &[(&str, &str)],
    ) -> (Self, Duration) {
        let port = free_port();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut command = command(Command::new(binary), folder, port);
        command.envs(settings.iter().copied());
        let started = Instant::now();
        let mut process = command.spawn().expect("no server");
        while TcpStream::connect(address).is_err() {
            assert!(process.try_wait().is_ok_and(|end| end.is_none()), "the server has ended");
            thread::sleep(KNOCK_PAUSE);
        }
        let accepting = started.elapsed();
        (Self::greeted(process, None), accepting)
    }

    /// The same by another program, which is given the server as its last argument.
    pub(crate) fn start_under(program: &[&str], binary: &Path) -> Self {
        let folder = tempfile::tempdir().expect("no temporary folder");
        let (program, arguments) = program.split_first().expect("no program");
        let mut under = Command::new(program);
        under.args(arguments).arg(binary);
        let mut command = command(under, folder.path(), 0);
        // Programs look for their parts in it.
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        Self::greeted(command.spawn().expect("no server"), Some(folder))
    }

    /// Waits until it takes turns.
    fn greeted(mut process: Child, folder: Option<TempDir>) -> Self {
        let mut output = BufReader::new(process.stdout.take().expect("no output of the server"));
        let address = read_address(&mut output);
        let endpoint = Endpoint {
            name: "codex-completions",
            address,
            headers: format!("authorization: Bearer {KEY}\r\n"),
            judge: Case::judge_ours,
        };
        Self { process, endpoint, _output: output, _folder: folder }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Its child goes with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// How long it takes from a process to its first connection, for a server that was started before.
pub(crate) fn time_to_accept(binary: &Path, starts: usize) -> Vec<Duration> {
    let folder = tempfile::tempdir().expect("no temporary folder");
    // The first start makes the folders and the database of the child.
    let start = |_| ServerProcess::start_in(folder.path(), binary, &[]).1;
    (0..=starts).map(start).skip(1).collect()
}

/// The server with its defaults, but for more turns at once. Its log goes to a file.
fn command(mut command: Command, folder: &Path, port: u16) -> Command {
    let log = File::create(folder.join("log")).expect("no log");
    command
        .args(["serve", "--port", &port.to_string()])
        .env_clear()
        .env("HOME", folder)
        .env("PROXY_DATA_DIR", data_folder(folder))
        .env("PROXY_HOST", "127.0.0.1")
        .env("PROXY_API_KEY", KEY)
        .env("PROXY_UPSTREAM_BASE_URL", UPSTREAM)
        .env("PROXY_MAX_CONCURRENT_TURNS", "64")
        .env("CODEX_BIN", workspace_program("scripted-app-server"))
        .env("PROXY_ALLOW_UNTESTED_CODEX", "true")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    command
}

fn data_folder(folder: &Path) -> PathBuf {
    let data = folder.join("data");
    fs::create_dir_all(&data).expect("no folder for the server");
    data
}

/// The server says where it is once it takes turns.
fn read_address(output: &mut BufReader<ChildStdout>) -> SocketAddr {
    let mut line = String::new();
    loop {
        line.clear();
        let read = output.read_line(&mut line).expect("an output that is not text");
        assert!(read > 0, "the server ended before it was ready");
        if let Some((_, rest)) = line.split_once("base URL  http://") {
            let address = rest.trim_end().trim_end_matches("/v1");
            return address.parse().expect("an address");
        }
    }
}

/// A port that nobody listens on.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("no port");
    listener.local_addr().expect("an address").port()
}
