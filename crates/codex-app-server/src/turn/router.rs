//! Every running turn of a child, found by its thread.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot};
use tracing::Span;

use super::channel::EventSender;
use super::event::TurnEvent;
use super::machine::{Step, Steps, TurnMachine};
use super::thread_event::ThreadEvent;
use crate::failure::{Failure, FailureKind};
use crate::ids::{ThreadId, TurnId};
use crate::stats::Counter;

/// What a turn asks of the connection.
pub(crate) trait Wire {
    fn interrupt(&self, thread: &ThreadId, turn: &TurnId);
    fn reject_call(&self, request: &RawValue);
    fn unsubscribe(&self, thread: &ThreadId);
    fn count(&self, counter: Counter);
}

/// How an attempt at a turn came out, for the task that started it.
#[derive(Debug)]
pub(crate) enum Attempt {
    /// The consumer has its last event.
    Finished,
    /// It failed before any output: it may be tried again, and the consumer knows nothing yet.
    FailedEarly(Failure),
}

/// One turn: its state, its consumer, and the task that started it.
#[derive(Debug)]
pub(crate) struct Route {
    thread: ThreadId,
    machine: TurnMachine,
    events: EventSender,
    attempt: Option<oneshot::Sender<Attempt>>,
    /// Whether an event found no room with the consumer.
    overflowed: bool,
    /// Kept between events, so that none of them allocates.
    steps: Steps,
    /// What its consumer was doing when it asked: what is logged about the turn belongs to that.
    span: Span,
}

/// The turns of one child.
///
/// Whoever reads the child steps the machines right here, so that an interrupt leaves before a
/// slow consumer has even seen its cause.
#[derive(Debug, Default)]
pub(crate) struct Router {
    routes: Mutex<HashMap<ThreadId, Route>>,
    emptied: Notify,
}

// === impl Route ===

impl Route {
    pub(crate) fn new(
        thread: ThreadId,
        machine: TurnMachine,
        events: EventSender,
        attempt: oneshot::Sender<Attempt>,
    ) -> Self {
        Self {
            thread,
            machine,
            events,
            attempt: Some(attempt),
            overflowed: false,
            steps: Steps::new(),
            span: Span::current(),
        }
    }

    fn advance(
        &mut self,
        wire: &impl Wire,
        change: impl FnOnce(&mut TurnMachine, Instant, &mut Steps),
    ) {
        let now = Instant::now();
        let mut steps = std::mem::take(&mut self.steps);
        change(&mut self.machine, now, &mut steps);
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Emit(event) => self.emit(event, now, &mut steps),
                Step::Interrupt(turn) => wire.interrupt(&self.thread, &turn),
                Step::RejectCall(request) => wire.reject_call(&request),
                Step::Unsubscribe => wire.unsubscribe(&self.thread),
                Step::Count(counter) => wire.count(counter),
            }
        }
        self.steps = steps;
    }

    fn emit(&mut self, event: TurnEvent, now: Instant, steps: &mut Steps) {
        if !event.is_last() {
            // After the first event that found no room the rest would be an answer with a hole.
            if self.overflowed {
                return;
            }
            if self.events.send(event).is_err() {
                self.overflowed = true;
                self.machine.fail(overflow(), now, steps);
            }
            return;
        }
        let last = match event {
            // The machine was over before its events had found room.
            TurnEvent::End(_) if self.overflowed => TurnEvent::Failed(overflow()),
            last => last,
        };
        let Some(attempt) = self.attempt.take() else { return };
        let outcome = match last {
            TurnEvent::Failed(failure) if !self.machine.has_emitted() => {
                Attempt::FailedEarly(failure)
            }
            last => {
                // The last event always finds room.
                let _ = self.events.send(last);
                Attempt::Finished
            }
        };
        let _ = attempt.send(outcome);
    }
}

fn overflow() -> Failure {
    let words = "the events of the turn were not read fast enough";
    Failure::new(FailureKind::SlowConsumer, words)
}

// === impl Router ===

impl Router {
    pub(crate) fn insert(&self, route: Route) {
        self.lock().insert(route.thread.clone(), route);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Where a line of the log about the turn of `thread` belongs.
    pub(crate) fn span_of(&self, thread: &str) -> Span {
        self.lock().get(thread).map_or_else(Span::none, |route| route.span.clone())
    }

    /// Steps the turn of `thread`; `false` if there is none.
    pub(crate) fn step(
        &self,
        thread: &str,
        wire: &impl Wire,
        change: impl FnOnce(&mut TurnMachine, Instant, &mut Steps),
    ) -> bool {
        let mut routes = self.lock();
        let Some(route) = routes.get_mut(thread) else { return false };
        route.advance(wire, change);
        if route.machine.is_closed() {
            routes.remove(thread);
            self.tell_if_empty(&routes);
        }
        true
    }

    pub(crate) fn on_event(&self, event: ThreadEvent<'_>, wire: &impl Wire) {
        let ThreadEvent { thread_id, turn_id, happening } = event;
        let known = self.step(&thread_id, wire, |machine, now, steps| {
            machine.on_event(&turn_id, happening, now, steps);
        });
        if !known {
            wire.count(Counter::StaleEvent);
        }
    }

    pub(crate) fn on_tick(&self, wire: &impl Wire) {
        self.step_all(wire, TurnMachine::on_tick);
    }

    /// Fails every turn, and has it interrupted: we are about to stop the child.
    pub(crate) fn fail_all(&self, reason: &str, wire: &impl Wire) {
        self.step_all(wire, |machine, now, steps| {
            machine.fail(Failure::new(FailureKind::Stopping, reason), now, steps);
        });
    }

    /// Ends every turn: the child has gone.
    pub(crate) fn child_gone(&self, reason: &str, wire: &impl Wire) {
        self.step_all(wire, |machine, _, steps| machine.child_gone(reason, steps));
    }

    /// Waits until there is no turn that Codex still has to end.
    pub(crate) async fn until_empty(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    fn step_all(&self, wire: &impl Wire, change: impl Fn(&mut TurnMachine, Instant, &mut Steps)) {
        let mut routes = self.lock();
        routes.retain(|_, route| {
            route.advance(wire, &change);
            !route.machine.is_closed()
        });
        self.tell_if_empty(&routes);
    }

    fn tell_if_empty(&self, routes: &HashMap<ThreadId, Route>) {
        if routes.is_empty() {
            self.emptied.notify_waiters();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ThreadId, Route>> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
