//! JSON-RPC messages as Codex writes them: one a line, without the `jsonrpc` member.

use std::borrow::Cow;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::protocol::incoming::Text;
use crate::turn::plain_delta::plain_delta;
use crate::turn::thread_event::{RoutedEvent, TurnMethod};

/// A message from the child, borrowed from its line.
///
/// Both sides number their own requests, so an `id` alone says nothing: a message with a method
/// and an id is the server's request, one with an id and no method answers ours.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    /// The answer to a request of ours.
    Response { id: u64, outcome: Result<Option<&'a RawValue>, RpcError> },
    /// A request of the server's.
    Request { id: &'a RawValue, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// A notification of a turn.
    Turn(RoutedEvent<'a>),
    /// Any other notification.
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

/// A line that is not a message we understand.
#[derive(Debug, thiserror::Error)]
#[error("{words}")]
pub(crate) struct MessageError {
    words: String,
}

/// The members of a message, in whatever order.
#[derive(Default)]
struct Members<'a> {
    id: Option<&'a RawValue>,
    method: Option<Cow<'a, str>>,
    params: Option<&'a RawValue>,
    /// The parameters of a turn's notification, which are not kept raw.
    event: Option<RoutedEvent<'a>>,
    result: Option<&'a RawValue>,
    error: Option<RpcError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Member {
    Id,
    Method,
    Params,
    Result,
    Error,
    #[serde(other)]
    Other,
}

// === impl RpcError ===

impl RpcError {
    /// Codex's answer when its queue of requests is full: the same request may be sent again.
    pub(crate) const OVERLOADED: i64 = -32001;
}

// === impl Message ===

impl<'a> Message<'a> {
    pub(crate) fn parse(line: &'a [u8]) -> Result<Self, MessageError> {
        // One check of the whole line is cheaper than one for each string in it.
        let line =
            str::from_utf8(line).map_err(|error| MessageError { words: error.to_string() })?;
        if let Some(delta) = plain_delta(line) {
            return Ok(Self::Turn(delta));
        }
        serde_json::from_str(line).map_err(|error: serde_json::Error| MessageError {
            // Its own words can quote the line, and with it the model's or the user's.
            words: format!("{:?} error at byte {}", error.classify(), error.column()),
        })
    }
}

impl<'de> Deserialize<'de> for Message<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MessageVisitor)
    }
}

struct MessageVisitor;

impl<'de> Visitor<'de> for MessageVisitor {
    type Value = Message<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON-RPC message")
    }

    /// Codex writes the method before its parameters, so that those of a turn can be read
    /// straight into their type: most of what it says is looked at only once.
    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Message<'de>, M::Error> {
        let mut members = Members::default();
        while let Some(member) = map.next_key()? {
            match member {
                Member::Id => members.id = map.next_value()?,
                Member::Method => members.method = Some(map.next_value::<Text<'de>>()?.0),
                Member::Params => match members.method.as_deref().and_then(TurnMethod::of) {
                    Some(method) => members.event = Some(map.next_value_seed(method)?),
                    None => members.params = map.next_value()?,
                },
                Member::Result => members.result = map.next_value()?,
                Member::Error => members.error = map.next_value()?,
                Member::Other => map.next_value::<IgnoredAny>().map(drop)?,
            }
        }
        members.into_message()
    }
}

// === impl Members ===

impl<'a> Members<'a> {
    fn into_message<E: serde::de::Error>(self) -> Result<Message<'a>, E> {
        match (self.method, self.id, self.event) {
            (Some(_), None, Some(event)) => Ok(Message::Turn(event)),
            (Some(method), None, None) => Ok(Message::Notification { method, params: self.params }),
            (Some(method), Some(id), _) => Ok(Message::Request { id, method, params: self.params }),
            (None, Some(id), _) => {
                let id = id.get().parse().map_err(|_| E::custom("an id that is not ours"))?;
                Ok(Message::Response { id, outcome: self.error.map_or(Ok(self.result), Err) })
            }
            (None, None, _) => Err(E::custom("neither a method nor an id")),
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
