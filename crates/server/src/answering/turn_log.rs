//! What is reported about the turns of a request, once they have ended.

use std::sync::Arc;
use std::time::Instant;

use bridge::{ChoiceReport, Milestones, Question};
use codex_app_server::Continued;
use store::Usage;

use crate::content_log::ContentLog;
use crate::gate::Fate;
use crate::kept_reasoning::ReasoningScope;
use crate::metrics::Metrics;
use crate::recent_turns::{RecentTurns, TurnNumber};
use crate::request_info::RequestInfo;
use crate::request_trace::{RequestTrace, TraceSender, TurnTrace};
use crate::turn_record::TurnRecord;

/// A request whose turns run, and where they are reported.
#[derive(Debug)]
pub(super) struct TurnLog {
    pub(super) request: Arc<RequestInfo>,
    pub(super) metrics: Arc<Metrics>,
    pub(super) usage: Option<Usage>,
    pub(super) fate: Fate,
    pub(super) content: ContentLog,
    /// Set if its trace is exported.
    pub(super) traces: Option<TraceSender>,
    /// Where its reasoning is kept, and what it was about.
    pub(super) reasoning: Option<(ReasoningScope, Question)>,
    pub(super) recent: Arc<RecentTurns>,
    /// Its turns there, one for each choice.
    pub(super) watched: Vec<TurnNumber>,
}

// === impl TurnLog ===

impl TurnLog {
    /// Reports what became of each turn.
    pub(super) fn turns_ended(
        &self,
        reports: &[ChoiceReport],
        milestones: Milestones,
        continued: Continued,
    ) {
        let (ended, ended_at) = (ambient::now(), ambient::wall_time());
        for (choice, report) in reports.iter().enumerate() {
            let request = &*self.request;
            let turn = TurnRecord { request, choice, continued, report, milestones, ended };
            self.metrics.turn_ended(&turn);
            if let Some(usage) = &self.usage {
                usage.record(turn.usage_row(ended_at));
            }
            self.fate.turn_ended(report.end);
            if let Some(number) = self.watched.get(choice) {
                self.recent.end(*number, turn.ended());
            }
            turn.log();
            self.content.answer(choice, &report.said);
            if let Some((scope, question)) = &self.reasoning {
                scope.keep(&report.reasoning, *question);
            }
        }
        if let Some(traces) = &self.traces {
            let on_the_clock = |at: Instant| ended_at - ended.duration_since(at);
            traces.send(RequestTrace {
                request: Arc::clone(&self.request),
                received: on_the_clock(self.request.received),
                admitted: on_the_clock(self.request.admitted),
                first_token: milestones.first_token.map(|(choice, at)| (choice, on_the_clock(at))),
                ended: ended_at,
                turns: reports.iter().map(TurnTrace::from).collect(),
            });
        }
    }
}
