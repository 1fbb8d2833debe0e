//! How a choice ends, and what is reported of it then.

use std::time::Instant;

use model_turn::{Failure, FailureKind};

use super::blocks::Rest;
use super::failures::{answer_too_large, unfinished};
use super::{Ended, Reply};
use crate::finish::{ChoiceReport, EndReason};
use crate::output::Output;
use crate::policy::{CallShape, OutputMode};

/// How a choice is to end.
#[derive(Debug)]
pub(super) enum Ending {
    Finished(EndReason),
    Failed(Failure),
}

// === impl Reply ===

impl Reply {
    /// Ends it for a reason from outside, if it has not ended yet.
    pub fn abandon(&mut self, reason: EndReason) {
        if self.end.is_none() {
            self.visible.drop_held();
            self.end = Some(reason);
        }
    }

    /// Whether it ended before the turn did, which has to be interrupted.
    pub fn was_cut(&self) -> bool {
        self.end.is_some_and(EndReason::is_cut)
    }

    /// Whether a client that sends back what it got sends back what the model wrote: it ended by itself,
    /// and nothing was cut, left out or rewritten.
    pub fn forwarded_everything(&self) -> bool {
        let ended_by_itself = matches!(self.end, Some(EndReason::Completed | EndReason::ToolCalls));
        let has_calls = self.calls.count() > 0;
        // Blocks are made of calls, or calls of blocks; and the legacy shape of calls has no ids.
        let calls_as_they_are = self.policy.mode == OutputMode::OpenAiJson
            && self.policy.shape == CallShape::ToolCalls
            && self.calls.count_of_text() == 0
            && self.calls.ids_come_back();
        ended_by_itself
            && !self.calls.has_dropped()
            && self.visible.suppressed() == 0
            && !self.visible.has_joined()
            && (!has_calls || calls_as_they_are)
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// What became of it.
    pub fn report(mut self) -> ChoiceReport {
        self.abandon(EndReason::ClientGone);
        let end = self.end.unwrap_or(EndReason::ClientGone);
        let failed = end.is_failure();
        let cut = !self.response_ended && (end.is_cut() || failed);
        let (call_names, call_ids) = self.calls.names_and_ids();
        ChoiceReport {
            end,
            failure: self.failure.filter(|_| failed),
            call_count: self.calls.count(),
            text_calls: self.calls.count_of_text(),
            streamed_calls: self.calls.count_of_streamed(),
            blocks: self.blocks,
            input_deviations: self.calls.deviations(),
            altered_values: self.altered_values,
            truncated: cut || self.calls.has_dropped(),
            call_names,
            call_ids,
            last_call_end: self.visible.last_call_end(),
            suppressed_bytes: self.visible.suppressed(),
            usage: self.usage,
            reasoning: self.trail.into_calls(),
            said: self.visible.into_said(),
        }
    }

    /// The model goes on and on.
    pub(super) fn overflow(&mut self, now: Instant, out: &mut impl Output) -> Ended {
        self.flush_before(Rest::Cut, now, out);
        match self.calls.count() {
            0 => self.fail(answer_too_large(self.policy.max_answer_bytes), now, out),
            _ => self.conclude(EndReason::HeldText, now, out),
        }
    }

    /// The response has ended by itself.
    pub(super) fn complete(&mut self, now: Instant, out: &mut impl Output) -> Ended {
        // The end may complete a block.
        self.flush(now, out);
        let reason = match self.calls.count() {
            0 => EndReason::Completed,
            _ => EndReason::ToolCalls,
        };
        self.end_unless_ended(reason, out)
    }

    /// Ends for this reason, unless what was held back gives another.
    pub(super) fn conclude(
        &mut self,
        reason: EndReason,
        now: Instant,
        out: &mut impl Output,
    ) -> Ended {
        self.flush(now, out);
        self.end_unless_ended(reason, out)
    }

    fn end_unless_ended(&mut self, reason: EndReason, out: &mut impl Output) -> Ended {
        let ending = self.ending.take().unwrap_or(Ending::Finished(reason));
        self.end(ending, out)
    }

    pub(super) fn fail(&mut self, failure: Failure, now: Instant, out: &mut impl Output) -> Ended {
        self.failure = Some(failure.kind);
        self.flush_before(Rest::Cut, now, out);
        let ending =
            self.ending.take().unwrap_or_else(|| match (failure.kind, self.calls.count()) {
                _ if self.calls.is_open() => Ending::Failed(failure),
                (_, 1..) => Ending::Finished(EndReason::FailedAfterCalls),
                (FailureKind::MaxOutput, 0) => Ending::Finished(EndReason::UpstreamLength),
                // A filter that refuses the request itself answers with a status.
                (FailureKind::ContentFilter, 0) if failure.upstream_status.is_none() => {
                    Ending::Finished(EndReason::ContentFilter)
                }
                (_, 0) => Ending::Failed(failure),
            });
        self.end(ending, out)
    }

    pub(super) fn end(&mut self, ending: Ending, out: &mut impl Output) -> Ended {
        self.visible.end(out);
        let ending = match ending {
            // A client would act on half a call.
            Ending::Finished(_) if self.calls.is_open() => Ending::Failed(unfinished()),
            ending => ending,
        };
        match ending {
            Ending::Failed(failure) => {
                self.failure = Some(failure.kind);
                self.end = Some(match failure.kind {
                    FailureKind::SlowConsumer => EndReason::SlowClient,
                    _ => EndReason::Failed,
                });
                Ended::Failed(failure)
            }
            Ending::Finished(reason) => {
                self.end = Some(reason);
                let has_calls = self.calls.count() > 0;
                Ended::Finished(reason.finish_reason(has_calls, self.policy.shape))
            }
        }
    }
}
