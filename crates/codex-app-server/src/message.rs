//! JSON-RPC messages as Codex writes them: one a line, without the `jsonrpc` member.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::incoming::Text;

/// A message from the child, borrowed from its line.
///
/// Both sides number their own requests, so an `id` alone says nothing: a message with a method
/// and an id is the server's request, one with an id and no method answers ours.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Response { id: u64, outcome: Result<Option<&'a RawValue>, RpcError> },
    Request { id: &'a RawValue, method: Cow<'a, str>, params: Option<&'a RawValue> },
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
}

/// The error member of a JSON-RPC response.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, thiserror::Error)]
#[error("{message} (code {code})")]
pub struct RpcError {
    /// JSON-RPC error code; Codex mostly uses -32600 for anything it will not do.
    pub code: i64,
    /// What Codex says about it.
    pub message: String,
}

/// A line that is not a JSON-RPC message.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MessageError {
    #[error("not JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("neither method nor numeric id")]
    Shape,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
}

// === impl RpcError ===

impl RpcError {
    /// Codex's answer when its queue of requests is full: the same request may be sent again.
    pub(crate) const OVERLOADED: i64 = -32001;
}

// === impl Message ===

impl<'a> Message<'a> {
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, MessageError> {
        let envelope: Envelope<'a> = serde_json::from_slice(line)?;
        match (envelope.method.map(|method| method.0), envelope.id) {
            (Some(method), Some(id)) => Ok(Self::Request { id, method, params: envelope.params }),
            (Some(method), None) => Ok(Self::Notification { method, params: envelope.params }),
            (None, Some(id)) => {
                let id = id.get().parse().map_err(|_| MessageError::Shape)?;
                let outcome = envelope.error.map_or(Ok(envelope.result), Err);
                Ok(Self::Response { id, outcome })
            }
            (None, None) => Err(MessageError::Shape),
        }
    }
}

/// Whether a line echoes an item of the injected history.
///
/// Codex repeats every injected item, however large, as a raw item of this made-up turn. The
/// lines are recognised by their prefix, so that a 10 MB history is not parsed a second time;
/// an echo in any other form is parsed, and then belongs to no turn of ours.
pub(crate) fn is_history_echo(line: &[u8]) -> bool {
    const PREFIX: &[u8] = br#"{"method":"rawResponseItem/completed","params":{"threadId":""#;
    const TURN: &[u8] = br#"","turnId":"auto-compact-"#;
    const THREAD_ID: usize = 36;
    line.strip_prefix(PREFIX)
        .and_then(|rest| rest.get(THREAD_ID..))
        .is_some_and(|rest| rest.starts_with(TURN))
}

#[cfg(test)]
mod tests;
