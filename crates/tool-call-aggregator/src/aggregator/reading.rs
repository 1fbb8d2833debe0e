//! What the readers of payloads report.

use super::ToolCallAggregator;
use crate::call::Origin;
use crate::event::{CallEvent, Position};
use crate::sequence::Admission;
use crate::wire::Stamp;

// === impl ToolCallAggregator ===

impl ToolCallAggregator {
    /// Whether an event with this stamp is new; one without any always is.
    pub(crate) fn admit(&mut self, choice: u32, stamp: Stamp<'_>) -> bool {
        self.sequence = stamp.sequence;
        self.is_late = false;
        if stamp.is_blank() {
            return true;
        }
        let responses = &mut self.turn.responses;
        // A payload may name any choice: those without calls must not fill the memory.
        if responses.len() >= self.limits.calls && !responses.contains_key(&choice) {
            return true;
        }
        match responses.entry(choice).or_default().admit(stamp) {
            Admission::Current => true,
            Admission::New => {
                if let Some(calls) = self.turn.choices.get_mut(&choice) {
                    calls.forget_output_indices();
                }
                true
            }
            Admission::Late => {
                self.is_late = true;
                true
            }
            Admission::Repeated => false,
        }
    }

    /// An event of one call.
    pub(crate) fn on_call(&mut self, choice: u32, event: &CallEvent<'_>) {
        // The positions of an earlier response now belong to other calls.
        let is_misplaced = self.is_late && matches!(event.position, Some(Position::OutputIndex(_)));
        let position = event.position.filter(|_| !is_misplaced);
        let event = CallEvent { position, ..*event };
        if !(is_misplaced && event.normalised().is_anonymous()) {
            self.apply(choice, &event, Origin::Structured);
        }
    }

    /// The backend makes one call at a time.
    pub(crate) fn on_no_parallel_calls(&mut self) {
        self.turn.no_parallel_calls = true;
    }
}
