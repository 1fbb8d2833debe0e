//! What is noted down of a turn for whoever goes on in its thread, and how one waits for that.

use std::time::Instant;

use model_turn::TokenUsage;

use super::{Interrupt, PendingCall, Phase, Step, Steps, TurnMachine};
use crate::continuity::kept_thread::{Said, ThreadState};
use crate::turn::keeping::Keeping;
use crate::turn::thread_event::{ItemKind, ThreadEvent};

/// What is noted down of the turn, for whoever may go on in its thread.
#[derive(Debug)]
pub(super) enum Notes {
    /// Nothing: nobody may.
    None,
    /// The response has not ended.
    Open(Keeping),
    /// They are told. The thread can be gone on with when the turn has ended, or its calls are answered.
    Told,
}

// === impl TurnMachine ===

impl TurnMachine {
    /// Whether it waits for the outputs of its calls, and for nobody else.
    pub(crate) fn is_held(&self) -> bool {
        self.phase == Phase::Held
    }

    /// Goes on with a turn that was held, whose calls are being answered. Gives the calls.
    pub(crate) fn take_over(&mut self, held: &mut Self) -> Vec<PendingCall> {
        self.turn_id.clone_from(&held.turn_id);
        held.phase = Phase::Closed;
        let calls = std::mem::take(&mut held.pending_calls);
        // The log may still have lines about them.
        self.early.ignore(&held.early, calls.iter().map(|call| call.call_id.as_str()));
        calls
    }

    /// Nobody wants to go on in the thread.
    pub(crate) fn let_go(&mut self, now: Instant, steps: &mut Steps) {
        self.notes = Notes::None;
        if self.phase == Phase::Held {
            self.interrupt = Interrupt::Ours;
            steps.extend(self.turn_id.clone().map(Step::InterruptLater));
            self.phase = Phase::Ending { since: now };
        }
    }

    /// An item that the thread has from now on.
    pub(super) fn note(&mut self, raw: &str) {
        if let Notes::Open(keeping) = &mut self.notes
            && keeping.note(raw).is_err()
        {
            self.notes = Notes::None;
        }
    }

    /// What there is in the thread now that the response has ended, if anybody can go on from there.
    pub(super) fn close_notes(&mut self, usage: Option<&TokenUsage>) -> Option<Said> {
        let Notes::Open(keeping) = std::mem::replace(&mut self.notes, Notes::None) else {
            return None;
        };
        if self.interrupt != Interrupt::None || !keeping.is_good(usage) {
            return None;
        }
        self.notes = Notes::Told;
        Some(keeping.into_said())
    }

    /// Every call was asked for, so that every one can be answered.
    pub(super) fn tell_if_held(&self, steps: &mut Steps) {
        if self.phase == Phase::Held && self.pending_calls.len() == self.calls {
            steps.push_back(Step::Settle(ThreadState::Held));
        }
    }

    /// While its calls are unanswered nothing happens in a turn.
    pub(super) fn wait_for_outputs(
        &mut self,
        event: &ThreadEvent<'_>,
        now: Instant,
        steps: &mut Steps,
    ) {
        match event {
            ThreadEvent::TurnCompleted { .. } => return self.close(steps),
            ThreadEvent::Other
            | ThreadEvent::Logged(_)
            | ThreadEvent::TurnStarted
            | ThreadEvent::MessageCompleted(_) => return,
            ThreadEvent::Error { .. } | ThreadEvent::NewItem { kind: ItemKind::Other, .. } => {}
            _ => self.count_extra_request(steps),
        }
        steps.push_back(Step::Settle(ThreadState::Gone));
        self.notes = Notes::None;
        self.ask_interrupt(Interrupt::Ours, now, steps);
        self.phase = Phase::Ending { since: now };
    }
}
