//! A call that is forwarded while the model writes it: started, extended, and at last whole.

use std::time::Instant;

use model_turn::{ToolCall, ToolCallKind, ToolName, TurnEvent};

use super::ending::Ending;
use super::{Reply, Speech};
use crate::finish::EndReason;
use crate::output::{Output, Piece};
use crate::policy::StopAfterTools;

// === impl Reply ===

impl Reply {
    /// Whether an event cannot come between the start and the end of a call.
    pub(super) fn is_beside_the_open_call(&self, event: &TurnEvent) -> bool {
        match event {
            TurnEvent::ToolCall(call) => !self.calls.is_open_call(&call.call_id),
            TurnEvent::ToolCallArguments(_) | TurnEvent::Failed(_) => false,
            TurnEvent::Text(text) => !text.is_empty(),
            TurnEvent::MessageStart { .. }
            | TurnEvent::Reasoning { .. }
            | TurnEvent::ReasoningItem(_)
            | TurnEvent::ToolCallStart { .. }
            | TurnEvent::Refusal(_)
            | TurnEvent::ResponseEnd { .. }
            | TurnEvent::End(_) => true,
        }
    }

    pub(super) fn on_call_start(
        &mut self,
        call_id: &str,
        name: &ToolName,
        kind: ToolCallKind,
        now: Instant,
        out: &mut impl Output,
    ) {
        self.call_open = true;
        self.speech = Speech::Something;
        // A message ends before the call that follows it.
        self.flush(now, out);
        // A block and a call may be one: that is decided when both are whole.
        if self.ending.is_some() || self.blocks.started > 0 {
            return;
        }
        if let Some(part) = self.calls.start(call_id, name, kind) {
            self.visible.begin_call(None, &self.policy.delimiter, out);
            out.write(Piece::Call(&part));
            self.trail.on_call(part.head.map_or("", |head| head.id));
            self.visible.count(&name.name);
        }
    }

    pub(super) fn on_arguments(&mut self, text: &str, out: &mut impl Output) {
        match self.calls.extend(text) {
            Ok(None) => {}
            Ok(Some(part)) => {
                out.write(Piece::Call(&part));
                self.visible.count(part.text);
            }
            Err(failure) => self.ending = Some(Ending::Failed(failure)),
        }
    }

    /// The call that was forwarded in part is whole.
    pub(super) fn end_call(&mut self, call: &ToolCall, now: Instant, out: &mut impl Output) {
        self.calls.note_deviation(call);
        match self.calls.complete(call) {
            Ok(rest) => {
                // A custom tool may have no input at all.
                if let Some(rest) = rest.filter(|rest| !rest.text.is_empty()) {
                    out.write(Piece::Call(&rest));
                    // What stands for no arguments is not the model's.
                    if !call.arguments.is_empty() {
                        self.visible.count(rest.text);
                    }
                }
                out.write(Piece::CallEnd);
            }
            Err(failure) => {
                self.ending = Some(Ending::Failed(failure));
                return;
            }
        }
        self.calls.close();
        if self.policy.stop_after_tools == StopAfterTools::First {
            self.ending = Some(Ending::Finished(EndReason::FirstCall));
        }
        self.restart_burst(now);
    }
}
