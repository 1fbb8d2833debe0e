//! How the events of a response are written, for whom.

use bytes::BytesMut;
use serde_json::Value;

use crate::chat_chunks::ChatChunks;
use crate::complete_events::CompleteEvents;

/// Who reads a response.
#[derive(Debug)]
pub(crate) enum Wire {
    /// Codex: events with what it needs.
    Codex,
    /// A gateway: events with everything that OpenAI's have.
    Complete(CompleteEvents),
    /// A gateway: the chunks of a chat completion.
    Chat(ChatChunks),
}

// === impl Wire ===

impl Wire {
    /// Writes the frames that an event becomes.
    pub(crate) fn write(&mut self, bytes: &mut BytesMut, event: Value) {
        match self {
            Self::Codex => write_event(bytes, &event),
            Self::Complete(events) => {
                for event in events.complete(event) {
                    write_event(bytes, &event);
                }
            }
            Self::Chat(chunks) => {
                for data in chunks.frames(&event) {
                    bytes.extend_from_slice(format!("data: {data}\n\n").as_bytes());
                }
            }
        }
    }
}

fn write_event(bytes: &mut BytesMut, event: &Value) {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or("message");
    bytes.extend_from_slice(format!("event: {kind}\ndata: {event}\n\n").as_bytes());
}
