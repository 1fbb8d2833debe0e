//! Why a turn failed, as a type.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::incoming::TurnError;

/// A failed turn.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// For people: Codex's or the upstream's own words where there are any.
    pub message: String,
    /// HTTP status of the upstream, where Codex tells it. A turn that is not authorised has one
    /// unless nobody is signed in.
    pub upstream_status: Option<u16>,
    /// Body of the upstream's answer, where Codex tells it.
    pub upstream_body: Option<Value>,
}

/// What went wrong with a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// Not signed in, or the upstream does not accept the key.
    Unauthorized,
    /// The plan's allowance or the account's budget is used up.
    UsageLimit,
    /// Too many requests for now.
    RateLimit,
    /// The input does not fit into the model's context.
    ContextLength,
    /// The upstream or Codex does not accept the request as it is.
    BadRequest,
    /// The upstream does not know the model.
    ModelNotFound,
    /// The upstream, or Codex itself, has no capacity for now.
    Overloaded,
    /// The upstream had an internal error.
    ServerError,
    /// The upstream could not be reached.
    Unreachable,
    /// The upstream's stream ended in the middle.
    StreamCut,
    /// The answer was withheld, by a filter or by the model itself.
    ContentFilter,
    /// The upstream's own limit of output tokens was met.
    MaxOutput,
    /// The Codex child has ended or is unusable.
    ChildGone,
    /// No Codex child has shown that it keeps our promises.
    Untested,
    /// We were told to stop.
    Stopping,
    /// The turn took longer than allowed, or was silent for too long.
    Timeout,
    /// The consumer of the events did not keep up.
    SlowConsumer,
    /// A line of the child was longer than allowed.
    OutputTooLarge,
    /// Codex said something that we do not understand.
    Unexpected,
}

/// What stands for a secret.
const HIDDEN: &str = "(hidden)";

/// Codex puts this in front of everything that ends a stream early.
const DISCONNECTED: &str = "stream disconnected before completion: ";

/// What follows [`DISCONNECTED`] when the connection itself broke; anything else there is the
/// message of a `response.failed` event.
const TRANSPORT: [&str; 4] =
    ["Transport error", "stream closed before", "idle timeout", "WebSocket closed"];

/// Codex's words for a turn that it ends because somebody signs in or out, whatever upstream the
/// turn is at. The next one works again.
const LOGIN_CHANGED: &str = "Fatal error: application network permission was revoked";

// === impl FailureKind ===

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 19] = [
        Self::Unauthorized,
        Self::UsageLimit,
        Self::RateLimit,
        Self::ContextLength,
        Self::BadRequest,
        Self::ModelNotFound,
        Self::Overloaded,
        Self::ServerError,
        Self::Unreachable,
        Self::StreamCut,
        Self::ContentFilter,
        Self::MaxOutput,
        Self::ChildGone,
        Self::Untested,
        Self::Stopping,
        Self::Timeout,
        Self::SlowConsumer,
        Self::OutputTooLarge,
        Self::Unexpected,
    ];

    /// As logs and metrics write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::UsageLimit => "usage_limit",
            Self::RateLimit => "rate_limit",
            Self::ContextLength => "context_length",
            Self::BadRequest => "bad_request",
            Self::ModelNotFound => "model_not_found",
            Self::Overloaded => "overloaded",
            Self::ServerError => "server_error",
            Self::Unreachable => "unreachable",
            Self::StreamCut => "stream_cut",
            Self::ContentFilter => "content_filter",
            Self::MaxOutput => "max_output",
            Self::ChildGone => "child_gone",
            Self::Untested => "untested",
            Self::Stopping => "stopping",
            Self::Timeout => "timeout",
            Self::SlowConsumer => "slow_consumer",
            Self::OutputTooLarge => "output_too_large",
            Self::Unexpected => "unexpected",
        }
    }

    /// Whether the same request may succeed when it is sent again.
    pub fn retry_can_help(self) -> bool {
        match self {
            Self::RateLimit
            | Self::Overloaded
            | Self::ServerError
            | Self::Unreachable
            | Self::StreamCut
            | Self::ChildGone
            | Self::Stopping
            | Self::Timeout => true,
            Self::Unauthorized
            | Self::UsageLimit
            | Self::ContextLength
            | Self::BadRequest
            | Self::ModelNotFound
            | Self::ContentFilter
            | Self::MaxOutput
            | Self::SlowConsumer
            | Self::OutputTooLarge
            | Self::Untested
            | Self::Unexpected => false,
        }
    }
}

// === impl Failure ===

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), upstream_status: None, upstream_body: None }
    }

    /// Takes a secret out of everything that is told: an upstream may quote the key that it was sent.
    pub(crate) fn hide(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.message = self.message.replace(secret, HIDDEN);
        if let Some(body) = &mut self.upstream_body {
            hide_in(body, secret);
        }
    }

    /// Whether the upstream does not take what it was given.
    pub(crate) fn is_about_the_input(&self) -> bool {
        matches!(self.kind, FailureKind::BadRequest | FailureKind::ContextLength)
    }

    /// Whether the upstream could not read the encrypted reasoning of the history.
    pub(crate) fn is_about_reasoning(&self) -> bool {
        let code = self.upstream_body.as_ref().map(|body| &body["error"]["code"]);
        self.kind == FailureKind::BadRequest
            && code.is_some_and(|code| code == "invalid_encrypted_content")
    }

    /// Reads Codex's description of a failed turn.
    pub(crate) fn from_codex(error: &TurnError) -> Self {
        let (name, status) = error_info(error.codex_error_info.as_ref());
        let text = without_status(without_address(&error.message));
        let mut failure = Self::new(FailureKind::Unexpected, text);
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
            ("internalServerError", _) | (_, Some(408 | 409 | 425 | 500..)) => {
                FailureKind::ServerError
            }
            ("badRequest", _) | (_, Some(400..)) => FailureKind::BadRequest,
            ("responseStreamDisconnected", _) => FailureKind::StreamCut,
            ("httpConnectionFailed" | "responseStreamConnectionFailed", None) => {
                FailureKind::Unreachable
            }
            ("other", _) => return failure.classified_by_words(),
            _ => FailureKind::Unexpected,
        };
        if failure.kind == FailureKind::Unauthorized {
            // A login that Codex could not renew was refused as well.
            failure.upstream_status.get_or_insert(401);
        }
        failure
    }

    /// Classifies what Codex names `other` and explains only in words.
    fn classified_by_words(mut self) -> Self {
        if let Some((_, reason)) = self.message.split_once("Incomplete response returned, reason: ")
        {
            self.kind = match reason {
                "max_output_tokens" => FailureKind::MaxOutput,
                "content_filter" => FailureKind::ContentFilter,
                _ => FailureKind::Unexpected,
            };
        } else if let Some(detail) = self.message.strip_prefix(DISCONNECTED) {
            if TRANSPORT.iter().any(|start| detail.starts_with(start)) {
                self.kind = FailureKind::StreamCut;
            } else {
                self.kind = FailureKind::ServerError;
                self.message = self.message.split_off(DISCONNECTED.len());
            }
        } else if self.message == LOGIN_CHANGED {
            self.kind = FailureKind::StreamCut;
            "Codex has ended the turn because its login was changed".clone_into(&mut self.message);
        } else if !self.message.starts_with("Fatal error") {
            return self.bad_request();
        }
        self
    }

    /// The message is the whole body of an HTTP 400, which should be JSON, but need not.
    fn bad_request(mut self) -> Self {
        let body = serde_json::from_str(&self.message)
            .unwrap_or_else(|_| Value::from(self.message.as_str()));
        let error = &body["error"];
        self.kind = match error["code"].as_str() {
            Some("context_length_exceeded") => FailureKind::ContextLength,
            Some("model_not_found") => FailureKind::ModelNotFound,
            Some("content_filter" | "content_policy_violation") => FailureKind::ContentFilter,
            _ => FailureKind::BadRequest,
        };
        if let Some(message) = error["message"].as_str().or(body["detail"].as_str()) {
            message.clone_into(&mut self.message);
        } else if self.message.trim().is_empty() {
            "the upstream refused the request without a word".clone_into(&mut self.message);
        }
        self.upstream_status = Some(400);
        self.upstream_body = Some(body);
        self
    }
}

fn hide_in(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) => *text = text.replace(secret, HIDDEN),
        Value::Array(entries) => entries.iter_mut().for_each(|entry| hide_in(entry, secret)),
        Value::Object(members) => members.values_mut().for_each(|member| hide_in(member, secret)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
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
