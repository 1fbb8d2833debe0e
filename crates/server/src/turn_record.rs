//! One turn that has ended: everything that is told about it, in the log and in figures.

use std::time::{Duration, Instant, SystemTime};

use bridge::{ChoiceReport, Milestones};
use codex_app_server::{Continued, FreshReason};
use model_turn::FailureKind;
use store::UsageRow;

use crate::recent_turns::EndedTurn;
use crate::request_info::RequestInfo;

/// Most names of calls in a line of the log.
const MOST_NAMES: usize = 32;

/// The longest of them.
const LONGEST_NAME: usize = 64;

/// A turn that has ended. Log, metrics, usage and page are written from the same record: names, numbers
/// and ids, and nothing of its content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnRecord<'a> {
    pub(crate) request: &'a RequestInfo,
    /// Which of the request's choices.
    pub(crate) choice: usize,
    /// How it got its thread.
    pub(crate) continued: Continued,
    pub(crate) report: &'a ChoiceReport,
    /// Those of the whole request.
    pub(crate) milestones: Milestones,
    /// When the whole request ended.
    pub(crate) ended: Instant,
}

// === impl TurnRecord ===

impl TurnRecord<'_> {
    /// Writes its line of the log.
    pub(crate) fn log(&self) {
        let Self { request, report, .. } = *self;
        let usage = report.usage.as_ref();
        // It tells the request's ids itself, and must not have them twice from the span.
        tracing::info!(
            target: "turn",
            parent: None,
            request_id = request.id,
            trace_id = %request.trace.trace_id,
            endpoint = request.endpoint.as_str(),
            key = request.key.name(),
            choice = self.choice,
            model = request.model,
            backend_model = request.backend_model,
            stream = request.stream,
            output_mode = request.mode.as_str(),
            has_tool_calls = report.call_count > 0,
            tool_call_count = report.call_count,
            tool_call_names = listed(&report.call_names),
            tool_call_ids = listed(&report.call_ids),
            tool_call_truncated = report.truncated,
            arguments_streamed = report.streamed_calls,
            stop_after_tools_mode = request.stop_after_tools.as_str(),
            stop_reason = report.end.as_str(),
            failure = report.failure.map(FailureKind::as_str),
            suppressed_bytes = report.suppressed_bytes,
            continuity = self.continued.as_str(),
            fresh_reason = self.continued.fresh_reason().map(FreshReason::as_str),
            settings = &*request.settings,
            ignored_params = request.ignored.join(","),
            queue_ms = millis(self.queued()),
            first_event_ms = self.first_event().map(millis),
            first_token_ms = self.first_token().map(millis),
            duration_ms = millis(self.duration()),
            prompt_tokens = usage.map(|usage| usage.input_tokens),
            cached_tokens = usage.map(|usage| usage.cached_input_tokens),
            completion_tokens = usage.map(|usage| usage.output_tokens),
            reasoning_tokens = usage.map(|usage| usage.reasoning_output_tokens),
            "a turn has ended"
        );
    }

    /// What whoever watches is told of it.
    pub(crate) fn ended(&self) -> EndedTurn {
        let Self { report, .. } = *self;
        EndedTurn {
            stop_reason: report.end.as_str(),
            failed: report.end.is_failure(),
            failure: report.failure.map(FailureKind::as_str),
            tool_calls: told(&report.call_names),
            tool_call_count: report.call_count,
            truncated: report.truncated,
            continuity: self.continued.as_str(),
            tokens: report.usage,
            queue_ms: millis(self.queued()),
            first_event_ms: self.first_event().map(millis),
            first_token_ms: self.first_token().map(millis),
            duration_ms: millis(self.duration()),
        }
    }

    /// What is kept of it.
    pub(crate) fn usage_row(&self, ended_at: SystemTime) -> UsageRow {
        let Self { request, report, .. } = *self;
        UsageRow {
            ended_at,
            request_id: request.id.clone(),
            choice: self.choice,
            key_id: request.key.id().to_owned(),
            key_name: request.key.name().to_owned(),
            model: request.model.clone(),
            backend_model: request.backend_model.clone(),
            endpoint: request.endpoint.as_str(),
            streamed: request.stream,
            output_mode: request.mode.as_str(),
            stop_mode: request.stop_after_tools.as_str(),
            stop_reason: report.end.as_str(),
            failed: report.end.is_failure(),
            tool_call_count: report.call_count,
            truncated: report.truncated,
            tokens: report.usage,
            queued: self.queued(),
            to_first_token: self.first_token(),
            duration: self.duration(),
        }
    }

    /// From the request's head to its slot among the turns.
    fn queued(&self) -> Duration {
        self.request.admitted - self.request.received
    }

    /// From there to the first event of the backend, for any choice of the request.
    fn first_event(&self) -> Option<Duration> {
        self.milestones.first_event.map(|at| at - self.request.admitted)
    }

    /// From the request's head to the first token for the client, of any choice.
    pub(crate) fn first_token(&self) -> Option<Duration> {
        self.milestones.first_token.map(|(_, at)| at - self.request.received)
    }

    /// From the request's head to its end.
    fn duration(&self) -> Duration {
        self.ended - self.request.received
    }
}

/// The same in one text, for the log.
fn listed(names: &[String]) -> String {
    told(names).join(",")
}

/// Names or ids. A model can say anything where a name should be: what does not look like one is not
/// told, and neither is more than a person would read.
fn told(names: &[String]) -> Vec<String> {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/".contains(&byte);
    let one = |name: &String| {
        let is_a_name = (1..=LONGEST_NAME).contains(&name.len()) && name.bytes().all(is_usual);
        if is_a_name { name.clone() } else { "(unusual)".to_owned() }
    };
    let mut told: Vec<String> = names.iter().take(MOST_NAMES).map(one).collect();
    if let Some(more) = names.len().checked_sub(MOST_NAMES).filter(|more| *more > 0) {
        told.push(format!("({more} more)"));
    }
    told
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
