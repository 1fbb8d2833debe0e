//! The Codex process: gone when we say so, and what it logs.

use std::io;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time::timeout_at;
use tokio_util::sync::CancellationToken;

use crate::child_log::LogReader;
use crate::client_config::StderrContent;
use crate::codex::Process;
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

/// A running child; dropping it kills its whole group.
pub(crate) struct Child(pub(crate) Box<dyn Process>);

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
    pub(crate) fn id(&self) -> Option<u32> {
        self.0.id()
    }

    /// Waits for a child whose input is closed, then asks it, then kills it. Whatever it has
    /// started itself is killed in any case.
    pub(crate) async fn stop(mut self, grace: Duration) -> io::Result<ExitStatus> {
        if let Ok(exited) = tokio::time::timeout(grace, self.0.wait()).await {
            return exited;
        }
        self.0.terminate();
        if let Ok(exited) = tokio::time::timeout(grace, self.0.wait()).await {
            return exited;
        }
        self.kill().await
    }

    /// Kills the whole group at once.
    pub(crate) async fn kill(mut self) -> io::Result<ExitStatus> {
        self.0.kill();
        tokio::time::timeout(KILL_GRACE, self.0.wait()).await.unwrap_or_else(|_| {
            Err(io::Error::new(io::ErrorKind::TimedOut, "a killed process is still there"))
        })
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
            tell_left_out(budget.lapse(ambient::now()));
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
            let now = ambient::now();
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
