//! Every open connection, and which of them can be spared when there are too many.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::activity::{Activity, Patience};

/// The open connections.
#[derive(Debug)]
pub(super) struct Roster {
    most: usize,
    entries: Mutex<Entries>,
    departed: Notify,
}

#[derive(Debug, Default)]
struct Entries {
    open: HashMap<u64, Arc<Activity>>,
    next: u64,
}

/// An open connection; dropping it says that it is closed.
#[derive(Debug)]
pub(super) struct Entry {
    roster: Arc<Roster>,
    id: u64,
    activity: Arc<Activity>,
}

// === impl Roster ===

impl Roster {
    /// For at most so many connections.
    pub(super) fn new(most: usize) -> Self {
        Self { most, entries: Mutex::default(), departed: Notify::new() }
    }

    /// Takes in a connection, if need be in the place of the one that can be spared best; `None` if
    /// all are in use.
    pub(super) fn admit(self: &Arc<Self>, patience: Patience) -> Option<Entry> {
        let mut entries = self.entries.lock();
        if entries.open.len() >= self.most && !entries.spare_one(patience) {
            return None;
        }
        let id = entries.next;
        entries.next += 1;
        let activity = Arc::new(Activity::new());
        entries.open.insert(id, Arc::clone(&activity));
        Some(Entry { roster: Arc::clone(self), id, activity })
    }

    /// Closes the connection that can be spared best, and waits until one is closed.
    pub(super) async fn make_room(&self, patience: Patience) {
        let departed = self.departed.notified();
        self.entries.lock().spare_one(patience);
        departed.await;
    }
}

// === impl Entries ===

impl Entries {
    /// Closes the connection that has not been in use for the longest time; `false` if there is none.
    ///
    /// All are looked at, which takes microseconds and is rare: an order by time would have to be kept
    /// with every request.
    fn spare_one(&mut self, patience: Patience) -> bool {
        let spare = self
            .open
            .iter()
            .filter_map(|(&id, activity)| Some((activity.spare_since(patience)?, id)))
            .min();
        let Some(activity) = spare.and_then(|(_, id)| self.open.remove(&id)) else { return false };
        activity.hangup().0.cancel();
        true
    }
}

// === impl Entry ===

impl Entry {
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.roster.entries.lock().open.remove(&self.id);
        self.roster.departed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const PATIENCE: Patience =
        Patience { head: Duration::from_secs(10), idle: Duration::from_mins(5) };

    fn hung_up(entry: &Entry) -> bool {
        entry.activity.hangup().0.is_cancelled()
    }

    #[test]
    fn the_longest_idle_connection_makes_room_and_a_busy_one_never_does() {
        let roster = Arc::new(Roster::new(3));
        let busy = roster.admit(PATIENCE).unwrap();
        let _request = busy.activity.begin(false);
        let first = roster.admit(PATIENCE).unwrap();
        let second = roster.admit(PATIENCE).unwrap();
        // A head that has begun is no request yet, and the newer one of the two.
        first.activity.heard();
        let third = roster.admit(PATIENCE).unwrap();
        assert_eq!([&busy, &first, &second, &third].map(hung_up), [false, false, true, false]);
        let _requests = [first.activity.begin(false), third.activity.begin(false)];
        assert!(roster.admit(PATIENCE).is_none());
        // Whoever was closed has left no place behind.
        drop(second);
        assert!(roster.admit(PATIENCE).is_none());
        drop(first);
        assert!(roster.admit(PATIENCE).is_some());
    }
}
