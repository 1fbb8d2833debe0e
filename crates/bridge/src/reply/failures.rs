//! Failures that an answer finds itself.

use codex_app_server::{Failure, FailureKind};
use tool_call_aggregator::{Limit, Replaced};

pub(super) fn interrupted() -> Failure {
    failure(FailureKind::Unexpected, "the turn was interrupted".to_owned())
}

pub(super) fn too_large(limit: Limit) -> Failure {
    failure(FailureKind::OutputTooLarge, format!("a tool call is over the limit of {limit}"))
}

pub(super) fn answer_too_large(limit: usize) -> Failure {
    let words = format!("the answer is larger than {limit} bytes (PROXY_MAX_ANSWER_BYTES)");
    failure(FailureKind::OutputTooLarge, words)
}

pub(super) fn unfinished() -> Failure {
    let words = "the answer ended before a tool call was complete";
    failure(FailureKind::Unexpected, words.to_owned())
}

pub(super) fn changed() -> Failure {
    failure(FailureKind::Unexpected, Replaced.to_string())
}

fn failure(kind: FailureKind, message: String) -> Failure {
    Failure { kind, message, upstream_status: None, upstream_body: None }
}
