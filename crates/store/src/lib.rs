//! What outlives a restart: one SQLite database under the data folder.
//!
//! A row about usage is handed to a thread of its own and never waited for, so that no disk can slow an
//! answer down. A response that is to be kept is waited for, because its client will come back for it.
//! What that thread has written survives the death of the process at any moment; a power cut may cost the
//! last moments before it, and never the database. What was deleted is gone from the file.

mod database;
mod error;
mod migrations;
mod responses;
mod retention;
mod store;
mod time;
mod usage;
mod writer;

pub use error::StoreError;
pub use responses::{
    Conversation, FoundResponse, Held, Listed, Order, Page, Responses, StoredItem, StoredResponse,
};
pub use store::Store;
pub use usage::{KeyUsage, Usage, UsageKey, UsageQuery, UsageReport, UsageRow, UsageSums};
