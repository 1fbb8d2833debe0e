//! Lines on their way to the child: anybody adds, one task writes.

use parking_lot::Mutex;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;

/// From here on senders wait for the child to read. A longer line goes alone.
const HIGH_WATER: usize = 16 * 1024 * 1024;

/// Most of what cannot wait: interrupts and refusals, which are small.
const URGENT_LIMIT: usize = HIGH_WATER;

/// Nothing is written any more.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed;

#[derive(Debug, Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    changed: Notify,
    drained: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    lines: Vec<u8>,
    closed: bool,
    /// How much of it could not wait.
    urgent: usize,
    /// Something found no room, so that the child has not heard everything that it should.
    overfull: bool,
}

// === impl Outbox ===

impl Outbox {
    /// Adds one small line at once; `line` has no line feed in it.
    pub(crate) fn push(&self, line: &[u8]) -> Result<(), Closed> {
        {
            let mut waiting = self.waiting.lock();
            if waiting.closed {
                return Err(Closed);
            }
            if waiting.urgent + line.len() > URGENT_LIMIT {
                waiting.overfull = true;
                return Ok(());
            }
            waiting.urgent += line.len();
            waiting.add(line);
        }
        self.changed.notify_one();
        Ok(())
    }

    /// Adds one line when there is room for it.
    pub(crate) async fn push_when_there_is_room(&self, line: &[u8]) -> Result<(), Closed> {
        loop {
            let drained = self.drained.notified();
            {
                let mut waiting = self.waiting.lock();
                if waiting.closed {
                    return Err(Closed);
                }
                if waiting.lines.is_empty() || waiting.lines.len() + line.len() <= HIGH_WATER {
                    waiting.add(line);
                    break;
                }
            }
            drained.await;
        }
        self.changed.notify_one();
        Ok(())
    }

    /// Whether a line was left out because the child does not read: it is not to be used any more.
    pub(crate) fn is_overfull(&self) -> bool {
        self.waiting.lock().overfull
    }

    /// Ends [`Self::drain_into`] once everything is written.
    pub(crate) fn close(&self) {
        self.waiting.lock().closed = true;
        self.changed.notify_one();
        self.drained.notify_waiters();
    }

    /// Writes until the outbox is closed, everything that waits in one go.
    pub(crate) async fn drain_into(
        &self,
        mut sink: impl AsyncWrite + Unpin,
    ) -> std::io::Result<()> {
        let mut batch = Vec::new();
        loop {
            let closed = {
                let mut waiting = self.waiting.lock();
                std::mem::swap(&mut waiting.lines, &mut batch);
                waiting.urgent = 0;
                waiting.closed
            };
            if !batch.is_empty() {
                self.drained.notify_waiters();
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

// === impl Waiting ===

impl Waiting {
    fn add(&mut self, line: &[u8]) {
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::io::AsyncReadExt as _;
    use tokio_util::task::TaskTracker;

    use super::*;

    #[tokio::test]
    async fn large_lines_wait_for_each_other_and_none_is_lost() {
        let outbox = Arc::new(Outbox::default());
        let (ours, mut theirs) = tokio::io::duplex(1 << 16);
        let tasks = TaskTracker::new();
        let writer = Arc::clone(&outbox);
        tasks.spawn(async move { writer.drain_into(ours).await });
        let line = vec![b'x'; HIGH_WATER / 3];
        for _ in 0..8 {
            let (outbox, line) = (Arc::clone(&outbox), line.clone());
            tasks.spawn(async move { outbox.push_when_there_is_room(&line).await });
        }
        let mut read = vec![0; 8 * (line.len() + 1)];
        theirs.read_exact(&mut read).await.unwrap();
        assert!(read.split(|byte| *byte == b'\n').take(8).all(|part| part == line));
    }

    #[test]
    fn a_child_that_does_not_read_costs_no_more_than_the_limit() {
        let outbox = Outbox::default();
        let line = vec![b'x'; URGENT_LIMIT / 4];
        for _ in 0..4 {
            assert_eq!(outbox.push(&line), Ok(()));
            assert!(!outbox.is_overfull());
        }
        assert_eq!(outbox.push(b"one more"), Ok(()));
        assert!(outbox.is_overfull());
        assert_eq!(outbox.waiting.lock().lines.len(), URGENT_LIMIT + 4);
    }

    #[tokio::test]
    async fn a_huge_history_leaves_room_for_an_interrupt() {
        let outbox = Outbox::default();
        let history = vec![b'x'; 5 * HIGH_WATER];
        assert_eq!(outbox.push_when_there_is_room(&history).await, Ok(()));
        assert_eq!(outbox.push(b"interrupt"), Ok(()));
        assert!(!outbox.is_overfull());
        assert!(outbox.waiting.lock().lines.ends_with(b"interrupt\n"));
    }

    #[tokio::test]
    async fn a_closed_outbox_keeps_nothing() {
        let outbox = Outbox::default();
        outbox.close();
        assert_eq!(outbox.push(b"late"), Err(Closed));
        assert_eq!(outbox.push_when_there_is_room(b"late").await, Err(Closed));
        assert_eq!(outbox.waiting.lock().lines, b"");
    }
}
