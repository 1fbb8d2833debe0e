//! The readers of answers: server-sent events, chat completions and responses, streamed and whole.
//!
//! A reader continues after a fault and reports every check to a [`Sink`]. The kit's sink counts them
//! by rule; [`Strict`] keeps the first fault, and also takes the checks of what only our own server
//! promises: the exact members of objects, and the comments of its streams.

mod answer;
mod chat;
mod mismatch;
mod responses;
mod sink;
mod sse;
mod telemetry;

pub use answer::{Answer, Call, CallKind, Ending, Piece};
pub use chat::{ChatStream, Choice, Completion, Terms, UsageWish, read_whole as read_completion};
pub use mismatch::{Mismatch, expect};
pub use responses::{
    ReadResponse, ResponseStream, answer as answer_of_response, call_of,
    read_whole as read_response,
};
pub use sink::{Sink, Strict};
pub use sse::{Frame, Received, SseReader};
pub use telemetry::{CallTelemetry, Telemetry};

pub(crate) use chat::RULES as CHAT_RULES;
pub(crate) use responses::{KEEP_ALIVE, RULES as RESPONSES_RULES};

use serde_json::{Map, Value};

/// A text; empty if it is none.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The names of an object's members.
fn members(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
}
