//! The thread that writes.

mod asked;
mod batch;
mod complaints;
mod queue;
mod thread;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Connection;

use crate::error::StoreError;
use crate::retention::Retention;
pub(crate) use asked::Effect;
use queue::{Destination, Queue};
use thread::Thread;

/// Hands changes to the thread that writes them. The thread goes with the last clone.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    queue: Arc<OpenQueue>,
    lost: Arc<AtomicU64>,
    pub(crate) retention: Arc<Retention>,
}

/// A row to be written. It may be tried more than once, and then takes effect once.
pub(crate) trait Change: Send {
    fn apply(&self, database: &Connection) -> rusqlite::Result<()>;
}

/// Closes the queue when nobody can hand over anything more.
struct OpenQueue(Arc<Queue>);

// === impl Writer ===

impl Writer {
    pub(crate) fn start(database: Connection) -> io::Result<Self> {
        let queue = Arc::<Queue>::default();
        let lost = Arc::<AtomicU64>::default();
        let retention = Arc::<Retention>::default();
        let thread =
            Thread::new(database, Arc::clone(&queue), Arc::clone(&lost), Arc::clone(&retention));
        std::thread::Builder::new().name("store".to_owned()).spawn(move || thread.run())?;
        Ok(Self { queue: Arc::new(OpenQueue(queue)), lost, retention })
    }

    /// Has it written soon. Never waits.
    pub(crate) fn write(&self, row: impl Change + 'static) {
        if self.queue.0.push_row(Box::new(row)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Makes a change, and waits until it is committed. After an error it is not made later either.
    pub(crate) async fn change(
        &self,
        change: impl FnOnce(&Connection) -> rusqlite::Result<Effect> + Send + 'static,
    ) -> Result<Effect, StoreError> {
        let (asked, asking) = asked::ask(Box::new(change));
        if self.queue.0.push_asked(asked).is_err() {
            return Err(StoreError::TooLate);
        }
        asking.answer().await
    }

    /// Has old rows looked for.
    pub(crate) fn sweep(&self) {
        self.queue.0.push_sweep();
    }

    /// Rows that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until every row so far is written.
    pub(crate) async fn flush(&self) {
        // An error is a thread that has gone: there is nothing to wait for.
        let _ = self.queue.0.push_flush(Destination::Log).await;
    }

    /// The same, and until the log is folded into the file.
    pub(crate) async fn settle(&self) {
        let _ = self.queue.0.push_flush(Destination::File).await;
    }
}

// === impl OpenQueue ===

impl fmt::Debug for OpenQueue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OpenQueue").finish_non_exhaustive()
    }
}

impl Drop for OpenQueue {
    fn drop(&mut self) {
        self.0.close();
    }
}
