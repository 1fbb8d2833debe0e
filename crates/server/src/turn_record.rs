//! One turn that has ended: everything that is told about it, in the log and in figures.

use std::time::{Duration, Instant, SystemTime};

use bridge::{ChoiceReport, OutputMode, StopAfterTools};
use codex_app_server::{Continued, FailureKind, FreshReason};
use store::{Tokens, UsageRow};

use crate::answering::Endpoint;
use crate::gate::{Caller, TraceContext};
use crate::recent_turns::{EndedTurn, TurnTokens};

/// Most names of calls in a line of the log.
const MOST_NAMES: usize = 32;

/// The longest of them.
const LONGEST_NAME: usize = 64;

/// A turn that has ended. Whoever tells of it gets the same record, so that all tell the same: names,
/// numbers and ids, and nothing of what was said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TurnRecord<'a> {
    pub(crate) request_id: &'a str,
    pub(crate) trace: TraceContext,
    pub(crate) endpoint: Endpoint,
    /// Whose key it came with.
    pub(crate) key: &'a Caller,
    /// Which of the request's choices.
    pub(crate) choice: usize,
    /// As the client names it, and the real one.
    pub(crate) model: &'a str,
    pub(crate) backend_model: &'a str,
    pub(crate) streamed: bool,
    pub(crate) mode: OutputMode,
    pub(crate) stop_after_tools: StopAfterTools,
    /// Settings that differ from their defaults.
    pub(crate) settings: &'a str,
    /// What was asked for and has no effect.
    pub(crate) ignored: &'a str,
    /// How it got its thread.
    pub(crate) continued: Continued,
    pub(crate) report: &'a ChoiceReport,
    pub(crate) times: TurnTimes,
}

/// When a turn came how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TurnTimes {
    /// The request's head was there.
    pub(crate) received: Instant,
    /// The turn was let in.
    pub(crate) admitted: Instant,
    /// The first event of the backend, for any choice of the request.
    pub(crate) first_event: Option<Instant>,
    /// The first text, reasoning or call for the client, of any choice.
    pub(crate) first_token: Option<Instant>,
    /// The whole request has ended.
    pub(crate) ended: Instant,
}

// === impl TurnRecord ===

impl TurnRecord<'_> {
    /// Writes its line of the log.
    pub(crate) fn log(&self) {
        let Self { report, times, .. } = self;
        let usage = report.usage.as_ref();
        // It tells the request's ids itself, and must not have them twice from the span.
        tracing::info!(
            target: "turn",
            parent: None,
            request_id = self.request_id,
            trace_id = %self.trace.trace_id,
            endpoint = self.endpoint.as_str(),
            key = self.key.name(),
            choice = self.choice,
            model = self.model,
            backend_model = self.backend_model,
            stream = self.streamed,
            output_mode = self.mode.as_str(),
            has_tool_calls = report.call_count > 0,
            tool_call_count = report.call_count,
            tool_call_names = listed(&report.call_names),
            tool_call_ids = listed(&report.call_ids),
            tool_call_truncated = report.truncated,
            arguments_streamed = report.streamed_calls,
            stop_after_tools_mode = self.stop_after_tools.as_str(),
            stop_reason = report.end.as_str(),
            failure = report.failure.map(FailureKind::as_str),
            suppressed_bytes = report.suppressed_bytes,
            continuity = self.continued.as_str(),
            fresh_reason = self.continued.fresh_reason().map(FreshReason::as_str),
            settings = self.settings,
            ignored_params = self.ignored,
            queue_ms = millis(times.queued()),
            first_event_ms = times.to_first_event().map(millis),
            first_token_ms = times.to_first_token().map(millis),
            duration_ms = millis(times.whole()),
            prompt_tokens = usage.map(|usage| usage.input_tokens),
            cached_tokens = usage.map(|usage| usage.cached_input_tokens),
            completion_tokens = usage.map(|usage| usage.output_tokens),
            reasoning_tokens = usage.map(|usage| usage.reasoning_output_tokens),
            "a turn has ended"
        );
    }

    /// What whoever watches is told of it.
    pub(crate) fn ended(&self) -> EndedTurn {
        let Self { report, times, .. } = self;
        EndedTurn {
            stop_reason: report.end.as_str(),
            failed: report.end.is_failure(),
            failure: report.failure.map(FailureKind::as_str),
            tool_calls: told(&report.call_names),
            tool_call_count: report.call_count,
            truncated: report.truncated,
            continuity: self.continued.as_str(),
            tokens: report.usage.as_ref().map(|usage| TurnTokens {
                prompt: usage.input_tokens,
                cached: usage.cached_input_tokens,
                completion: usage.output_tokens,
                reasoning: usage.reasoning_output_tokens,
            }),
            queue_ms: millis(times.queued()),
            first_event_ms: times.to_first_event().map(millis),
            first_token_ms: times.to_first_token().map(millis),
            duration_ms: millis(times.whole()),
        }
    }

    /// What is kept of it.
    pub(crate) fn usage_row(&self, ended_at: SystemTime) -> UsageRow {
        let Self { report, times, .. } = self;
        UsageRow {
            ended_at,
            request_id: self.request_id.to_owned(),
            choice: self.choice,
            key_id: self.key.id().to_owned(),
            key_name: self.key.name().to_owned(),
            model: self.model.to_owned(),
            backend_model: self.backend_model.to_owned(),
            endpoint: self.endpoint.as_str(),
            streamed: self.streamed,
            output_mode: self.mode.as_str(),
            stop_mode: self.stop_after_tools.as_str(),
            stop_reason: report.end.as_str(),
            failed: report.end.is_failure(),
            tool_call_count: report.call_count,
            truncated: report.truncated,
            tokens: report.usage.as_ref().map(|usage| Tokens {
                prompt: usage.input_tokens,
                cached: usage.cached_input_tokens,
                completion: usage.output_tokens,
                reasoning: usage.reasoning_output_tokens,
            }),
            queued: times.queued(),
            to_first_token: times.to_first_token(),
            duration: times.whole(),
        }
    }
}

// === impl TurnTimes ===

impl TurnTimes {
    /// From the request's head to its place among the turns.
    pub(crate) fn queued(self) -> Duration {
        self.admitted - self.received
    }

    /// From there to the first event of the backend.
    pub(crate) fn to_first_event(self) -> Option<Duration> {
        self.first_event.map(|at| at - self.admitted)
    }

    /// From the request's head to the first token for the client.
    pub(crate) fn to_first_token(self) -> Option<Duration> {
        self.first_token.map(|at| at - self.received)
    }

    /// From the request's head to its end.
    pub(crate) fn whole(self) -> Duration {
        self.ended - self.received
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
