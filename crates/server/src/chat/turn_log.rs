//! What is told about the turns of a request: log lines, counters, headers, and the comment at the end
//! of a stream.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{ChoiceReport, OutputMode, StopAfterTools};
use serde::Serialize;

use crate::content_log::ContentLog;
use crate::gate::Caller;
use crate::metrics::Metrics;

/// Most names of calls in a line of the log.
const MOST_NAMES: usize = 32;

/// The longest of them.
const LONGEST_NAME: usize = 64;

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
                tool_call_names = listed(&report.call_names),
                tool_call_ids = listed(&report.call_ids),
                tool_call_truncated = report.truncated,
                stop_after_tools_mode = self.stop_after_tools.as_str(),
                stop_reason = report.end.as_str(),
                suppressed_bytes = report.suppressed_bytes,
                settings = &*self.settings,
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

/// Names or ids for the log. A model can say anything where a name should be: what does not look like
/// one is not told, and neither is more than a person would read.
fn listed(names: &[String]) -> String {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    let told = |name: &String| {
        let is_a_name = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_usual);
        if is_a_name { name.clone() } else { "(unusual)".to_owned() }
    };
    let mut listed: Vec<String> = names.iter().take(MOST_NAMES).map(told).collect();
    if let Some(more) = names.len().checked_sub(MOST_NAMES).filter(|more| *more > 0) {
        listed.push(format!("({more} more)"));
    }
    listed.join(",")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_9_a_name_that_is_none_is_not_logged() {
        let names = ["get_weather", "a.b:c-d/e", "", "my secret prompt", "a\nb", "\u{1b}[31m", "é"];
        let long = "x".repeat(LONGEST_NAME + 1);
        let names: Vec<_> = names.into_iter().chain([long.as_str()]).map(str::to_owned).collect();
        let expected = ["get_weather", "a.b:c-d/e"].into_iter().chain(["(unusual)"; 6]);
        assert_eq!(listed(&names), expected.collect::<Vec<_>>().join(","));
        let many = vec!["a".to_owned(); 1_024];
        assert_eq!(listed(&many), format!("{}({} more)", "a,".repeat(32), 1_024 - 32));
        assert_eq!(listed(&[]), "");
    }
}
