//! When the parts of a stream came: a server that keeps an answer back until it is whole streams in
//! form alone.

use std::time::Duration;

use serde_json::Value;

use crate::exchange::Exchange;
use crate::reading::{Frame, KEEP_ALIVE, Received, SseReader};
use crate::scenario::Endpoint;

/// A stream, as far as its pace goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How long before the end of the stream its text began.
    pub(crate) first_text_before_end: Option<Duration>,
    /// The first thing between two pieces of text that is neither text nor a sign of life.
    pub(crate) disturbance: Option<String>,
}

/// What a frame is, to someone who waits for text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    SignOfLife,
    Other,
}

// === impl Pace ===

impl Pace {
    pub(crate) fn of(exchange: &Exchange, endpoint: Endpoint) -> Self {
        let frames = SseReader::read(&exchange.body);
        let kinds: Vec<Kind> =
            frames.iter().map(|Received { frame, .. }| kind(frame, endpoint)).collect();
        let is_text = |kind: &Kind| *kind == Kind::Text;
        let (first, last) = (kinds.iter().position(is_text), kinds.iter().rposition(is_text));
        let (Some(first), Some(last)) = (first, last) else {
            return Self { first_text_before_end: None, disturbance: None };
        };
        let other = (first..last).find(|index| kinds[*index] == Kind::Other);
        let came = |offset: usize| exchange.came_at(offset).unwrap_or_default();
        Self {
            first_text_before_end: Some(
                came(exchange.body.len()).saturating_sub(came(frames[first].end)),
            ),
            disturbance: other.map(|index| format!("{:?}", frames[index].frame)),
        }
    }
}

fn kind(frame: &Frame, endpoint: Endpoint) -> Kind {
    let Frame::Event { data, .. } = frame else {
        return if matches!(frame, Frame::Comment(_)) { Kind::SignOfLife } else { Kind::Other };
    };
    let event: Value = serde_json::from_str(data).unwrap_or_default();
    let is_said = |text: &Value| text.as_str().is_some_and(|text| !text.is_empty());
    let is_text = match endpoint {
        Endpoint::Responses => {
            event["type"] == "response.output_text.delta" && is_said(&event["delta"])
        }
        _ => is_said(&event["choices"][0]["delta"]["content"]),
    };
    match is_text {
        true => Kind::Text,
        false if endpoint == Endpoint::Responses && event["type"] == KEEP_ALIVE => Kind::SignOfLife,
        false => Kind::Other,
    }
}

#[cfg(test)]
mod tests;
