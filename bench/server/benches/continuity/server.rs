//! Our server as a process of its own, in front of the real Codex.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;
use testkit::process::descendants;

pub(crate) const KEY: &str = "key-of-the-benchmark";

/// What a server is made of.
pub(crate) struct Surroundings<'a> {
    pub(crate) server: &'a Path,
    pub(crate) codex: &'a Path,
    /// URL of the scripted model.
    pub(crate) upstream: &'a str,
}

/// A running server; dropping it ends it.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: SocketAddr,
    /// What it says about itself, which nobody reads after the greeting.
    _output: BufReader<ChildStdout>,
    _folder: TempDir,
}

// === impl Server ===

impl Server {
    /// Starts one that keeps up to so many threads, and waits until it takes turns.
    pub(crate) fn start(surroundings: &Surroundings<'_>, threads: usize) -> Self {
        let folder = tempfile::tempdir().expect("no temporary folder");
        let log = File::create(folder.path().join("log")).expect("no log");
        let mut process = Command::new(surroundings.server)
            .args(["serve", "--port", "0"])
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.path())
            .env("PROXY_DATA_DIR", folder.path())
            .env("PROXY_API_KEY", KEY)
            .env("PROXY_UPSTREAM_BASE_URL", surroundings.upstream)
            .env("PROXY_CONTINUITY_MAX", threads.to_string())
            .env("CODEX_BIN", surroundings.codex)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("no server");
        let mut output = BufReader::new(process.stdout.take().expect("no output of the server"));
        let address = read_address(&mut output);
        Self { process, address, _output: output, _folder: folder }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// The Codex behind it.
    pub(crate) fn child(&self) -> u32 {
        let is_codex = |process: &u32| {
            std::fs::read_link(format!("/proc/{process}/exe"))
                .is_ok_and(|program| program.ends_with("codex"))
        };
        descendants(self.id()).into_iter().find(is_codex).expect("no Codex")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Its child goes with it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The server says where it is once it takes turns.
fn read_address(output: &mut BufReader<ChildStdout>) -> SocketAddr {
    for line in output.lines() {
        let line = line.expect("an output that is not text");
        if let Some((_, rest)) = line.split_once("base URL  http://") {
            let address = rest.trim_end().trim_end_matches("/v1");
            return address.parse().expect("an address");
        }
    }
    panic!("the server ended before it was ready")
}
