//! What the child's log brings: arguments of calls before they are whole, and the text of refusals.

use std::time::{Duration, Instant};

use model_turn::{Failure, FailureKind, TokenUsage, ToolCall, TurnEnd, TurnEvent};

use super::ending::withheld;
use super::{Interrupt, Notes, Phase, Speech, Step, Steps, TurnMachine};
use crate::child_log::LogEvent;
use crate::custom_input::InputDecoder;
use crate::protocol::incoming::TurnStatus;
use crate::turn::streamed::{Contradiction, Streamed};
use crate::turn::thread_event::{ItemKind, ThreadEvent};

/// How long after the end of a turn the log may bring the text of a refusal.
const REFUSAL_GRACE: Duration = Duration::from_millis(100);

/// Codex shows a refusal as a message that begins and never ends; the log has its text.
#[derive(Debug)]
pub(super) enum Refusals {
    /// The log is not used.
    Unknown,
    /// No message was withheld yet.
    None,
    /// This is the text of one that may be withheld.
    Known(String),
    /// The response has ended with a message withheld, and its text is waited for.
    Awaited(Withheld),
}

/// A response that has ended with a message withheld.
#[derive(Debug)]
pub(super) struct Withheld {
    response_id: String,
    usage: Option<TokenUsage>,
    since: Instant,
    turn_completed: bool,
}

// === impl TurnMachine ===

impl TurnMachine {
    pub(super) fn on_logged(&mut self, event: LogEvent, now: Instant, steps: &mut Steps) {
        match event {
            LogEvent::CallStarted(call) => {
                self.early.on_started(call);
                self.open_next_call(now, steps);
            }
            LogEvent::Arguments { item_id, offset, text } => {
                if let Some(text) = self.early.on_arguments(&item_id, offset, text) {
                    self.stream_arguments(text, steps);
                }
            }
            LogEvent::Refusal(text) => {
                match std::mem::replace(&mut self.refusals, Refusals::None) {
                    Refusals::Unknown => self.refusals = Refusals::Unknown,
                    Refusals::None | Refusals::Known(_) => self.refusals = Refusals::Known(text),
                    Refusals::Awaited(response) => self.refuse(text, response, steps),
                }
            }
        }
    }

    /// Begins to stream the call that is next, if the log has announced it.
    pub(super) fn open_next_call(&mut self, now: Instant, steps: &mut Steps) {
        let takes_output = self.phase == Phase::Running
            && self.interrupt == Interrupt::None
            && !self.response_ended
            && self.open_message.is_none();
        if takes_output && let Some((call, arguments)) = self.early.open_next(now) {
            let kind = self.names.declared(&call.name).unwrap_or_default();
            let (call_id, name) = (call.call_id.clone(), self.names.original(&call.name));
            self.input = kind.is_custom().then(InputDecoder::default);
            self.output(TurnEvent::ToolCallStart { call_id, name, kind }, steps);
            self.stream_arguments(arguments, steps);
        }
    }

    /// More arguments of the call that is being streamed.
    fn stream_arguments(&mut self, arguments: String, steps: &mut Steps) {
        let text = match &mut self.input {
            Some(input) => input.push(&arguments),
            None => arguments,
        };
        if !text.is_empty() {
            self.output(TurnEvent::ToolCallArguments(text), steps);
        }
    }

    /// A call is whole. It confirms the one that was streamed, if one was.
    pub(super) fn complete_call(&mut self, call: ToolCall, now: Instant, steps: &mut Steps) {
        match self.early.on_call(&call) {
            Ok(None) => {}
            Ok(Some(start)) => steps.push_back(Step::HeadStart(now.duration_since(start))),
            Err(Contradiction) => {
                let reason = "a call differs from what was streamed of it";
                return self.distrust_log(reason, now, steps);
            }
        }
        self.calls += 1;
        let call = self.names.translated(call);
        self.output(TurnEvent::ToolCall(call), steps);
        self.open_next_call(now, steps);
    }

    /// Standard output is right, and something else was sent already.
    pub(super) fn distrust_log(&mut self, reason: &'static str, now: Instant, steps: &mut Steps) {
        steps.push_back(Step::DistrustLog(reason));
        self.fail(Failure::new(FailureKind::Unexpected, reason), now, steps);
    }

    /// Whether the response ends with a message of which nothing came, and without calls.
    pub(super) fn withholds_all(&self) -> bool {
        self.calls == 0 && self.open_message.as_ref().is_some_and(Streamed::is_empty)
    }

    /// The response has ended with a message withheld.
    pub(super) fn await_refusal(
        &mut self,
        response_id: String,
        usage: Option<TokenUsage>,
        now: Instant,
        steps: &mut Steps,
    ) {
        let response = Withheld { response_id, usage, since: now, turn_completed: false };
        match std::mem::replace(&mut self.refusals, Refusals::None) {
            Refusals::Known(text) => self.refuse(text, response, steps),
            Refusals::None => self.refusals = Refusals::Awaited(response),
            Refusals::Unknown => {
                self.refusals = Refusals::Unknown;
                self.withhold(response, now, steps);
            }
            Refusals::Awaited(_) => self.withhold(response, now, steps),
        }
    }

    /// The text did not come in time.
    pub(super) fn give_up_refusal(&mut self, now: Instant, steps: &mut Steps) {
        if let Refusals::Awaited(response) = std::mem::replace(&mut self.refusals, Refusals::None) {
            self.withhold(response, now, steps);
        }
    }

    /// A turn that ends without any other output may have refused in a way that shows nowhere else.
    pub(super) fn refuse_if_nothing_else(&mut self, status: TurnStatus, steps: &mut Steps) {
        if status == TurnStatus::Completed
            && self.said == Speech::Nothing
            && let Refusals::Known(text) = std::mem::replace(&mut self.refusals, Refusals::None)
        {
            self.notes = Notes::None;
            // It was withheld, and its text was late, but not too late.
            self.open_message = None;
            self.output(TurnEvent::Refusal(text), steps);
        }
    }

    /// The answer is a refusal, with its text.
    fn refuse(&mut self, text: String, response: Withheld, steps: &mut Steps) {
        let Withheld { response_id, usage, turn_completed, .. } = response;
        self.open_message = None;
        // A client's history cannot say what the thread has had.
        self.notes = Notes::None;
        self.output(TurnEvent::Refusal(text), steps);
        self.response_ended = true;
        steps.push_back(Step::Emit(TurnEvent::ResponseEnd { response_id, usage }));
        if turn_completed {
            steps.push_back(Step::Emit(TurnEvent::End(TurnEnd::Completed)));
            self.close(steps);
        }
    }

    /// The answer is a refusal without a text.
    fn withhold(&mut self, response: Withheld, now: Instant, steps: &mut Steps) {
        let Withheld { response_id, usage, turn_completed, .. } = response;
        self.notes = Notes::None;
        // After text the end of the response would look like a good one.
        if self.said != Speech::Something {
            self.response_ended = true;
            self.emit_reasoning(steps);
            steps.push_back(Step::Emit(TurnEvent::ResponseEnd { response_id, usage }));
        } else if !turn_completed {
            return self.fail(withheld(), now, steps);
        }
        if turn_completed {
            steps.push_back(Step::Emit(TurnEvent::Failed(withheld())));
            self.close(steps);
        }
    }
}

// === impl Refusals ===

impl Refusals {
    pub(super) fn new(log_is_used: bool) -> Self {
        if log_is_used { Self::None } else { Self::Unknown }
    }

    pub(super) fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited(_))
    }

    /// Whether its text is all that is waited for, because Codex has ended the turn.
    pub(super) fn is_last(&self) -> bool {
        matches!(self, Self::Awaited(response) if response.turn_completed)
    }

    /// Codex has ended the turn: the text may still be on its way.
    pub(super) fn turn_completed(&mut self, now: Instant) {
        if let Self::Awaited(response) = self {
            response.since = now;
            response.turn_completed = true;
        }
    }

    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        matches!(self, Self::Awaited(response) if now.duration_since(response.since) >= REFUSAL_GRACE)
    }
}

/// Items of a response come one after the other. Output beside a call that is still being written would
/// be in another order than without the log.
pub(super) fn is_output_beside_a_call(event: &ThreadEvent<'_>) -> bool {
    match event {
        ThreadEvent::Text(text) => !text.is_empty(),
        ThreadEvent::Reasoning { .. }
        | ThreadEvent::ReasoningStarted
        | ThreadEvent::MessageStarted(_)
        | ThreadEvent::MessageCompleted(_)
        | ThreadEvent::NewItem { kind: ItemKind::Reasoning(_), .. }
        | ThreadEvent::ResponseCompleted { .. } => true,
        ThreadEvent::TurnStarted
        | ThreadEvent::HistoryReplaced
        | ThreadEvent::NewItem { kind: ItemKind::Call(_) | ItemKind::Other, .. }
        | ThreadEvent::Error { .. }
        | ThreadEvent::TurnCompleted { .. }
        | ThreadEvent::Logged(_)
        | ThreadEvent::Other => false,
    }
}

/// Whether the text of a refusal may still come after this.
pub(super) fn leaves_a_refusal_open(event: &ThreadEvent<'_>) -> bool {
    matches!(
        event,
        ThreadEvent::TurnStarted
            | ThreadEvent::Other
            | ThreadEvent::Logged(_)
            | ThreadEvent::NewItem { kind: ItemKind::Other, .. }
            | ThreadEvent::TurnCompleted { status: TurnStatus::Completed, .. }
    )
}
