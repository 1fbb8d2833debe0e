//! What is told about the turns of a request: log lines, counters, headers, and the comment at the end
//! of a stream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{ChoiceReport, OutputMode, StopAfterTools};
use serde::Serialize;

use crate::content_log::ContentLog;
use crate::gate::Caller;
use crate::metrics::Metrics;

/// What is known about a request's turns before they run.
#[derive(Debug)]
pub(super) struct TurnLog {
    pub(super) request_id: String,
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
    pub(super) content: ContentLog,
}

#[derive(Serialize)]
struct Telemetry {
    #[serde(flatten)]
    calls: CallTelemetry,
    stop_after_tools_mode: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    per_choice: Vec<CallTelemetry>,
}

#[derive(Serialize)]
struct CallTelemetry {
    tool_call_count: usize,
    tool_call_truncated: bool,
}

// === impl TurnLog ===

impl TurnLog {
    /// The comment at the end of a stream.
    pub(super) fn telemetry(&self, reports: &[ChoiceReport]) -> String {
        let one = |report: &ChoiceReport| CallTelemetry {
            tool_call_count: report.call_count,
            tool_call_truncated: report.truncated,
        };
        let telemetry = Telemetry {
            calls: CallTelemetry {
                tool_call_count: call_count(reports),
                tool_call_truncated: is_truncated(reports),
            },
            stop_after_tools_mode: self.stop_after_tools.as_str(),
            per_choice: if reports.len() > 1 { reports.iter().map(one).collect() } else { vec![] },
        };
        serde_json::to_string(&telemetry).unwrap_or_default()
    }

    /// Counts and logs what became of each turn: names, numbers and ids. Content is apart.
    pub(super) fn turns_ended(&self, reports: &[ChoiceReport], first_event: Option<Instant>) {
        let now = Instant::now();
        for (choice, report) in reports.iter().enumerate() {
            self.metrics.turn_ended(report);
            self.content.answer(&self.request_id, choice, &report.said);
            let usage = report.usage.as_ref();
            tracing::info!(
                target: "turn",
                request_id = self.request_id,
                key = self.key.name(),
                choice,
                model = self.model,
                backend_model = self.backend_model,
                stream = self.streamed,
                output_mode = self.mode.as_str(),
                has_tool_calls = report.call_count > 0,
                tool_call_count = report.call_count,
                tool_call_names = %report.call_names.join(","),
                tool_call_ids = %report.call_ids.join(","),
                tool_call_truncated = report.truncated,
                stop_after_tools_mode = self.stop_after_tools.as_str(),
                stop_reason = report.end.as_str(),
                suppressed_bytes = report.suppressed_bytes,
                settings = %self.settings,
                queue_ms = millis(self.admitted - self.received),
                first_event_ms = first_event.map(|at| millis(at - self.admitted)),
                duration_ms = millis(now - self.received),
                prompt_tokens = usage.map(|usage| usage.input_tokens),
                cached_tokens = usage.map(|usage| usage.cached_input_tokens),
                completion_tokens = usage.map(|usage| usage.output_tokens),
                reasoning_tokens = usage.map(|usage| usage.reasoning_output_tokens),
                "a turn has ended"
            );
        }
    }
}

/// Calls of all choices.
pub(super) fn call_count(reports: &[ChoiceReport]) -> usize {
    reports.iter().map(|report| report.call_count).sum()
}

/// Whether any choice is not all that the model said.
pub(super) fn is_truncated(reports: &[ChoiceReport]) -> bool {
    reports.iter().any(|report| report.truncated)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
