//! The Codex process: spawned in a group of its own, and gone when we say so.

use std::collections::VecDeque;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use crate::binary::CodexBinary;
use crate::home::CodexHome;

/// Lines of standard error that are kept for an error message.
const KEPT_LINES: usize = 10;

/// SIGTERM; the wrapper takes the bare number.
const TERMINATE: i32 = 15;

/// A running child; dropping it kills its whole group.
pub(crate) struct Child {
    process: Box<dyn ChildWrapper>,
}

/// The child's pipes.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// The last words of the child.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastWords(Arc<Mutex<VecDeque<String>>>);

// === impl Child ===

impl Child {
    pub(crate) fn spawn(binary: &CodexBinary, home: &CodexHome) -> io::Result<(Self, Pipes)> {
        let mut command = binary.command(home.path());
        command
            .arg("app-server")
            .current_dir(home.working_folder())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process =
            CommandWrap::from(command).wrap(ProcessGroup::leader()).wrap(KillOnDrop).spawn()?;
        let missing = || io::Error::other("a pipe of the child is missing");
        let pipes = Pipes {
            stdin: process.stdin().take().ok_or_else(missing)?,
            stdout: process.stdout().take().ok_or_else(missing)?,
            stderr: process.stderr().take().ok_or_else(missing)?,
        };
        Ok((Self { process }, pipes))
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits for a child whose input is closed, then asks it, then kills it and all its children.
    pub(crate) async fn stop(mut self, grace: Duration) -> io::Result<ExitStatus> {
        if let Ok(exited) = tokio::time::timeout(grace, self.process.wait()).await {
            return exited;
        }
        let _ = self.process.signal(TERMINATE);
        if let Ok(exited) = tokio::time::timeout(grace, self.process.wait()).await {
            return exited;
        }
        self.process.start_kill()?;
        self.process.wait().await
    }
}

// === impl LastWords ===

impl LastWords {
    /// Reads standard error to its end, so that the child never waits for us.
    pub(crate) async fn listen(self, stderr: impl AsyncRead + Unpin) {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).await.is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            tracing::debug!(target: "codex", "{text}");
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() == KEPT_LINES {
                kept.pop_front();
            }
            kept.push_back(text);
        }
    }

    pub(crate) fn last(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).back().cloned()
    }
}
