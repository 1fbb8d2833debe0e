//! How many turns run at once, and who waits for one.

mod fair_queue;
mod refusal;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use tokio::sync::{Notify, oneshot};

use crate::gate::Caller;
use fair_queue::{Capacity, Entry, FairQueue, Queued, Ticket};

pub(crate) use refusal::{Load, Refusal};

/// The places that turns run in, shared fairly between keys. Clones share them.
#[derive(Clone)]
pub struct TurnQueue(Arc<Shared>);

/// How much is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueLimits {
    /// Most turns at once.
    pub turns: u32,
    /// Most requests that wait.
    pub waiting: usize,
    /// How long a request waits.
    pub longest_wait: Duration,
}

/// What there is, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct QueueState {
    pub(crate) running: u32,
    pub(crate) waiting: usize,
    pub(crate) limit: u32,
    pub(crate) queue_max: usize,
    /// Only those who have something here, by their names.
    pub(crate) keys: BTreeMap<String, KeyState>,
}

/// What the keys of one name have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct KeyState {
    pub(crate) running: u32,
    pub(crate) waiting: usize,
}

/// Places for turns, free again when dropped.
#[must_use]
pub(crate) struct TakenPlaces {
    queue: TurnQueue,
    caller: Caller,
    places: u32,
}

struct Shared {
    state: Mutex<State>,
    /// Told each time that no place is in use any more.
    idle: Notify,
}

struct State {
    queue: FairQueue<Caller, oneshot::Sender<Verdict>>,
    longest_wait: Duration,
}

/// What somebody who waits is told in the end. Places that nobody receives any more are free again,
/// like all that are dropped.
type Verdict = Result<TakenPlaces, Refusal>;

/// A place in the line, given up when dropped.
struct Waiting<'a> {
    queue: &'a TurnQueue,
    caller: &'a Caller,
    ticket: Ticket,
    verdict: oneshot::Receiver<Verdict>,
}

// === impl TurnQueue ===

impl TurnQueue {
    /// Nobody is there yet.
    pub fn new(limits: QueueLimits) -> Self {
        let QueueLimits { turns, waiting, longest_wait } = limits;
        let queue = FairQueue::new(Capacity { places: turns, waiting });
        let state = Mutex::new(State { queue, longest_wait });
        Self(Arc::new(Shared { state, idle: Notify::new() }))
    }

    /// From now on so much is let in. Turns that run go on, and who waits goes on waiting.
    pub fn change(&self, limits: QueueLimits) {
        let QueueLimits { turns, waiting, longest_wait } = limits;
        let mut state = self.0.state.lock();
        state.longest_wait = longest_wait;
        let never = state.queue.change(Capacity { places: turns, waiting });
        self.let_in(state);
        for waiter in never {
            let refusal = Refusal::NeverFits { turns: waiter.places, limit: turns };
            let _ = waiter.told.send(Err(refusal));
        }
    }

    /// Lets nobody in any more: who waits, and who comes from now on, is turned away. Turns that run
    /// go on; [`Self::idle`] waits for them.
    pub fn close(&self) {
        let turned_away = self.0.state.lock().queue.close();
        for waiter in turned_away {
            let _ = waiter.told.send(Err(Refusal::ShuttingDown));
        }
    }

    /// Waits until no turn runs.
    pub async fn idle(&self) {
        loop {
            // In this order: what happens in between is not missed.
            let idle = self.0.idle.notified();
            if self.0.state.lock().queue.in_use() == 0 {
                return;
            }
            idle.await;
        }
    }

    /// Places for all turns of a request at once. Who stops waiting for them leaves the queue.
    pub(crate) async fn take(&self, caller: &Caller, turns: u32) -> Verdict {
        let (mut waiting, longest_wait) = {
            let mut state = self.0.state.lock();
            match state.queue.enter(caller, turns) {
                Entry::Admitted => return Ok(self.taken(caller.clone(), turns)),
                Entry::NeverFits => {
                    return Err(Refusal::NeverFits { turns, limit: state.load().limit });
                }
                Entry::Closed => return Err(Refusal::ShuttingDown),
                Entry::MustWait => {}
            }
            let (told, verdict) = oneshot::channel();
            let Queued::Waits { ticket, displaced } = state.queue.wait(caller, turns, told) else {
                return Err(Refusal::QueueFull(state.load()));
            };
            if let Some(displaced) = displaced {
                let _ = displaced.send(Err(Refusal::QueueFull(state.load())));
            }
            (Waiting { queue: self, caller, ticket, verdict }, state.longest_wait)
        };
        let in_time = tokio::time::timeout(longest_wait, &mut waiting.verdict).await;
        let verdict = match in_time {
            Ok(verdict) => verdict,
            Err(_) if waiting.leave() => {
                let load = self.0.state.lock().load();
                return Err(Refusal::WaitedTooLong { longest_wait, load });
            }
            // Told at the last moment.
            Err(_) => (&mut waiting.verdict).await,
        };
        verdict.unwrap_or(Err(Refusal::ShuttingDown))
    }

    /// What there is now.
    pub(crate) fn state(&self) -> QueueState {
        let state = self.0.state.lock();
        let Load { running, limit, waiting } = state.load();
        let mut keys = BTreeMap::<String, KeyState>::new();
        for (caller, running, waiting) in state.queue.keys() {
            // A revoked key can still have turns when there is a new one of its name.
            let key = keys.entry(caller.name().to_owned()).or_default();
            key.running += running;
            key.waiting += waiting;
        }
        let queue_max = state.queue.capacity().waiting;
        QueueState { running, waiting, limit, queue_max, keys }
    }

    /// How full it is now.
    pub(crate) fn load(&self) -> Load {
        self.0.state.lock().load()
    }

    fn taken(&self, caller: Caller, places: u32) -> TakenPlaces {
        TakenPlaces { queue: self.clone(), caller, places }
    }

    /// Tells everybody who is next and fits now; without the lock, which somebody who has left
    /// meanwhile needs to give the places back.
    fn let_in(&self, mut state: MutexGuard<'_, State>) {
        let admitted: Vec<_> = std::iter::from_fn(|| state.queue.next()).collect();
        drop(state);
        for admitted in admitted {
            let _ = admitted.told.send(Ok(self.taken(admitted.key, admitted.places)));
        }
    }
}

impl fmt::Debug for TurnQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TurnQueue").field(&self.state()).finish()
    }
}

// === impl TakenPlaces ===

impl Drop for TakenPlaces {
    fn drop(&mut self) {
        let mut state = self.queue.0.state.lock();
        state.queue.give_back(&self.caller, self.places);
        if state.queue.in_use() == 0 {
            self.queue.0.idle.notify_waiters();
        }
        self.queue.let_in(state);
    }
}

impl fmt::Debug for TakenPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { caller, places, .. } = self;
        f.debug_struct("TakenPlaces").field("caller", caller).field("places", places).finish()
    }
}

// === impl State ===

impl State {
    fn load(&self) -> Load {
        Load {
            running: self.queue.in_use(),
            limit: self.queue.capacity().places,
            waiting: self.queue.waiting(),
        }
    }
}

// === impl Waiting ===

impl Waiting<'_> {
    /// Whether there was still something to leave.
    fn leave(&self) -> bool {
        let mut state = self.queue.0.state.lock();
        let left = state.queue.leave(self.caller, self.ticket).is_some();
        // Somebody who wants less may have waited behind.
        self.queue.let_in(state);
        left
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests;
