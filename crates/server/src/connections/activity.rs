//! What a connection does at the moment, which decides when it has to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

/// What a connection does. Its own task tells, and others look.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
    hangup: Hangup,
    /// Whether the body of the request under way was not read to its end.
    unread_body: AtomicBool,
}

/// Closes a client's connection at once. Handlers find it among the request's extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hangup(pub(crate) CancellationToken);

/// A request that is under way, until it is dropped together with the body of its answer.
#[derive(Debug)]
pub(crate) struct Underway(Arc<Activity>);

/// What has taken too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lapse {
    /// The rest of a head.
    Head,
    /// A request.
    Request,
    /// The client, to take a byte of its answer.
    Reading,
}

/// How long a connection may take for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Patience {
    /// From the first byte of a head to its last.
    pub(super) head: Duration,
    /// Without any request, and for a client that takes nothing of its answer.
    pub(super) idle: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    phase: Phase,
    since: Instant,
    /// Since when the client has taken nothing of what there is for it.
    blocked: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing of a request has come.
    ///
    /// What a client sends before its last answer is complete is read together with that request, so
    /// that the first part of a head may lie in a buffer of hyper's in this phase.
    Idle,
    /// A request has begun to come.
    Head,
    /// A request is under way.
    Busy,
    /// The answer has come to its end, but is not written to its end.
    Answered,
    /// There will be no other request.
    Leaving,
}

// === impl Activity ===

impl Activity {
    pub(super) fn new() -> Self {
        let state = Mutex::new(State::new(ambient::now()));
        Self { state, hangup: Hangup::default(), unread_body: AtomicBool::new(false) }
    }

    /// A request has been read up to its body.
    pub(super) fn begin(self: &Arc<Self>, has_body: bool) -> Underway {
        self.unread_body.store(has_body, Ordering::Relaxed);
        self.state.lock().enter(Phase::Busy, ambient::now());
        Underway(Arc::clone(self))
    }

    /// The body of the request under way was read to its end.
    pub(super) fn read_body(&self) {
        self.unread_body.store(false, Ordering::Relaxed);
    }

    pub(super) fn has_unread_body(&self) -> bool {
        self.unread_body.load(Ordering::Relaxed)
    }

    /// Bytes have come.
    pub(super) fn heard(&self) {
        let mut state = self.state.lock();
        if state.phase == Phase::Idle {
            state.enter(Phase::Head, ambient::now());
        }
    }

    /// The client has taken bytes.
    pub(super) fn wrote(&self) {
        self.state.lock().blocked = None;
    }

    /// The client takes no bytes at the moment.
    pub(super) fn blocked(&self) {
        self.state.lock().blocked.get_or_insert_with(ambient::now);
    }

    /// Everything is written that there is so far.
    pub(super) fn flushed(&self) {
        let mut state = self.state.lock();
        if state.phase == Phase::Answered {
            state.enter(Phase::Idle, ambient::now());
        }
    }

    /// There will be no other request.
    pub(super) fn leave(&self) {
        self.state.lock().enter(Phase::Leaving, ambient::now());
    }

    /// Whether somebody waits for an answer, or for the rest of one.
    pub(super) fn is_busy(&self) -> bool {
        self.state.lock().is_busy()
    }

    /// When it has to end if nothing happens before, and what has taken too long then.
    pub(super) fn deadline(&self, patience: Patience) -> Option<(Instant, Lapse)> {
        self.state.lock().deadline(patience)
    }

    /// Since when nobody would miss it; `None` while somebody would.
    pub(super) fn spare_since(&self, patience: Patience) -> Option<Instant> {
        self.state.lock().spare_since(patience, ambient::now())
    }

    pub(super) fn hangup(&self) -> &Hangup {
        &self.hangup
    }
}

// === impl Underway ===

impl Drop for Underway {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        // It stays so only if something is left to be written.
        if state.phase == Phase::Busy {
            state.enter(Phase::Answered, ambient::now());
        }
    }
}

// === impl State ===

impl State {
    fn new(now: Instant) -> Self {
        Self { phase: Phase::Idle, since: now, blocked: None }
    }

    fn enter(&mut self, phase: Phase, now: Instant) {
        self.phase = phase;
        self.since = now;
    }

    fn is_busy(&self) -> bool {
        match self.phase {
            Phase::Busy | Phase::Answered => true,
            Phase::Idle | Phase::Head | Phase::Leaving => false,
        }
    }

    fn deadline(&self, patience: Patience) -> Option<(Instant, Lapse)> {
        match self.phase {
            Phase::Idle => Some((self.since + patience.idle, Lapse::Request)),
            Phase::Head => Some((self.since + patience.head, Lapse::Head)),
            Phase::Busy | Phase::Answered => {
                self.blocked.map(|since| (since + patience.idle, Lapse::Reading))
            }
            Phase::Leaving => None,
        }
    }

    /// A client that leaves its answer lying is spared too, after the time that a head may take:
    /// otherwise anybody could take up all connections with answers that need no key.
    fn spare_since(&self, patience: Patience, now: Instant) -> Option<Instant> {
        if self.is_busy() {
            self.blocked.filter(|&since| since + patience.head <= now)
        } else {
            Some(self.since)
        }
    }
}

#[cfg(test)]
mod tests;
