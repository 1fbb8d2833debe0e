//! The database: one thread that writes, and questions beside it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use rusqlite::Connection;

use crate::database;
use crate::error::StoreError;
use crate::responses::Responses;
use crate::usage::Usage;
use crate::writer::Writer;

/// How many questions are answered at once.
const READERS: usize = 4;

/// The database. Clones share it; several servers can use the same file.
#[derive(Debug, Clone)]
pub struct Store {
    writer: Writer,
    /// Several, so that one long question does not keep the others waiting.
    readers: Arc<[Mutex<Connection>]>,
    next_reader: Arc<AtomicUsize>,
}

// === impl Store ===

impl Store {
    /// Opens the database at `path`, and makes it and its folder if need be. Both are for nobody else.
    ///
    /// # Errors
    /// If it cannot be used: the file is then as it was.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let database = database::open(path)?;
        let readers = (0..READERS).map(|_| database::open_reader(path).map(Mutex::new));
        let readers = readers.collect::<Result<_, _>>()?;
        Ok(Self { writer: Writer::start(database)?, readers, next_reader: Arc::default() })
    }

    /// What the turns used.
    pub fn usage(&self) -> Usage {
        Usage::of(self.clone())
    }

    /// The responses that clients can come back to.
    pub fn responses(&self) -> Responses {
        Responses::of(self.clone())
    }

    /// Waits until everything that was recorded so far is written.
    pub async fn flush(&self) {
        self.writer.flush().await;
    }

    /// The same, and folds the log into the file, which is then the whole database.
    pub async fn settle(&self) {
        self.writer.settle().await;
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.writer
    }

    /// Asks the database something, aside.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let readers = Arc::clone(&self.readers);
        let next = self.next_reader.fetch_add(1, Ordering::Relaxed);
        let asking = tokio::task::spawn_blocking(move || {
            let free = readers.iter().find_map(Mutex::try_lock);
            // A question that panicked has changed nothing: it can only read.
            question(&mut free.unwrap_or_else(|| readers[next % READERS].lock()))
        });
        Ok(asking.await.map_err(|_| StoreError::Unanswered)??)
    }
}
