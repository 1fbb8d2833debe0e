//! A watchman for the case that we are killed ourselves.
//!
//! Nobody can act after a `kill -9`. Codex goes by itself when its input closes, but not if it
//! hangs, and what it has started does not. So a shell holds a pipe to us: when that closes, it
//! gives the child's group a moment to go, and then kills it. (A signal at the parent's death
//! would do for Linux, but not for the rest of the group, and needs `unsafe`.)

use std::process::Stdio;

use tokio::process::{Child, Command};

/// Waits for the end of its input, then for the group `$1`, at most two seconds.
const SCRIPT: &str = "
while read -r _; do :; done
for _ in 1 2 3 4; do
    kill -s 0 -- \"-$1\" 2>/dev/null || exit 0
    sleep 0.5
done
kill -s KILL -- \"-$1\"
";

/// Watches over one process group until it is dropped.
#[derive(Debug)]
pub(crate) struct Guard {
    /// Killed when dropped, before its input closes.
    _shell: Option<Child>,
}

// === impl Guard ===

impl Guard {
    pub(crate) fn over(group: u32) -> Self {
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "codex-completions-guard"])
            .arg(group.to_string())
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C on a terminal reaches the whole group that it was typed in.
            .process_group(0)
            .kill_on_drop(true)
            .spawn();
        if let Err(error) = &shell {
            tracing::warn!(%error, "no shell watches over Codex in case that we are killed");
        }
        Self { _shell: shell.ok() }
    }
}
