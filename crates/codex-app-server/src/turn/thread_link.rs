//! What the consumer of a turn has of its thread.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::continuity::kept_thread::KeptThread;
use crate::continuity::kept_threads::KeptThreads;
use crate::continuity::{Continued, FreshReason};

/// Between the consumer of a turn and the task behind it.
#[derive(Debug)]
pub(crate) struct ThreadLink {
    /// Where threads are kept, and for whom.
    keeper: Option<(Arc<KeptThreads>, Arc<str>)>,
    shared: Mutex<Shared>,
}

#[derive(Debug)]
struct Shared {
    continued: Continued,
    /// The thread, from when there is one until it is kept. One that nobody keeps is let go with this.
    thread: Option<KeptThread>,
}

// === impl ThreadLink ===

impl ThreadLink {
    pub(crate) fn new(keeper: Option<(Arc<KeptThreads>, Arc<str>)>) -> Self {
        let continued = Continued::Fresh(FreshReason::Off);
        Self { keeper, shared: Mutex::new(Shared { continued, thread: None }) }
    }

    /// How the turn got its thread.
    pub(crate) fn continued(&self) -> Continued {
        self.shared.lock().continued
    }

    pub(crate) fn tell(&self, continued: Continued) {
        self.shared.lock().continued = continued;
    }

    /// The turn is about to get a thread of its own after all; false if it had one already.
    pub(crate) fn gone_on_in_vain(&self) -> bool {
        let mut shared = self.shared.lock();
        let had_gone_on = shared.continued.fresh_reason().is_none();
        if had_gone_on {
            shared.continued = Continued::Fresh(FreshReason::Failed);
        }
        had_gone_on
    }

    /// The turn has a thread, or another than before.
    pub(crate) fn hold(&self, thread: Option<KeptThread>) {
        let before = std::mem::replace(&mut self.shared.lock().thread, thread);
        // Not under the lock: a thread that goes has something to say to its child.
        drop(before);
    }

    /// Keeps the thread for the next request of the same conversation.
    pub(crate) fn keep(&self) {
        let thread = self.shared.lock().thread.take();
        if let (Some((kept, owner)), Some(thread)) = (&self.keeper, thread) {
            kept.keep(Arc::clone(owner), thread);
        }
    }
}
