//! Rows that are too old.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, params};

use super::row::millis_since_1970;

/// Most rows that are deleted at once, so that those who write never wait for long.
const MOST_AT_ONCE: u32 = 500;

/// How long rows are kept, which can change; until it is told, for ever.
#[derive(Debug)]
pub(crate) struct Retention {
    usage_ms: AtomicI64,
}

// === impl Retention ===

impl Default for Retention {
    fn default() -> Self {
        Self { usage_ms: AtomicI64::new(i64::MAX) }
    }
}

impl Retention {
    /// Says whether that is another age than before.
    pub(crate) fn keep_usage_for(&self, age: Duration) -> bool {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        self.usage_ms.swap(age, Ordering::Relaxed) != age
    }

    /// Deletes some rows that are too old; breaks when there are no more of them.
    pub(crate) fn delete_some(&self, database: &Connection) -> rusqlite::Result<ControlFlow<()>> {
        let age = self.usage_ms.load(Ordering::Relaxed);
        let oldest = millis_since_1970(SystemTime::now()).saturating_sub(age);
        let mut delete = database.prepare_cached(
            "DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE ended_at < ?1 LIMIT ?2)",
        )?;
        let deleted = delete.execute(params![oldest, MOST_AT_ONCE])?;
        let is_last = deleted < MOST_AT_ONCE as usize;
        Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}
