//! Rows that are too old.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, params};

use crate::time::{millis, millis_since_1970};

/// Most rows that are deleted at once, so that those who write never wait for long.
const MOST_AT_ONCE: u32 = 500;

/// How long rows are kept, which can change; until it is told, for ever.
#[derive(Debug)]
pub(crate) struct UsageRetention {
    age_ms: AtomicI64,
}

// === impl UsageRetention ===

impl Default for UsageRetention {
    fn default() -> Self {
        Self { age_ms: AtomicI64::new(i64::MAX) }
    }
}

impl UsageRetention {
    /// Says whether that is another age than before.
    pub(crate) fn keep_for(&self, age: Duration) -> bool {
        let age = millis(age);
        self.age_ms.swap(age, Ordering::Relaxed) != age
    }

    /// Deletes some rows that are too old; breaks when there are no more of them.
    pub(crate) fn delete_some(&self, database: &Connection) -> rusqlite::Result<ControlFlow<()>> {
        let age = self.age_ms.load(Ordering::Relaxed);
        let oldest = millis_since_1970(SystemTime::now()).saturating_sub(age);
        let mut delete = database.prepare_cached(
            "DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE ended_at < ?1 LIMIT ?2)",
        )?;
        let deleted = delete.execute(params![oldest, MOST_AT_ONCE])?;
        let is_last = deleted < MOST_AT_ONCE as usize;
        Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
