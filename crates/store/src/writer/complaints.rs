//! Telling the operator, and not too often.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often at most the log tells that something is wrong.
pub(super) const COMPLAINT_EVERY: Duration = Duration::from_mins(1);

/// What was told, and when.
pub(super) struct Complaints {
    lost: Arc<AtomicU64>,
    told_at: Option<Instant>,
    told_lost: u64,
}

// === impl Complaints ===

impl Complaints {
    pub(super) fn about(lost: Arc<AtomicU64>) -> Self {
        Self { lost, told_at: None, told_lost: 0 }
    }

    pub(super) fn of(&mut self, error: &rusqlite::Error) {
        if self.may_tell() {
            let lost = self.note_lost();
            tracing::warn!(%error, lost, "the database cannot be written");
        }
    }

    /// Of what was lost before it could be written again.
    pub(super) fn of_lost(&mut self) {
        if self.lost.load(Ordering::Relaxed) > self.told_lost && self.may_tell() {
            let lost = self.note_lost();
            tracing::warn!(lost, "the database did not keep up");
        }
    }

    fn may_tell(&self) -> bool {
        self.told_at.is_none_or(|at| at.elapsed() >= COMPLAINT_EVERY)
    }

    fn note_lost(&mut self) -> u64 {
        self.told_at = Some(Instant::now());
        self.told_lost = self.lost.load(Ordering::Relaxed);
        self.told_lost
    }
}
