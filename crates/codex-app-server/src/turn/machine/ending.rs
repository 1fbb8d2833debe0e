//! How a turn ends: by itself, for the consumer, for us, or with its child.

use std::time::Instant;

use model_turn::{Failure, FailureKind, TurnEnd, TurnEvent};

use super::{Interrupt, Phase, Step, Steps, TurnMachine};
use crate::continuity::kept_thread::ThreadState;
use crate::failure::from_codex;
use crate::protocol::incoming::{TurnError, TurnStatus};
use crate::stats::Counter;
use crate::turn::thread_event::{ItemKind, ThreadEvent};

// === impl TurnMachine ===

impl TurnMachine {
    /// The consumer wants the turn to stop.
    pub(crate) fn interrupt(&mut self, now: Instant, steps: &mut Steps) {
        if self.phase == Phase::Running && self.interrupt == Interrupt::None {
            self.last_event_at = now;
            self.ask_interrupt(Interrupt::Consumers, now, steps);
        }
    }

    /// The consumer has gone.
    pub(crate) fn abandon(&mut self, now: Instant, steps: &mut Steps) {
        if self.phase == Phase::Running && self.refusals.is_last() {
            self.close(steps);
        } else if self.phase == Phase::Running {
            self.ask_interrupt(Interrupt::Ours, now, steps);
            self.phase = Phase::Ending { since: now };
        }
    }

    /// Ends the turn for a reason that did not come from Codex.
    pub(crate) fn fail(&mut self, failure: Failure, now: Instant, steps: &mut Steps) {
        match self.phase {
            Phase::Running if self.refusals.is_last() => {
                steps.push_back(Step::Emit(TurnEvent::Failed(failure)));
                self.close(steps);
            }
            Phase::Running => {
                self.ask_interrupt(Interrupt::Ours, now, steps);
                self.finish(TurnEvent::Failed(failure), now, steps);
            }
            Phase::Held => {
                steps.push_back(Step::Settle(ThreadState::Gone));
                self.let_go(now, steps);
            }
            Phase::Ending { .. } | Phase::Closed => {}
        }
    }

    /// Codex has not taken the turn: there is nothing to interrupt or to wait for.
    pub(crate) fn never_started(&mut self, failure: Failure, steps: &mut Steps) {
        if self.phase == Phase::Running {
            steps.push_back(Step::Emit(TurnEvent::Failed(failure)));
            self.close(steps);
        }
    }

    /// The connection is gone: there is nothing to interrupt or to wait for.
    pub(crate) fn child_gone(&mut self, reason: &str, steps: &mut Steps) {
        if self.phase == Phase::Running {
            let failure = Failure::new(FailureKind::ChildGone, reason);
            steps.push_back(Step::Emit(TurnEvent::Failed(failure)));
        }
        steps.push_back(Step::Settle(ThreadState::Gone));
        self.phase = Phase::Closed;
    }

    /// After the consumer's last event only the end matters, and a request that should not be.
    pub(super) fn wind_down(&mut self, event: &ThreadEvent<'_>, steps: &mut Steps) {
        match event {
            ThreadEvent::TurnCompleted { .. } => self.close(steps),
            ThreadEvent::MessageStarted(_)
            | ThreadEvent::ReasoningStarted
            | ThreadEvent::NewItem { kind: ItemKind::Call(_), .. }
                if self.response_ended =>
            {
                self.count_extra_request(steps);
            }
            ThreadEvent::ResponseCompleted { .. } if self.response_ended => {
                self.count_extra_request(steps);
                self.extra_request_seen = false;
            }
            ThreadEvent::ResponseCompleted { .. } => self.response_ended = true,
            _ => {}
        }
    }

    /// One that is interrupted before the model says anything leaves no trace, so this is the
    /// least there was.
    pub(super) fn count_extra_request(&mut self, steps: &mut Steps) {
        if !std::mem::replace(&mut self.extra_request_seen, true) {
            steps.push_back(Step::Count(Counter::ExtraModelRequest));
        }
    }

    /// The last event of a turn that Codex has ended.
    pub(super) fn last_event(&self, status: TurnStatus, error: Option<TurnError>) -> TurnEvent {
        match (status, error) {
            (TurnStatus::Failed, Some(error)) => TurnEvent::Failed(from_codex(&error)),
            (TurnStatus::Interrupted, _) if self.interrupt == Interrupt::Consumers => {
                TurnEvent::End(TurnEnd::Interrupted)
            }
            (TurnStatus::Completed, _) if self.early.is_open() => {
                let words = "Codex ended the turn before a call was whole";
                TurnEvent::Failed(Failure::new(FailureKind::Unexpected, words))
            }
            (TurnStatus::Completed, _) if self.calls > 0 => TurnEvent::End(TurnEnd::ToolCalls),
            (TurnStatus::Completed, _) if !self.response_ended => {
                let words = "Codex ended the turn before the response had ended";
                TurnEvent::Failed(Failure::new(FailureKind::Unexpected, words))
            }
            (TurnStatus::Completed, _) if self.open_message.is_some() => {
                TurnEvent::Failed(withheld())
            }
            (TurnStatus::Completed, _) => TurnEvent::End(TurnEnd::Completed),
            (status, _) => TurnEvent::Failed(Failure::new(
                FailureKind::Unexpected,
                format!("Codex ended the turn as {status:?} without a reason"),
            )),
        }
    }

    /// Codex starts the answer over, so that text already passed on would come again.
    pub(super) fn refuse_repetition(&mut self, detail: &str, now: Instant, steps: &mut Steps) {
        steps.push_back(Step::Count(Counter::RepeatedOutput));
        let words = format!("the upstream's stream broke after a part of the answer: {detail}");
        self.fail(Failure::new(FailureKind::StreamCut, words), now, steps);
    }

    /// The response was whole, but Codex asks the model once more: one answer is enough.
    pub(super) fn refuse_second_request(&mut self, now: Instant, steps: &mut Steps) {
        self.count_extra_request(steps);
        self.ask_interrupt(Interrupt::Ours, now, steps);
        let last = self.last_event(TurnStatus::Completed, None);
        self.finish(last, now, steps);
    }

    pub(super) fn ask_interrupt(&mut self, whose: Interrupt, now: Instant, steps: &mut Steps) {
        self.interrupt = whose;
        self.send_interrupt(now, steps);
    }

    /// Where the turn has no name yet, `turn_known` makes up for it.
    pub(super) fn send_interrupt(&mut self, now: Instant, steps: &mut Steps) {
        if let Some(turn) = self.turn_id.clone() {
            self.interrupt_sent_at = Some(now);
            steps.push_back(Step::Interrupt(turn));
        }
    }

    pub(super) fn finish(&mut self, last: TurnEvent, now: Instant, steps: &mut Steps) {
        steps.push_back(Step::Emit(last));
        self.phase = Phase::Ending { since: now };
    }

    pub(super) fn close(&mut self, steps: &mut Steps) {
        steps.push_back(Step::Settle(ThreadState::Gone));
        steps.push_back(Step::Unsubscribe);
        self.phase = Phase::Closed;
    }

    pub(super) fn close_unconfirmed(&mut self, steps: &mut Steps) {
        steps.push_back(Step::Count(Counter::UnconfirmedEnd));
        self.close(steps);
    }
}

/// Codex shows a refusal as a message that begins and never ends.
pub(super) fn withheld() -> Failure {
    Failure::new(
        FailureKind::ContentFilter,
        "the model began an answer and withheld it; Codex does not pass on the words of a refusal",
    )
}
