//! What outlives a restart: one SQLite database under the data folder.
//!
//! A row is handed to a thread of its own and never waited for, so that no disk can slow an answer
//! down. What that thread has written survives the death of the process at any moment; a power cut may
//! cost the last moments before it, and never the database.

mod database;
mod error;
mod migrations;
mod store;
mod usage;
mod writer;

pub use error::StoreError;
pub use store::Store;
pub use usage::{Tokens, Usage, UsageQuery, UsageReport, UsageRow, UsageSums};
