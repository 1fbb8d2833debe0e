//! Every running turn of a child, found by its thread.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use model_turn::{Failure, FailureKind, TurnEvent};
use parking_lot::Mutex;
use serde_json::value::RawValue;
use tokio::sync::{Notify, oneshot};
use tracing::Span;

use super::channel::EventSender;
use super::machine::{PendingCall, Step, Steps, TurnMachine};
use super::thread_event::RoutedEvent;
use crate::continuity::kept_thread::{ThreadFate, ThreadState};
use crate::ids::{ThreadId, TurnId};
use crate::stats::Counter;

/// What a turn asks of the connection.
pub(crate) trait Wire {
    fn interrupt(&self, thread: &ThreadId, turn: &TurnId);
    fn interrupt_later(&self, thread: &ThreadId, turn: &TurnId);
    fn reject_call(&self, request: &RawValue);
    fn unsubscribe(&self, thread: &ThreadId);
    fn distrust_log(&self, reason: &'static str);
    fn head_start(&self, time: Duration);
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
    /// Where whoever may go on in the thread looks.
    fate: Option<Arc<ThreadFate>>,
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
    routes: Mutex<Routes>,
    emptied: Notify,
}

#[derive(Debug, Default)]
struct Routes {
    by_thread: HashMap<ThreadId, Route>,
    /// How many of them wait for nothing but outputs, and need no clock.
    held: usize,
}

// === impl Route ===

impl Route {
    pub(crate) fn new(
        thread: ThreadId,
        machine: TurnMachine,
        events: EventSender,
        attempt: oneshot::Sender<Attempt>,
        fate: Option<Arc<ThreadFate>>,
    ) -> Self {
        Self {
            thread,
            machine,
            events,
            attempt: Some(attempt),
            fate,
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
        let now = ambient::now();
        let mut steps = std::mem::take(&mut self.steps);
        change(&mut self.machine, now, &mut steps);
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Emit(event) => self.emit(event, now, &mut steps),
                Step::Interrupt(turn) => wire.interrupt(&self.thread, &turn),
                Step::InterruptLater(turn) => wire.interrupt_later(&self.thread, &turn),
                Step::RejectCall(request) => wire.reject_call(&request),
                Step::Say(said) => {
                    if let Some(fate) = &self.fate {
                        fate.say(said);
                    }
                }
                Step::Settle(state) => {
                    if let Some(fate) = &self.fate {
                        fate.settle(state);
                    }
                }
                Step::Unsubscribe => wire.unsubscribe(&self.thread),
                Step::DistrustLog(reason) => wire.distrust_log(reason),
                Step::HeadStart(time) => wire.head_start(time),
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
        self.routes.lock().by_thread.insert(route.thread.clone(), route);
    }

    /// Whether any turn has a limit of time.
    pub(crate) fn needs_the_clock(&self) -> bool {
        let routes = self.routes.lock();
        routes.by_thread.len() > routes.held
    }

    /// Puts a turn in the place of one that is held, and gives the calls that it is to answer; `None`
    /// if there is no such turn any more.
    pub(crate) fn resume(&self, mut route: Route) -> Option<Vec<PendingCall>> {
        let mut routes = self.routes.lock();
        let held = routes.by_thread.get_mut(route.thread.as_str())?;
        if !held.machine.is_held() {
            return None;
        }
        let calls = route.machine.take_over(&mut held.machine);
        routes.held -= 1;
        routes.by_thread.insert(route.thread.clone(), route);
        Some(calls)
    }

    /// Nobody wants to go on in a thread.
    pub(crate) fn let_go(&self, thread: &ThreadId, fate: &ThreadFate, wire: &impl Wire) {
        // Where the thread stands changes under the lock alone.
        let mut routes = self.routes.lock();
        match fate.settle(ThreadState::Gone) {
            ThreadState::Gone => {}
            ThreadState::Idle => wire.unsubscribe(thread),
            ThreadState::Busy | ThreadState::Held => {
                routes.step(thread.as_str(), wire, TurnMachine::let_go);
                self.tell_if_empty(&routes);
            }
        }
    }

    /// Whether a consumer waits for events of this turn.
    pub(crate) fn is_running(&self, thread: &str, turn: &str) -> bool {
        let routes = self.routes.lock();
        routes.by_thread.get(thread).is_some_and(|route| route.machine.is_running(turn))
    }

    /// Where a line of the log about the turn of `thread` belongs.
    pub(crate) fn span_of(&self, thread: &str) -> Span {
        self.routes.lock().by_thread.get(thread).map_or_else(Span::none, |route| route.span.clone())
    }

    /// Steps the turn of `thread`; `false` if there is none.
    pub(crate) fn step(
        &self,
        thread: &str,
        wire: &impl Wire,
        change: impl FnOnce(&mut TurnMachine, Instant, &mut Steps),
    ) -> bool {
        let mut routes = self.routes.lock();
        let known = routes.step(thread, wire, change);
        self.tell_if_empty(&routes);
        known
    }

    pub(crate) fn on_event(&self, event: RoutedEvent<'_>, wire: &impl Wire) {
        let RoutedEvent { thread_id, turn_id, event } = event;
        let known = self.step(&thread_id, wire, |machine, now, steps| {
            machine.on_event(&turn_id, event, now, steps);
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
            if self.routes.lock().by_thread.is_empty() {
                return;
            }
            emptied.await;
        }
    }

    fn step_all(&self, wire: &impl Wire, change: impl Fn(&mut TurnMachine, Instant, &mut Steps)) {
        let mut routes = self.routes.lock();
        let Routes { by_thread, held } = &mut *routes;
        *held = 0;
        by_thread.retain(|_, route| {
            route.advance(wire, &change);
            *held += usize::from(route.machine.is_held());
            !route.machine.is_closed()
        });
        self.tell_if_empty(&routes);
    }

    fn tell_if_empty(&self, routes: &Routes) {
        if routes.by_thread.is_empty() {
            self.emptied.notify_waiters();
        }
    }
}

// === impl Routes ===

impl Routes {
    fn step(
        &mut self,
        thread: &str,
        wire: &impl Wire,
        change: impl FnOnce(&mut TurnMachine, Instant, &mut Steps),
    ) -> bool {
        let Some(route) = self.by_thread.get_mut(thread) else { return false };
        let was_held = route.machine.is_held();
        route.advance(wire, change);
        match (was_held, route.machine.is_held()) {
            (false, true) => self.held += 1,
            (true, false) => self.held -= 1,
            (false, false) | (true, true) => {}
        }
        if route.machine.is_closed() {
            self.by_thread.remove(thread);
        }
        true
    }
}
