//! Our server in front of the scripted app-server.

use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use testkit::server_process::{self, ServerFolder};
use testkit::workspace_program;

use crate::case::{Case, UPSTREAM};
use crate::endpoint::Endpoint;

const KEY: &str = "key-of-the-benchmark";

/// The defaults, but for more turns at once.
const SETTINGS: [(&str, &str); 4] = [
    ("PROXY_API_KEY", KEY),
    ("PROXY_UPSTREAM_BASE_URL", UPSTREAM),
    ("PROXY_MAX_CONCURRENT_TURNS", "64"),
    ("PROXY_ALLOW_UNTESTED_CODEX", "true"),
];

/// Between two attempts to connect to a server that is being started: the same for all that are compared.
pub(crate) const KNOCK_PAUSE: Duration = Duration::from_millis(1);

/// A running server; dropping it ends it.
pub(crate) struct ServerProcess {
    server: server_process::ServerProcess,
    pub(crate) endpoint: Endpoint,
    _folder: ServerFolder,
}

// === impl ServerProcess ===

impl ServerProcess {
    /// Starts it, and waits until it takes turns.
    pub(crate) fn start(binary: &Path) -> Self {
        Self::start_with(binary, &[])
    }

    /// The same with more settings.
    pub(crate) fn start_with(binary: &Path, settings: &[(&str, &str)]) -> Self {
        let folder = ServerFolder::new().expect("no temporary folder");
        Self::greeted(spawn(&folder, Command::new(binary), 0, settings), &folder)
    }

    /// The same in a folder that it may have had before, and how long it takes from the process to its
    /// first connection.
    pub(crate) fn start_in(
        folder: &ServerFolder,
        binary: &Path,
        settings: &[(&str, &str)],
    ) -> (Self, Duration) {
        let port = free_port();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let started = Instant::now();
        let mut server = spawn(folder, Command::new(binary), port, settings);
        while TcpStream::connect(address).is_err() {
            assert!(
                server.process.try_wait().is_ok_and(|end| end.is_none()),
                "the server has ended"
            );
            thread::sleep(KNOCK_PAUSE);
        }
        let accepting = started.elapsed();
        (Self::greeted(server, folder), accepting)
    }

    /// The same by another program, which is given the server as its last argument.
    pub(crate) fn start_under(program: &[&str], binary: &Path) -> Self {
        let folder = ServerFolder::new().expect("no temporary folder");
        let (program, arguments) = program.split_first().expect("no program");
        let mut under = Command::new(program);
        under.args(arguments).arg(binary);
        Self::greeted(spawn(&folder, under, 0, &[]), &folder)
    }

    /// Waits until it takes turns.
    fn greeted(server: server_process::ServerProcess, folder: &ServerFolder) -> Self {
        let endpoint = Endpoint {
            name: "codex-completions",
            address: server.blocking_ready().expect("no server"),
            headers: format!("authorization: Bearer {KEY}\r\n"),
            judge: Case::judge_ours,
        };
        Self { server, endpoint, _folder: folder.clone() }
    }

    pub(crate) fn id(&self) -> u32 {
        self.server.process.id()
    }
}

/// How long it takes from a process to its first connection, for a server that was started before.
pub(crate) fn time_to_accept(binary: &Path, starts: usize) -> Vec<Duration> {
    let folder = ServerFolder::new().expect("no temporary folder");
    // The first start makes the folders and the database of the child.
    let start = |_| ServerProcess::start_in(&folder, binary, &[]).1;
    (0..=starts).map(start).skip(1).collect()
}

fn spawn(
    folder: &ServerFolder,
    program: Command,
    port: u16,
    settings: &[(&str, &str)],
) -> server_process::ServerProcess {
    let codex = workspace_program("scripted-app-server");
    let settings = [&SETTINGS, settings].concat();
    folder.serve(program, port, &codex, &settings).expect("no server")
}

/// A port that is not in use.
pub(crate) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("no port");
    listener.local_addr().expect("an address").port()
}
