//! Failures of a turn.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A failed turn.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("{message}")]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// Text for people, from Codex or the upstream if either sent one.
    pub message: String,
    /// HTTP status of the upstream, if Codex reports it. An unauthorized turn has one unless there is no
    /// login.
    pub upstream_status: Option<u16>,
    /// Body of the upstream's response, if Codex reports it.
    pub upstream_body: Option<Value>,
}

/// What went wrong with a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// There is no login, or the upstream rejects the key.
    Unauthorized,
    /// The plan's allowance or the account's budget is used up.
    UsageLimit,
    /// Too many requests for now.
    RateLimit,
    /// The input does not fit into the model's context.
    ContextLength,
    /// The upstream or Codex rejects the request.
    BadRequest,
    /// The upstream does not know the model.
    ModelNotFound,
    /// The upstream, or Codex itself, has no capacity for now.
    Overloaded,
    /// The upstream had an internal error.
    ServerError,
    /// The upstream could not be reached.
    Unreachable,
    /// The upstream's stream ended before the response did.
    StreamCut,
    /// The answer was withheld, by a filter or by the model itself.
    ContentFilter,
    /// The upstream's own limit of output tokens was reached.
    MaxOutput,
    /// The Codex child has exited or is unusable.
    ChildGone,
    /// No Codex child has passed its canary.
    Untested,
    /// The server is stopping.
    Stopping,
    /// The turn took longer than allowed, or was silent for too long.
    Timeout,
    /// The consumer of the events did not keep up.
    SlowConsumer,
    /// A line of the child, a call or the answer was larger than allowed.
    OutputTooLarge,
    /// Unknown output from Codex.
    Unexpected,
}

/// Replacement for a secret.
const HIDDEN: &str = "(hidden)";

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

    /// Name in logs and metrics.
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

    /// Whether the same request may succeed on a retry.
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
    /// A failure without upstream details.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), upstream_status: None, upstream_body: None }
    }

    /// Redacts a secret from message and body: an upstream may quote the key that it was sent.
    pub fn redact(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.message = self.message.replace(secret, HIDDEN);
        if let Some(body) = &mut self.upstream_body {
            redact_in(body, secret);
        }
    }

    /// Whether the input was rejected.
    pub fn is_about_the_input(&self) -> bool {
        matches!(self.kind, FailureKind::BadRequest | FailureKind::ContextLength)
    }

    /// Whether the upstream could not decrypt reasoning in the history.
    pub fn is_about_reasoning(&self) -> bool {
        let code = self.upstream_body.as_ref().map(|body| &body["error"]["code"]);
        self.kind == FailureKind::BadRequest
            && code.is_some_and(|code| code == "invalid_encrypted_content")
    }
}

fn redact_in(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) => *text = text.replace(secret, HIDDEN),
        Value::Array(entries) => entries.iter_mut().for_each(|entry| redact_in(entry, secret)),
        Value::Object(members) => members.values_mut().for_each(|member| redact_in(member, secret)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
