//! One turn as a state machine: what Codex says and the clock in, steps to take out.
//!
//! It has no I/O and no clock of its own, so that races and time-outs can be tested exactly.

mod ending;
mod holding;
mod logged;
mod step;

use std::sync::Arc;
use std::time::{Duration, Instant};

use model_turn::{Failure, FailureKind, MessagePhase, ReasoningItem, TurnEnd, TurnEvent};

use super::early_calls::EarlyCalls;
use super::keeping::Keeping;
use super::streamed::{Contradiction, Streamed};
use super::thread_event::{ItemKind, ThreadEvent};
use crate::continuity::kept_thread::ThreadState;
use crate::custom_input::InputDecoder;
use crate::failure::from_codex;
use crate::ids::TurnId;
use crate::protocol::incoming::TurnStatus;
use crate::stats::Counter;
use crate::tool_names::ToolNames;
use ending::withheld;
use holding::Notes;
use logged::{Refusals, is_output_beside_a_call, leaves_a_refusal_open};
pub use step::TurnLimits;
pub(crate) use step::{LogUse, PendingCall, Step, Steps};

/// When an interrupt that changed nothing is sent again: Codex drops requests when it is flooded.
const INTERRUPT_AGAIN: Duration = Duration::from_secs(2);

/// How long Codex may take to confirm the end of a turn that we ended.
const END_GRACE: Duration = Duration::from_secs(10);

/// Events that are kept until the turn has a name.
const MAX_HELD: usize = 1_000;

/// Bytes among them that the log reports.
const MAX_HELD_LOG_BYTES: usize = 1024 * 1024;

/// The state of one turn.
#[derive(Debug)]
pub(crate) struct TurnMachine {
    names: Arc<ToolNames>,
    limits: TurnLimits,
    started_at: Instant,
    last_event_at: Instant,
    turn_id: Option<TurnId>,
    /// Events that came before the turn's id was known.
    held: Vec<(String, ThreadEvent<'static>)>,
    phase: Phase,
    open_message: Option<Streamed>,
    /// A message has begun of which nothing is told yet.
    untold_message: Option<Begun>,
    /// Whether there was text of a message before.
    has_text: bool,
    /// Whole reasoning before anything was told: as long as nothing was, Codex may start over.
    untold_reasoning: Vec<ReasoningItem>,
    said: Speech,
    calls: usize,
    response_ended: bool,
    /// Whether something was seen of a model request after the first.
    extra_request_seen: bool,
    /// The calls that Codex has asked us to make, and waits for.
    pending_calls: Vec<PendingCall>,
    early: EarlyCalls,
    /// Reads the input of the custom tool whose call is being streamed.
    input: Option<InputDecoder>,
    refusals: Refusals,
    notes: Notes,
    interrupt: Interrupt,
    /// When an interrupt was last sent.
    interrupt_sent_at: Option<Instant>,
}

/// A message that has begun.
#[derive(Debug)]
struct Begun {
    phase: Option<MessagePhase>,
}

/// What the model has said so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speech {
    Nothing,
    /// Which is an answer, if a poor one.
    AnEmptyMessage,
    Something,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interrupt {
    /// Not asked for.
    None,
    /// Because the turn is over for us.
    Ours,
    /// Because the consumer wants it, who still waits for the turn's end.
    Consumers,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The consumer waits for events.
    Running,
    /// The consumer has its last event, and Codex waits for the outputs of the calls.
    Held,
    /// The consumer has its last event; Codex still has to end the turn.
    Ending { since: Instant },
    /// Nothing is left to do.
    Closed,
}

// === impl TurnLimits ===

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            timeout: Duration::from_mins(10),
            idle_timeout: Duration::from_mins(5),
            probe_after: Some(Duration::from_secs(10)),
        }
    }
}

// === impl TurnMachine ===

impl TurnMachine {
    /// `started_at` is when the consumer asked for the turn, which may lie some retries back.
    pub(crate) fn new(
        names: Arc<ToolNames>,
        limits: TurnLimits,
        log_use: LogUse,
        keeping: Option<Keeping>,
        started_at: Instant,
        now: Instant,
    ) -> Self {
        Self {
            names,
            limits,
            started_at,
            last_event_at: now,
            turn_id: None,
            held: Vec::new(),
            phase: Phase::Running,
            open_message: None,
            untold_message: None,
            has_text: false,
            untold_reasoning: Vec::new(),
            said: Speech::Nothing,
            calls: 0,
            response_ended: false,
            extra_request_seen: false,
            pending_calls: Vec::new(),
            early: EarlyCalls::new(log_use == LogUse::Everything),
            input: None,
            refusals: Refusals::new(log_use != LogUse::Nothing),
            notes: keeping.map_or(Notes::None, Notes::Open),
            interrupt: Interrupt::None,
            interrupt_sent_at: None,
        }
    }

    /// Whether the consumer still waits for events of this turn.
    pub(crate) fn is_running(&self, turn_id: &str) -> bool {
        self.phase == Phase::Running
            && self.turn_id.as_ref().is_none_or(|known| known.as_str() == turn_id)
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// Whether anything was emitted: from then on the turn cannot be repeated unnoticed.
    pub(crate) fn has_emitted(&self) -> bool {
        self.said == Speech::Something || self.response_ended
    }

    /// The answer to `turn/start` names the turn; so does `turn/started`, which may come first.
    pub(crate) fn turn_known(&mut self, id: &str, now: Instant, steps: &mut Steps) {
        if self.turn_id.is_some() {
            return;
        }
        self.turn_id = Some(TurnId::from(id));
        if self.interrupt != Interrupt::None {
            self.send_interrupt(now, steps);
        }
        for (turn_id, event) in std::mem::take(&mut self.held) {
            self.on_event(&turn_id, event, now, steps);
        }
    }

    pub(crate) fn on_event(
        &mut self,
        turn_id: &str,
        event: ThreadEvent<'_>,
        now: Instant,
        steps: &mut Steps,
    ) {
        if matches!(event, ThreadEvent::TurnStarted) {
            return self.turn_known(turn_id, now, steps);
        }
        match &self.turn_id {
            None => self.hold(turn_id, event, now, steps),
            Some(id) if id.as_str() != turn_id => {
                steps.push_back(Step::Count(Counter::StaleEvent));
            }
            Some(_) => {
                self.last_event_at = now;
                match self.phase {
                    Phase::Running => self.run(event, now, steps),
                    Phase::Held => self.wait_for_outputs(&event, now, steps),
                    Phase::Ending { .. } => self.wind_down(&event, steps),
                    Phase::Closed => steps.push_back(Step::Count(Counter::StaleEvent)),
                }
            }
        }
    }

    /// Keeps an event until the turn has a name. What the log reports can be left out.
    fn hold(&mut self, turn_id: &str, event: ThreadEvent<'_>, now: Instant, steps: &mut Steps) {
        if let ThreadEvent::Logged(logged) = &event {
            let held: usize = self.held.iter().map(|(_, held)| held.log_bytes()).sum();
            if self.held.len() < MAX_HELD && held + logged.bytes() <= MAX_HELD_LOG_BYTES {
                self.held.push((turn_id.to_owned(), event.into_owned()));
            }
            return;
        }
        if self.held.len() >= MAX_HELD {
            self.held.retain(|(_, held)| !matches!(held, ThreadEvent::Logged(_)));
        }
        if self.held.len() < MAX_HELD {
            self.held.push((turn_id.to_owned(), event.into_owned()));
        } else {
            let words = "Codex speaks of a turn without naming it";
            self.fail(Failure::new(FailureKind::Unexpected, words), now, steps);
        }
    }

    /// Codex asks us to run a tool. It stays unanswered: the client will run it.
    pub(crate) fn on_tool_request(&mut self, call: PendingCall, now: Instant, steps: &mut Steps) {
        self.last_event_at = now;
        self.pending_calls.push(call);
        self.tell_if_held(steps);
    }

    /// Time has passed.
    pub(crate) fn on_tick(&mut self, now: Instant, steps: &mut Steps) {
        if self.interrupt_sent_at.is_some_and(|at| now.duration_since(at) >= INTERRUPT_AGAIN) {
            self.send_interrupt(now, steps);
        }
        let silence = now.duration_since(self.last_event_at);
        match self.phase {
            Phase::Running if self.refusals.is_overdue(now) => self.give_up_refusal(now, steps),
            Phase::Running if self.interrupt == Interrupt::Consumers => {
                if silence >= END_GRACE {
                    steps.push_back(Step::Emit(TurnEvent::End(TurnEnd::Interrupted)));
                    self.close_unconfirmed(steps);
                }
            }
            Phase::Running if now.duration_since(self.started_at) >= self.limits.timeout => {
                let limit = self.limits.timeout;
                let words = format!("the turn took longer than {limit:?}");
                self.fail(Failure::new(FailureKind::Timeout, words), now, steps);
            }
            Phase::Running if silence >= self.limits.idle_timeout => {
                let limit = self.limits.idle_timeout;
                let words = format!("no event from Codex for {limit:?}");
                self.fail(Failure::new(FailureKind::Timeout, words), now, steps);
            }
            Phase::Running => {
                let due = self.limits.probe_after.is_some_and(|limit| silence >= limit);
                if due && !self.pending_calls.is_empty() {
                    steps.push_back(Step::Count(Counter::Probe));
                    // The thread has answers in it that no client gave.
                    self.notes = Notes::None;
                    let calls = self.pending_calls.drain(..);
                    steps.extend(calls.map(|call| Step::RejectCall(call.request)));
                }
            }
            Phase::Ending { since } => {
                if now.duration_since(since) >= END_GRACE {
                    self.close_unconfirmed(steps);
                }
            }
            Phase::Held | Phase::Closed => {}
        }
    }

    fn run(&mut self, event: ThreadEvent<'_>, now: Instant, steps: &mut Steps) {
        if self.early.is_open() && is_output_beside_a_call(&event) {
            return self.distrust_log("something else came before a call was whole", now, steps);
        }
        if self.refusals.is_awaited() && !leaves_a_refusal_open(&event) {
            self.give_up_refusal(now, steps);
            if self.phase != Phase::Running {
                return self.wind_down(&event, steps);
            }
        }
        match event {
            ThreadEvent::TurnStarted | ThreadEvent::Other => {}
            ThreadEvent::Logged(event) => self.on_logged(event, now, steps),
            ThreadEvent::TurnCompleted { status: TurnStatus::Completed, .. }
                if self.refusals.is_awaited() =>
            {
                self.refusals.turn_completed(now);
            }
            ThreadEvent::TurnCompleted { status, error } => {
                self.refuse_if_nothing_else(status, steps);
                let last = self.last_event(status, error);
                let can_go_on = last == TurnEvent::End(TurnEnd::Completed)
                    && self.interrupt == Interrupt::None
                    && matches!(self.notes, Notes::Told);
                steps.push_back(Step::Emit(last));
                if can_go_on {
                    steps.push_back(Step::Settle(ThreadState::Idle));
                    self.phase = Phase::Closed;
                } else {
                    self.close(steps);
                }
            }
            ThreadEvent::Error { error, will_retry: false } => {
                self.finish(TurnEvent::Failed(from_codex(&error)), now, steps);
            }
            ThreadEvent::Error { error, will_retry: true } => {
                if self.has_emitted() {
                    let detail = error.additional_details.unwrap_or(error.message);
                    self.refuse_repetition(&detail, now, steps);
                } else {
                    self.untold_reasoning.clear();
                    self.open_message = None;
                    self.untold_message = None;
                    self.early.stop();
                    // Who knows what the first try has left in the thread.
                    self.notes = Notes::None;
                    steps.push_back(Step::Count(Counter::CodexRetry));
                }
            }
            ThreadEvent::HistoryReplaced => {
                let words = "Codex replaces the history by a summary of its own";
                self.fail(Failure::new(FailureKind::Unexpected, words), now, steps);
            }
            ThreadEvent::MessageCompleted(whole) => {
                self.complete_message(&whole, now, steps);
                self.early.on_item();
                self.open_next_call(now, steps);
            }
            // What comes when the notes are closed, nobody could go on from.
            ThreadEvent::NewItem { kind: ItemKind::Other, .. } if self.response_ended => {
                self.notes = Notes::None;
            }
            ThreadEvent::NewItem { raw, kind: ItemKind::Other } => self.note(&raw),
            _ if self.response_ended => self.refuse_second_request(now, steps),
            ThreadEvent::ReasoningStarted => {}
            // Nothing comes between the start of a call and its end.
            ThreadEvent::Text(text) if text.is_empty() && self.early.is_open() => {}
            ThreadEvent::Text(text) => {
                if let Some(message) = &mut self.open_message {
                    message.stream(&text);
                }
                self.text(text.into_owned(), steps);
            }
            ThreadEvent::Reasoning { kind, part, text } => {
                self.output(TurnEvent::Reasoning { kind, part, text: text.into_owned() }, steps);
            }
            ThreadEvent::NewItem { raw, kind: ItemKind::Reasoning(item) } => {
                self.note(&raw);
                if self.has_emitted() {
                    steps.push_back(Step::Emit(TurnEvent::ReasoningItem(item)));
                } else {
                    self.untold_reasoning.push(item);
                }
                self.early.on_item();
                self.open_next_call(now, steps);
            }
            ThreadEvent::MessageStarted(phase) => match &self.open_message {
                None => {
                    self.open_message = Some(Streamed::new());
                    self.untold_message = Some(Begun { phase });
                }
                Some(open) if open.is_empty() => self.fail(withheld(), now, steps),
                Some(_) => {
                    self.refuse_repetition("a second message began in an open one", now, steps);
                }
            },
            ThreadEvent::NewItem { raw, kind: ItemKind::Call(call) } => {
                self.note(&raw);
                if let Notes::Open(keeping) = &mut self.notes {
                    keeping.on_call(&call);
                }
                self.complete_call(call, now, steps);
            }
            ThreadEvent::ResponseCompleted { response_id, usage } if self.withholds_all() => {
                self.await_refusal(response_id, usage, now, steps);
            }
            ThreadEvent::ResponseCompleted { response_id, usage } => {
                self.response_ended = true;
                let said = self.close_notes(usage.as_ref());
                let is_held = self.calls > 0 && said.is_some();
                if self.calls > 0 && !is_held {
                    // First of all: Codex answers unknown and malformed calls itself and would
                    // ask the model again.
                    self.ask_interrupt(Interrupt::Ours, now, steps);
                }
                self.emit_reasoning(steps);
                steps.extend(said.map(Step::Say));
                steps.push_back(Step::Emit(TurnEvent::ResponseEnd { response_id, usage }));
                if self.calls > 0 {
                    self.finish(TurnEvent::End(TurnEnd::ToolCalls), now, steps);
                }
                if is_held {
                    self.phase = Phase::Held;
                    self.tell_if_held(steps);
                }
            }
        }
    }

    /// Nothing is lost if the upstream sends no deltas, or not all of them.
    fn complete_message(&mut self, whole: &str, now: Instant, steps: &mut Steps) {
        if self.said == Speech::Nothing {
            self.said = Speech::AnEmptyMessage;
        }
        let Some(message) = self.open_message.take() else { return };
        match message.rest(whole) {
            Ok("") => {}
            Ok(rest) if !self.response_ended => {
                self.text(rest.to_owned(), steps);
            }
            Ok(_) | Err(Contradiction) => {
                let words = "a message differs from what was streamed of it";
                self.fail(Failure::new(FailureKind::Unexpected, words), now, steps);
            }
        }
    }

    fn text(&mut self, text: String, steps: &mut Steps) {
        if text.is_empty() {
            return self.output(TurnEvent::Text(text), steps);
        }
        let is_another = std::mem::replace(&mut self.has_text, true);
        if let Some(Begun { phase }) = self.untold_message.take()
            && (is_another || phase.is_some())
        {
            self.output(TurnEvent::MessageStart { phase }, steps);
        }
        self.output(TurnEvent::Text(text), steps);
    }

    fn output(&mut self, event: TurnEvent, steps: &mut Steps) {
        self.emit_reasoning(steps);
        self.said = Speech::Something;
        steps.push_back(Step::Emit(event));
    }

    fn emit_reasoning(&mut self, steps: &mut Steps) {
        let untold = self.untold_reasoning.drain(..);
        steps.extend(untold.map(|item| Step::Emit(TurnEvent::ReasoningItem(item))));
    }
}

#[cfg(test)]
mod tests;
