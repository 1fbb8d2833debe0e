//! Failures that an answer finds itself.

use model_turn::{Failure, FailureKind};
use tool_call_aggregator::{Limit, Replaced};

pub(super) fn interrupted() -> Failure {
    Failure::new(FailureKind::Unexpected, "the turn was interrupted")
}

pub(super) fn too_large(limit: Limit) -> Failure {
    let message = format!("a tool call is over the limit of {limit}");
    Failure::new(FailureKind::OutputTooLarge, message)
}

pub(super) fn answer_too_large(limit: usize) -> Failure {
    let message = format!("the answer is larger than {limit} bytes (PROXY_MAX_ANSWER_BYTES)");
    Failure::new(FailureKind::OutputTooLarge, message)
}

pub(super) fn unfinished() -> Failure {
    Failure::new(FailureKind::Unexpected, "the answer ended before a tool call was complete")
}

pub(super) fn changed() -> Failure {
    Failure::new(FailureKind::Unexpected, Replaced.to_string())
}
