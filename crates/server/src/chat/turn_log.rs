//! What is told about the turns of a request, once they have ended.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bridge::{ChoiceReport, OutputMode, StopAfterTools};
use store::Usage;

use crate::content_log::ContentLog;
use crate::gate::{Caller, Fate, TraceContext};
use crate::metrics::Metrics;
use crate::turn_record::{TurnRecord, TurnTimes};

/// What is known about a request's turns before they run.
#[derive(Debug)]
pub(super) struct TurnLog {
    pub(super) request_id: String,
    pub(super) trace: TraceContext,
    /// Whose key it came with.
    pub(super) key: Caller,
    /// As the client names it, and the real one.
    pub(super) model: String,
    pub(super) backend_model: String,
    pub(super) streamed: bool,
    pub(super) mode: OutputMode,
    pub(super) stop_after_tools: StopAfterTools,
    /// Settings that differ from their defaults.
    pub(super) settings: Arc<str>,
    pub(super) received: Instant,
    /// When the turns were let in.
    pub(super) admitted: Instant,
    pub(super) metrics: Arc<Metrics>,
    pub(super) usage: Option<Usage>,
    pub(super) fate: Fate,
    pub(super) content: ContentLog,
}

/// When the turns of a request came how far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// The first event of the backend.
    pub(super) first_event: Option<Instant>,
    /// The first of it that the client gets.
    pub(super) first_token: Option<Instant>,
}

// === impl TurnLog ===

impl TurnLog {
    /// Tells everybody what became of each turn.
    pub(super) fn turns_ended(&self, reports: &[ChoiceReport], marks: Marks) {
        let times = TurnTimes {
            received: self.received,
            admitted: self.admitted,
            first_event: marks.first_event,
            first_token: marks.first_token,
            ended: Instant::now(),
        };
        let ended_at = SystemTime::now();
        for (choice, report) in reports.iter().enumerate() {
            let turn = TurnRecord {
                request_id: &self.request_id,
                trace: self.trace,
                key: &self.key,
                choice,
                model: &self.model,
                backend_model: &self.backend_model,
                streamed: self.streamed,
                mode: self.mode,
                stop_after_tools: self.stop_after_tools,
                settings: &self.settings,
                report,
                times,
            };
            self.metrics.turn_ended(&turn);
            if let Some(usage) = &self.usage {
                usage.record(turn.usage_row(ended_at));
            }
            self.fate.turn_ended(report.end);
            turn.log();
            self.content.answer(choice, &report.said);
        }
    }
}
