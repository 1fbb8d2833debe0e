//! A call that is forwarded while the model writes it: started, extended, and at last whole.

use std::time::Instant;

use codex_app_server::turn::event::{ToolCall, TurnEvent};

use super::ending::Ending;
use super::{Output, Reply, Speech};
use crate::finish::EndReason;
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
        name: &str,
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
        if let Some(delta) = self.calls.start(call_id, name) {
            self.visible.begin_call(None, &self.policy.delimiter, out);
            out.call(&delta);
            self.trail.on_call(delta.id);
            self.visible.count(name);
        }
    }

    pub(super) fn on_arguments(&mut self, text: &str, out: &mut impl Output) {
        match self.calls.extend(text) {
            Ok(None) => {}
            Ok(Some(delta)) => {
                out.call(&delta);
                self.visible.count(delta.appended);
            }
            Err(failure) => self.ending = Some(Ending::Failed(failure)),
        }
    }

    /// The call that was forwarded in part is whole.
    pub(super) fn end_call(&mut self, call: &ToolCall, now: Instant, out: &mut impl Output) {
        match self.calls.complete(call) {
            Ok(rest) => {
                if let Some(rest) = rest {
                    out.call(&rest);
                    self.visible.count(rest.appended);
                }
                out.call_end();
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
