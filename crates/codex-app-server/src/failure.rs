//! Codex's descriptions of failed turns, classified.

use model_turn::{Failure, FailureKind};
use serde_json::Value;

use crate::protocol::incoming::TurnError;

/// Codex puts this in front of everything that ends a stream early.
const DISCONNECTED: &str = "stream disconnected before completion: ";

/// What follows [`DISCONNECTED`] when the connection itself broke; anything else there is the
/// message of a `response.failed` event.
const TRANSPORT: [&str; 4] =
    ["Transport error", "stream closed before", "idle timeout", "WebSocket closed"];

/// Codex's words for a turn that it ends because somebody signs in or out, whatever upstream the
/// turn is at. The next one works again.
const LOGIN_CHANGED: &str = "Fatal error: application network permission was revoked";

/// Reads Codex's description of a failed turn.
pub(crate) fn from_codex(error: &TurnError) -> Failure {
    let (name, status) = error_info(error.codex_error_info.as_ref());
    let text = without_status(without_address(&error.message));
    let mut failure = Failure::new(FailureKind::Unexpected, text);
    failure.upstream_status = status;
    failure.kind = match (name, status) {
        ("unauthorized", _) | (_, Some(401 | 403)) => FailureKind::Unauthorized,
        ("usageLimitExceeded" | "sessionBudgetExceeded", _) => FailureKind::UsageLimit,
        ("rateLimitExceeded" | "tooManyDenials", _) | (_, Some(429)) => FailureKind::RateLimit,
        ("contextWindowExceeded", _) => FailureKind::ContextLength,
        ("modelNotFound", _) => FailureKind::ModelNotFound,
        ("serverOverloaded" | "flexUnavailable" | "policyCapacityUnavailable", _)
        | (_, Some(503)) => FailureKind::Overloaded,
        ("cyberPolicy" | "misalignmentPolicyViolation", _) => FailureKind::ContentFilter,
        // Too late, in conflict, too early: of the moment, not of the request.
        ("internalServerError", _) | (_, Some(408 | 409 | 425 | 500..)) => FailureKind::ServerError,
        ("badRequest", _) | (_, Some(400..)) => FailureKind::BadRequest,
        ("responseStreamDisconnected", _) => FailureKind::StreamCut,
        ("httpConnectionFailed" | "responseStreamConnectionFailed", None) => {
            FailureKind::Unreachable
        }
        ("other", _) => return classified_by_words(failure),
        _ => FailureKind::Unexpected,
    };
    if failure.kind == FailureKind::Unauthorized {
        // A login that Codex could not renew was refused as well.
        failure.upstream_status.get_or_insert(401);
    }
    failure
}

/// Classifies what Codex names `other` and explains only in words.
fn classified_by_words(mut failure: Failure) -> Failure {
    if let Some((_, reason)) = failure.message.split_once("Incomplete response returned, reason: ")
    {
        failure.kind = match reason {
            "max_output_tokens" => FailureKind::MaxOutput,
            "content_filter" => FailureKind::ContentFilter,
            _ => FailureKind::Unexpected,
        };
    } else if let Some(detail) = failure.message.strip_prefix(DISCONNECTED) {
        if TRANSPORT.iter().any(|start| detail.starts_with(start)) {
            failure.kind = FailureKind::StreamCut;
        } else {
            failure.kind = FailureKind::ServerError;
            failure.message = failure.message.split_off(DISCONNECTED.len());
        }
    } else if failure.message == LOGIN_CHANGED {
        failure.kind = FailureKind::StreamCut;
        "Codex has ended the turn because its login was changed".clone_into(&mut failure.message);
    } else if !failure.message.starts_with("Fatal error") {
        return bad_request(failure);
    }
    failure
}

/// The message is the whole body of an HTTP 400, which should be JSON, but need not.
fn bad_request(mut failure: Failure) -> Failure {
    let body = serde_json::from_str(&failure.message)
        .unwrap_or_else(|_| Value::from(failure.message.as_str()));
    let error = &body["error"];
    failure.kind = match error["code"].as_str() {
        Some("context_length_exceeded") => FailureKind::ContextLength,
        Some("model_not_found") => FailureKind::ModelNotFound,
        Some("content_filter" | "content_policy_violation") => FailureKind::ContentFilter,
        _ => FailureKind::BadRequest,
    };
    if let Some(message) = error["message"].as_str().or(body["detail"].as_str()) {
        message.clone_into(&mut failure.message);
    } else if failure.message.trim().is_empty() {
        "the upstream refused the request without a word".clone_into(&mut failure.message);
    }
    failure.upstream_status = Some(400);
    failure.upstream_body = Some(body);
    failure
}

/// The upstream's address, which Codex puts behind its words, is nobody's business.
fn without_address(text: &str) -> &str {
    text.rsplit_once(", url: ").map_or(text, |(words, _)| words)
}

/// The status, which Codex puts before the words of an upstream, is told apart from them.
fn without_status(text: &str) -> &str {
    let status_and_words = text.strip_prefix("unexpected status ");
    let words = status_and_words.and_then(|rest| rest.split_once(": ")).map(|(_, words)| words);
    words.filter(|words| !words.is_empty()).unwrap_or(text)
}

/// Name and HTTP status of Codex's error, which is a string or an object with one member.
fn error_info(info: Option<&Value>) -> (&str, Option<u16>) {
    match info {
        Some(Value::String(name)) => (name, None),
        Some(Value::Object(members)) => {
            members.iter().next().map_or(("", None), |(name, detail)| {
                let status =
                    detail["httpStatusCode"].as_u64().and_then(|code| code.try_into().ok());
                (name, status)
            })
        }
        _ => ("", None),
    }
}

#[cfg(test)]
mod tests;
