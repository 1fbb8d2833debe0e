//! Lines on their way to the child: anybody adds, one task writes.

use std::sync::Mutex;
use std::sync::PoisonError;

use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

/// More than any request; reached only if the child stops reading.
const MAX_WAITING: usize = 256 * 1024 * 1024;

/// The child does not read what we send.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("Codex does not read its input")]
pub(crate) struct OutboxFull;

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    closed: bool,
}

// === impl Outbox ===

impl Outbox {
    /// Adds one line; `line` has no line feed in it.
    pub(crate) fn push(&self, line: &[u8]) -> Result<(), OutboxFull> {
        {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            if waiting.lines.len() + line.len() > MAX_WAITING {
                return Err(OutboxFull);
            }
            waiting.lines.extend_from_slice(line);
            waiting.lines.push(b'\n');
        }
        self.changed.notify_one();
        Ok(())
    }

    /// Ends [`Self::drain_into`] once everything is written.
    pub(crate) fn close(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.changed.notify_one();
    }

    /// Writes until the outbox is closed, everything that waits in one go.
    pub(crate) async fn drain_into(
        &self,
        mut sink: impl AsyncWrite + Unpin,
    ) -> std::io::Result<()> {
        let mut batch = Vec::new();
        loop {
            let closed = {
                let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
                std::mem::swap(&mut waiting.lines, &mut batch);
                waiting.closed
            };
            if !batch.is_empty() {
                sink.write_all(&batch).await?;
                sink.flush().await?;
                // One huge history must not be kept as a buffer for ever.
                batch.clear();
                batch.shrink_to(64 * 1024);
            } else if closed {
                return sink.shutdown().await;
            } else {
                self.changed.notified().await;
            }
        }
    }
}
