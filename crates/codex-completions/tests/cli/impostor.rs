//! A process of another user that takes the address of our server while that is stopped.

use std::io::{BufRead as _, BufReader, Lines};
use std::os::unix::process::CommandExt as _;
use std::process::{ChildStdout, Command, Stdio};

use serde_json::Value;
use testkit::process::KilledOnDrop;

/// The user `nobody` of most systems: any other than ours will do.
const ANOTHER_USER: u32 = 65_534;

/// It is killed at the end of the test.
pub(crate) struct Impostor {
    process: KilledOnDrop,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Impostor {
    /// It listens; requests for a proof are passed on to `relay`.
    pub(crate) fn start(host: &str, port: u16, relay: Option<&str>) -> Self {
        let mut command = Command::new("node");
        // As text, because another user may not enter the folder of the tests.
        command.args(["-e", include_str!("impostor/impostor.js"), host, &port.to_string()]);
        command.args(relay).current_dir("/").stdout(Stdio::piped());
        if rustix::process::geteuid().is_root() {
            command.uid(ANOTHER_USER).gid(ANOTHER_USER).env("HOME", "/");
        }
        let mut process = KilledOnDrop(command.spawn().expect("node runs as another user"));
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "listening");
        Self { process, lines }
    }

    /// Waits for its next request.
    pub(crate) fn next(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    /// Everything that it has received, now that it is over.
    pub(crate) fn end(self) -> String {
        drop(self.process);
        self.lines.map_while(Result::ok).collect::<Vec<_>>().join("\n")
    }
}
