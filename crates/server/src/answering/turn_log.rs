//! What is told about the turns of a request, once they have ended.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use bridge::{ChoiceReport, OutputMode, StopAfterTools};
use codex_app_server::Continued;
use store::Usage;

use crate::content_log::ContentLog;
use crate::gate::{Caller, Fate, TraceContext};
use crate::kept_reasoning::ReasoningScope;
use crate::metrics::Metrics;
use crate::recent_turns::{RecentTurns, TurnNumber};
use crate::request_trace::{FirstToken, RequestTrace, TraceSender, TurnTrace};
use crate::turn_record::{TurnRecord, TurnTimes};

use super::failure_context::FailureContext;
use super::running::Endpoint;

/// What is known about a request's turns before they run.
#[derive(Debug)]
pub(crate) struct TurnLog {
    pub(super) request_id: String,
    pub(super) trace: TraceContext,
    pub(super) endpoint: Endpoint,
    /// Whose key it came with.
    pub(super) key: Caller,
    /// As the client names it, and the real one.
    pub(crate) model: String,
    pub(super) backend_model: String,
    pub(super) streamed: bool,
    pub(super) mode: OutputMode,
    pub(super) stop_after_tools: StopAfterTools,
    /// Settings that differ from their defaults.
    pub(super) settings: Arc<str>,
    /// What was asked for and has no effect.
    pub(super) ignored: String,
    pub(super) received: Instant,
    /// When the turns were let in.
    pub(super) admitted: Instant,
    pub(super) metrics: Arc<Metrics>,
    pub(super) usage: Option<Usage>,
    pub(super) fate: Fate,
    pub(super) content: ContentLog,
    /// Who keeps its trace, if anybody does.
    pub(super) traces: Option<TraceSender>,
    /// Where its reasoning is kept, if it is.
    pub(super) reasoning: Option<ReasoningScope>,
    /// Where each of its turns is told while it runs.
    pub(super) watched: WatchedTurns,
    /// For turns that fail.
    pub(crate) failures: FailureContext,
}

/// The turns of a request among those that can be watched.
#[derive(Debug)]
pub(super) struct WatchedTurns {
    pub(super) recent: Arc<RecentTurns>,
    /// One for each choice.
    pub(super) numbers: Vec<TurnNumber>,
}

/// When the turns of a request came how far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// The first event of the backend.
    pub(super) first_event: Option<Instant>,
    /// The first of it that the client gets.
    pub(super) first_token: Option<FirstToken<Instant>>,
}

// === impl TurnLog ===

impl TurnLog {
    /// Tells everybody what became of each turn.
    pub(super) fn turns_ended(&self, reports: &[ChoiceReport], marks: Marks, continued: Continued) {
        let times = TurnTimes {
            received: self.received,
            admitted: self.admitted,
            first_event: marks.first_event,
            first_token: marks.first_token.map(|first| first.at),
            ended: Instant::now(),
        };
        let ended_at = SystemTime::now();
        for (choice, report) in reports.iter().enumerate() {
            let turn = TurnRecord {
                request_id: &self.request_id,
                trace: self.trace,
                endpoint: self.endpoint,
                key: &self.key,
                choice,
                model: &self.model,
                backend_model: &self.backend_model,
                streamed: self.streamed,
                mode: self.mode,
                stop_after_tools: self.stop_after_tools,
                settings: &self.settings,
                ignored: &self.ignored,
                continued,
                report,
                times,
            };
            self.metrics.turn_ended(&turn);
            if let Some(usage) = &self.usage {
                usage.record(turn.usage_row(ended_at));
            }
            self.fate.turn_ended(report.end);
            if let Some(number) = self.watched.numbers.get(choice) {
                self.watched.recent.end(*number, turn.ended());
            }
            turn.log();
            self.content.answer(choice, &report.said);
            if let Some(reasoning) = &self.reasoning {
                reasoning.keep(&report.reasoning);
            }
        }
        if let Some(traces) = &self.traces {
            traces.tell(self.to_trace(reports, times, marks.first_token, ended_at));
        }
    }

    fn to_trace(
        &self,
        reports: &[ChoiceReport],
        times: TurnTimes,
        first_token: Option<FirstToken<Instant>>,
        ended: SystemTime,
    ) -> RequestTrace {
        let on_the_clock = |at: Instant| ended - times.ended.duration_since(at);
        let turn = |report: &ChoiceReport| TurnTrace {
            stop_reason: report.end.as_str(),
            failed: report.end.is_failure(),
            tool_call_count: report.call_count,
            tool_call_truncated: report.truncated,
            usage: report.usage,
        };
        RequestTrace {
            context: self.trace,
            route: self.endpoint.path(),
            request_id: self.request_id.clone(),
            key: self.key.name().to_owned(),
            model: self.model.clone(),
            backend_model: self.backend_model.clone(),
            streamed: self.streamed,
            output_mode: self.mode.as_str(),
            received: on_the_clock(times.received),
            admitted: on_the_clock(times.admitted),
            first_token: first_token
                .map(|first| FirstToken { choice: first.choice, at: on_the_clock(first.at) }),
            ended,
            turns: reports.iter().map(turn).collect(),
        }
    }
}
