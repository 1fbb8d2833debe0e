//! The Codex process: spawned in a group of its own, and gone when we say so.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use crate::child_log::{self, LogReader};
use crate::client_config::{ClientConfig, StderrContent};
use crate::guard::Guard;
use crate::home::CodexHome;
use crate::line::{Line, LineSplitter};
use crate::line_budget::LineBudget;
use crate::stderr_line::{readable, without_content};

/// Longest line of standard error that is kept whole.
const MAX_LINE: usize = 64 * 1024;

/// How long we wait for the end of standard error when the child has gone. One that others still
/// hold open may never end.
const LAST_WORDS_GRACE: Duration = Duration::from_millis(100);

/// Even a killed process can be held up by the system, but not we with it.
const KILL_GRACE: Duration = Duration::from_secs(5);

/// SIGTERM; the wrapper takes the bare number.
const TERMINATE: i32 = 15;

/// A running child; dropping it kills its whole group.
pub(crate) struct Child {
    process: Box<dyn ChildWrapper>,
    /// Does the same if we cannot.
    _guard: Option<Guard>,
}

/// The child's pipes.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

/// The last line that the child wrote to standard error.
#[derive(Debug, Clone)]
pub(crate) struct LastWords(Arc<Spoken>);

#[derive(Debug)]
struct Spoken {
    last_line: Mutex<Option<String>>,
    /// Whether lines are kept whole. Before any turn there is nothing that they could quote.
    whole: AtomicBool,
    /// Standard error has ended.
    ended: CancellationToken,
}

// === impl Child ===

impl Child {
    pub(crate) fn spawn(config: &ClientConfig, home: &CodexHome) -> io::Result<(Self, Pipes)> {
        let mut command = config.binary.command(home.path());
        if config.early_arguments {
            command.envs(child_log::ENVIRONMENT);
        }
        command
            .arg("app-server")
            .envs(config.environment.iter().map(|(name, value)| (name, value)))
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
        let guard = process.id().map(Guard::over);
        Ok((Self { process, _guard: guard }, pipes))
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.process.id()
    }

    /// Waits for a child whose input is closed, then asks it, then kills it. Whatever it has
    /// started itself is killed in any case.
    pub(crate) async fn stop(mut self, grace: Duration) -> io::Result<ExitStatus> {
        if let Ok(exited) = tokio::time::timeout(grace, self.process.wait()).await {
            return exited;
        }
        let _ = self.process.signal(TERMINATE);
        if let Ok(exited) = tokio::time::timeout(grace, self.process.wait()).await {
            return exited;
        }
        self.kill().await
    }

    /// Kills the whole group at once.
    pub(crate) async fn kill(mut self) -> io::Result<ExitStatus> {
        // It may have gone already.
        let _ = self.process.start_kill();
        tokio::time::timeout(KILL_GRACE, self.process.wait()).await.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, "a killed process is still there"))
        })
    }
}

impl Drop for Child {
    /// The process is killed by its wrapper, which knows nothing of the group.
    fn drop(&mut self) {
        let _ = self.process.start_kill();
    }
}

// === impl LastWords ===

impl LastWords {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Spoken {
            last_line: Mutex::new(None),
            whole: AtomicBool::new(true),
            ended: CancellationToken::new(),
        }))
    }

    /// From now on there are turns, whose content a line can quote. What was said before does not
    /// explain what happens later.
    pub(crate) fn begin_turns(&self, content: StderrContent) {
        self.0.whole.store(content == StderrContent::Shown, Ordering::Relaxed);
        *self.0.last_line.lock() = None;
    }

    /// Reads standard error to its end, so that the child never waits for us. However much that is,
    /// the log gets no more than it can take. Lines that `log` has asked for are its alone.
    pub(crate) async fn listen(
        self,
        mut stderr: impl AsyncRead + Unpin,
        mut log: Option<LogReader>,
    ) {
        let mut splitter = LineSplitter::new(MAX_LINE);
        let mut budget = LineBudget::default();
        loop {
            tell_left_out(budget.lapse(Instant::now()));
            let reading = stderr.read_buf(splitter.space());
            let read = match budget.tells_at() {
                None => reading.await,
                Some(at) => match timeout_at(at.into(), reading).await {
                    Ok(read) => read,
                    Err(_) => continue,
                },
            };
            if !read.is_ok_and(|read| read > 0) {
                break;
            }
            let now = Instant::now();
            let mut last = None;
            while let Some(line) = splitter.next_line() {
                if log.as_mut().is_some_and(|log| log.take(&line)) {
                    continue;
                }
                if budget.admits(now) {
                    tracing::debug!(target: "codex", "{}", self.told(&line));
                }
                last = Some(line);
            }
            if let Some(log) = &mut log {
                log.deliver();
            }
            if let Some(line) = last {
                *self.0.last_line.lock() = Some(self.told(&line));
            }
        }
        tell_left_out(budget.end());
        self.0.ended.cancel();
    }

    /// What may be told of a line.
    fn told(&self, line: &Line) -> String {
        let bytes = match line {
            Line::Whole(line) => &line[..],
            Line::Oversize(line) => &line.head[..],
        };
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim_end();
        if self.0.whole.load(Ordering::Relaxed) {
            readable(text).into_owned()
        } else {
            without_content(text)
        }
    }

    /// The last line of a child that has gone. What it said just before may still be on its way,
    /// because it comes through another pipe than the one by which we see it go.
    pub(crate) async fn of_the_gone(&self) -> Option<String> {
        let _ = tokio::time::timeout(LAST_WORDS_GRACE, self.0.ended.cancelled()).await;
        self.last()
    }

    pub(crate) fn last(&self) -> Option<String> {
        self.0.last_line.lock().clone()
    }
}

fn tell_left_out(lines: Option<u64>) {
    if let Some(lines) = lines {
        tracing::debug!(target: "codex", lines, "too many lines: some were not logged");
    }
}
