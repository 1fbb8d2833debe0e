//! A person's shell.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use testkit::process::kill_group;

/// After every command, with its exit code.
const END: &str = "-- end of the command: ";

/// No command takes nearly as long.
const LIMIT: Duration = Duration::from_mins(1);

/// Bash, with nothing of the developer's in its home and environment. What it has started goes with it.
pub(super) struct Shell {
    process: Child,
    lines: Receiver<String>,
}

/// What a command said, on both outputs.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) lines: Vec<String>,
    pub(super) status: i32,
}

// === impl Shell ===

impl Shell {
    /// `port` is where the server listens unless told otherwise.
    pub(super) fn start(home: &Path, port: &str) -> Self {
        let ours = Path::new(env!("CARGO_BIN_EXE_codex-completions")).parent().unwrap();
        let theirs = home.join(".local/bin");
        let path = std::env::var("PATH").unwrap();
        let mut process = Command::new("bash")
            .arg("--norc")
            .env_clear()
            .env("HOME", home)
            .env("PATH", format!("{}:{}:{path}", theirs.display(), ours.display()))
            .env("LANG", "C.UTF-8")
            .env("PORT", port)
            .current_dir(home)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        writeln!(process.stdin.as_ref().unwrap(), "exec 2>&1").unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { process, lines }
    }

    /// Types a command and reads to its end; if it stays in the background, until it has said what is `wanted`.
    pub(super) fn run(&mut self, command: &str, wanted: &dyn Fn(&[String]) -> bool) -> Said {
        let mut input = self.process.stdin.as_ref().unwrap();
        // What a command prints may end without a line break.
        writeln!(input, "{command}\nprintf '\\n{END}%s\\n' $?").unwrap();
        let is_in_background = command.ends_with('&');
        let deadline = Instant::now() + LIMIT;
        let mut said = Said { lines: Vec::new(), status: -1 };
        let mut has_ended = false;
        while !has_ended || (is_in_background && !wanted(&said.lines)) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else { return said };
            if let Some(status) = line.strip_prefix(END) {
                said.status = status.parse().unwrap();
                has_ended = true;
                if said.lines.last().is_some_and(String::is_empty) {
                    said.lines.pop();
                }
            } else {
                said.lines.push(line);
            }
        }
        said
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        kill_group(self.process.id());
        let _ = self.process.wait();
    }
}
