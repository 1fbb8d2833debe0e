//! The threads that are kept for conversations that may go on.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::answers::{Answer, answers};
use super::kept_thread::KeptThread;
use super::shelf::{Shelf, Taken, Verdict};
use super::trail::Trail;
use super::transcript::FingerprintKey;
use super::{ContinuityLimits, FreshReason, KeptCounts};
use crate::connection::Connection;

/// The threads of all children that may be gone on with.
#[derive(Debug)]
pub(crate) struct KeptThreads {
    key: FingerprintKey,
    shelf: Mutex<Shelf<KeptThread>>,
    /// There is something to expire.
    filled: Notify,
}

/// A thread that a turn can go on with, and how.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) kept: KeptThread,
    pub(crate) how: GoingOn,
}

#[derive(Debug)]
pub(crate) enum GoingOn {
    /// By a turn that is given these items of the history.
    Inject(Vec<usize>),
    /// By answering the calls of its last turn.
    Answer(Vec<Answer>),
}

// === impl KeptThreads ===

impl KeptThreads {
    pub(crate) fn new(limits: ContinuityLimits) -> Self {
        Self {
            key: FingerprintKey::random(),
            shelf: Mutex::new(Shelf::new(limits)),
            filled: Notify::new(),
        }
    }

    pub(crate) fn key(&self) -> FingerprintKey {
        self.key
    }

    /// The thread that has had most of a history, if any has. Nobody else finds it from then on.
    pub(crate) fn find(&self, trail: &Trail, items: &[Box<str>]) -> Result<Found, FreshReason> {
        // Of where the last turn should have ended, if the model has said anything.
        let mut why = None;
        // Dropped after the lock: a thread that goes has something to say to its child.
        let mut useless = Vec::new();
        let mut threads = self.shelf.lock();
        for (first, fingerprint) in trail.ends() {
            match threads.take(fingerprint, |kept| judge(kept, first, trail, items)) {
                Some(Taken::Found(kept, how)) => return Ok(Found { kept, how }),
                Some(Taken::Not(reason, thread)) => {
                    why.get_or_insert(reason);
                    useless.extend(thread);
                }
                None => {
                    why.get_or_insert(FreshReason::Unknown);
                }
            }
        }
        // Their client has come back, with something else.
        if !trail.last_outputs().is_empty() {
            let outputs: HashSet<_> = trail.last_outputs().iter().collect();
            let waits_for_them = |kept: &KeptThread| {
                let calls = kept.said().map_or(&[][..], |said| &said.calls);
                calls.iter().any(|call_id| outputs.contains(call_id))
            };
            useless.extend(threads.remove_of(trail.owner(), waits_for_them, FreshReason::Outputs));
        }
        Err(why.unwrap_or(FreshReason::First))
    }

    /// Keeps a thread, if it can be gone on with.
    pub(crate) fn keep(&self, owner: Arc<str>, kept: KeptThread) {
        let Some(said) = kept.said() else { return };
        let (fingerprint, bytes) = (said.transcript.fingerprint(), said.transcript.bytes());
        let going = self.shelf.lock().put(fingerprint, owner, bytes, kept, ambient::now());
        drop(going);
        self.filled.notify_one();
    }

    /// Lets go of every thread.
    pub(crate) fn let_go(&self) {
        let going = self.shelf.lock().remove_where(|_| true, FreshReason::Off);
        drop(going);
    }

    /// Lets go of every thread of a child.
    pub(crate) fn forget(&self, connection: &Arc<Connection>) {
        let going =
            self.shelf.lock().remove_where(|kept| kept.is_of(connection), FreshReason::ChildGone);
        drop(going);
    }

    /// Lets go of threads as their time comes, for ever.
    pub(crate) async fn expire(&self) {
        loop {
            let next = self.shelf.lock().next_expiry();
            match next {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => self.filled.notified().await,
            }
            let going = self.shelf.lock().expire(ambient::now());
            drop(going);
        }
    }

    pub(crate) fn counts(&self) -> KeptCounts {
        let kept = self.shelf.lock();
        let held = kept.things().filter(|kept| kept.is_held()).count();
        KeptCounts { idle: kept.things().count() - held, held, bytes: kept.bytes() }
    }
}

/// What becomes of a thread that has had the first items of a history.
fn judge(kept: &KeptThread, first: usize, trail: &Trail, items: &[Box<str>]) -> Verdict<GoingOn> {
    if !kept.has_its_child() {
        return Verdict::Drop(FreshReason::ChildGone);
    }
    let Some(said) = kept.said().filter(|_| kept.is_well()) else {
        return Verdict::Drop(FreshReason::NotReady);
    };
    let known = said.transcript.reasoning();
    if !trail.thoughts_are_known(first, known) {
        return Verdict::Leave(FreshReason::Reasoning);
    }
    let news = trail.news(first, known);
    if !said.calls.is_empty() {
        let items = news.iter().map(|index| &*items[*index]);
        return match answers(items, &said.calls) {
            Some(answers) => Verdict::Take(GoingOn::Answer(answers)),
            // The conversation has gone on without it.
            None => Verdict::Drop(FreshReason::Outputs),
        };
    }
    if news.iter().any(|index| trail.is_spoken(*index)) {
        Verdict::Take(GoingOn::Inject(news))
    } else {
        Verdict::Leave(FreshReason::NothingNew)
    }
}
