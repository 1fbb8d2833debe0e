//! What the turns used: one row each, and sums over them.

mod report;
mod retention;
mod row;

use std::time::Duration;

use crate::error::StoreError;
use crate::store::Store;

pub use report::{KeyUsage, UsageKey, UsageQuery, UsageReport, UsageSums};
pub(crate) use retention::UsageRetention;
pub use row::UsageRow;

/// What the turns used. Clones share it.
#[derive(Debug, Clone)]
pub struct Usage {
    store: Store,
}

// === impl Usage ===

impl Usage {
    pub(crate) fn of(store: Store) -> Self {
        Self { store }
    }

    /// Has a row written soon. Never waits: if too many wait already, it is lost and counted.
    pub fn record(&self, row: UsageRow) {
        self.store.writer().write(row);
    }

    /// Rows that were lost since the start, because the database could not take them.
    pub fn lost(&self) -> u64 {
        self.store.writer().lost()
    }

    /// From now on rows are kept for so long. Older ones are deleted a few at a time, at once and then
    /// every day.
    pub fn keep_for(&self, age: Duration) {
        if self.store.writer().retention.usage.keep_for(age) {
            self.store.writer().sweep();
        }
    }

    /// Waits until every row so far is written.
    pub async fn flush(&self) {
        self.store.flush().await;
    }

    /// The sums over what was asked for.
    ///
    /// # Errors
    /// If the database cannot be read.
    pub async fn report(&self, query: UsageQuery) -> Result<UsageReport, StoreError> {
        self.store.read(move |database| UsageReport::read(database, &query)).await
    }
}
