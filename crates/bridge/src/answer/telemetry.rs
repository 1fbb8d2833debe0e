//! What a client is told about the calls of an answer.

use serde::Serialize;

use crate::finish::ChoiceReport;
use crate::policy::StopAfterTools;

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

/// The comment at the end of a stream.
pub(super) fn telemetry(reports: &[ChoiceReport], stop_after_tools: StopAfterTools) -> String {
    let one = |report: &ChoiceReport| CallTelemetry {
        tool_call_count: report.call_count,
        tool_call_truncated: report.truncated,
    };
    let telemetry = Telemetry {
        calls: CallTelemetry {
            tool_call_count: call_count(reports),
            tool_call_truncated: is_truncated(reports),
        },
        stop_after_tools_mode: stop_after_tools.as_str(),
        per_choice: if reports.len() > 1 { reports.iter().map(one).collect() } else { vec![] },
    };
    serde_json::to_string(&telemetry).unwrap_or_default()
}

/// Calls of all choices.
pub fn call_count(reports: &[ChoiceReport]) -> usize {
    reports.iter().map(|report| report.call_count).sum()
}

/// Whether any choice is not all that the model said.
pub fn is_truncated(reports: &[ChoiceReport]) -> bool {
    reports.iter().any(|report| report.truncated)
}
