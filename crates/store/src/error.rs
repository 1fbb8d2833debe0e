//! Why there is no database, or no answer from it.

use std::io;
use std::sync::Arc;

/// Why the database cannot be used. It names no path: whoever opened it knows that.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file or its folder.
    #[error("{0}")]
    File(#[from] io::Error),
    /// Somebody else could read or change what is in it.
    #[error("its folder belongs to another user")]
    NotOurs,
    /// A database of another program.
    #[error("it is a database of another program")]
    Foreign,
    /// A database that only a newer version understands.
    #[error(
        "it was written by a newer version of codex-completions (schema {found}, known here: {known})"
    )]
    Newer {
        /// The version of its schema.
        found: usize,
        /// The last one that is known here.
        known: usize,
    },
    /// SQLite's own words.
    #[error("{0}")]
    Database(#[from] rusqlite::Error),
    /// The same, of changes that were to be written together.
    #[error("{0}")]
    NotWritten(Arc<rusqlite::Error>),
    /// Somebody else holds the database, or too many wait for it.
    #[error("it could not be written in time")]
    TooLate,
    /// What is written now would be lost with the process.
    #[error("its file was removed or replaced; a restart makes a new one")]
    Gone,
    /// A conversation that is larger than everything may be.
    #[error("its conversation would take more than all stored responses may")]
    TooLarge,
    /// Whoever was to use it has broken down.
    #[error("it gave no answer")]
    Unanswered,
}

// === impl StoreError ===

impl StoreError {
    /// Whether somebody else holds the database at the moment.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self, Self::Database(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy))
    }
}
