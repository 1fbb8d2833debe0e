//! Our server in front of the real Codex.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use testkit::process::codex_children;
use testkit::server_process::{ServerFolder, ServerProcess};

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
    running: ServerProcess,
    pub(crate) address: SocketAddr,
    _folder: ServerFolder,
}

// === impl Server ===

impl Server {
    /// Starts one that keeps up to so many threads, and waits until it takes turns.
    pub(crate) fn start(surroundings: &Surroundings<'_>, threads: usize) -> Self {
        let folder = ServerFolder::new().expect("no temporary folder");
        let threads = threads.to_string();
        let settings = [
            ("PROXY_API_KEY", KEY),
            ("PROXY_UPSTREAM_BASE_URL", surroundings.upstream),
            ("PROXY_CONTINUITY_MAX", &threads),
        ];
        let program = Command::new(surroundings.server);
        let running = folder.serve(program, 0, surroundings.codex, &settings).expect("no server");
        let address = running.blocking_ready().expect("no server");
        Self { running, address, _folder: folder }
    }

    pub(crate) fn id(&self) -> u32 {
        self.running.process.id()
    }

    /// The Codex behind it.
    pub(crate) fn child(&self) -> u32 {
        codex_children(self.id()).into_iter().next().expect("no Codex")
    }
}
