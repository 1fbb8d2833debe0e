//! Which threads are started ahead, and for whom. Pure.

use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Setting;
use crate::ids::ThreadId;

/// How long a thread that nobody used keeps its place against others. Clients that take turns with
/// more settings than there are places would else have threads started for nothing, one a turn.
const SAFE_FOR: Duration = Duration::from_secs(10);

/// The places of one child.
pub(super) struct Places {
    limit: usize,
    /// The oldest first.
    taken: Vec<Occupied>,
    last_number: u64,
}

struct Occupied {
    number: u64,
    setting: Setting,
    since: Instant,
    /// `None` while it is being started.
    thread: Option<ThreadId>,
    /// Dropped with the place, which tells whoever keeps the thread.
    _kept: oneshot::Sender<()>,
}

/// A place for a thread that is to be started.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) number: u64,
    /// The thread that had to make room.
    pub(super) replaced: Option<ThreadId>,
    /// Ends when the place is not this thread's any more.
    pub(super) left: oneshot::Receiver<()>,
}

/// What came of asking for a thread.
#[derive(Debug, Default)]
pub(super) struct Taken {
    pub(super) thread: Option<ThreadId>,
    /// Threads that nobody can use any more.
    pub(super) useless: Vec<ThreadId>,
}

// === impl Places ===

impl Places {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, taken: Vec::new(), last_number: 0 }
    }

    /// Takes the thread with exactly this setting. Those of another login go.
    pub(super) fn take(&mut self, setting: &Setting) -> Taken {
        let mut taken = Taken::default();
        self.taken.retain_mut(|place| {
            if place.setting.account != setting.account {
                taken.useless.extend(place.thread.take());
                return false;
            }
            if taken.thread.is_none() && place.setting == *setting {
                taken.thread = place.thread.take();
                return taken.thread.is_none();
            }
            true
        });
        taken
    }

    /// A place for a thread with this setting; `None` if there is one already, or no room.
    pub(super) fn reserve(&mut self, setting: &Setting, now: Instant) -> Option<Place> {
        if self.limit == 0 || self.taken.iter().any(|place| place.setting == *setting) {
            return None;
        }
        let mut replaced = None;
        if self.taken.len() >= self.limit {
            let oldest = self.taken.first()?;
            if now.saturating_duration_since(oldest.since) < SAFE_FOR {
                return None;
            }
            replaced = self.taken.remove(0).thread;
        }
        self.last_number += 1;
        let number = self.last_number;
        let (kept, left) = oneshot::channel();
        let setting = setting.clone();
        self.taken.push(Occupied { number, setting, since: now, thread: None, _kept: kept });
        Some(Place { number, replaced, left })
    }

    /// Puts a thread into its place, or gives it back if that is not its place any more.
    pub(super) fn fill(&mut self, number: u64, thread: ThreadId) -> Result<(), ThreadId> {
        match self.taken.iter_mut().find(|place| place.number == number) {
            Some(place) => {
                place.thread = Some(thread);
                Ok(())
            }
            None => Err(thread),
        }
    }

    /// Has no more places to give.
    pub(super) fn close(&mut self) {
        self.limit = 0;
    }

    pub(super) fn ready(&self) -> usize {
        self.taken.iter().filter(|place| place.thread.is_some()).count()
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Gives up a place, and what is in it.
    pub(super) fn remove(&mut self, number: u64) -> Option<ThreadId> {
        let index = self.taken.iter().position(|place| place.number == number)?;
        self.taken.remove(index).thread
    }
}

#[cfg(test)]
mod tests;
