//! What an answer says, from both APIs, streamed and not.

use conformance::reading::{
    self, Call, ChatStream, Mismatch, ResponseStream, Strict, Terms, answer_of_response,
    read_completion, read_response,
};
use memchr::memmem;
use serde_json::Value;

/// Which of the two is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
}

/// How the answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Streamed,
    Whole,
}

/// Everything that an answer says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// Of a response.
    pub(crate) id: String,
    /// Whether the turn had a thread of its own.
    pub(crate) continuity: String,
}

// === impl Api ===

impl Api {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
        }
    }

    /// Whether a body has text of the model so far.
    pub(crate) fn has_text(self, body: &[u8]) -> bool {
        match self {
            // The role comes with an empty text.
            Self::Chat => memmem::find_iter(body, br#""content":""#)
                .any(|at| body.get(at + 11).is_some_and(|next| *next != b'"')),
            Self::Responses => memmem::find(body, b"response.output_text.delta").is_some(),
        }
    }
}

// === impl Answer ===

impl Answer {
    /// Reads an answer that must end well.
    pub(crate) fn read(api: Api, delivery: Delivery, body: &str) -> Result<Self, String> {
        let shown = || body.chars().take(2_000).collect::<String>();
        let (said, id) =
            read(api, delivery, body).map_err(|fault| format!("{fault}: {}", shown()))?;
        let due = if said.calls.is_empty() { "stop" } else { "tool_calls" };
        if said.has_failed || said.finish.as_deref() != Some(due) {
            return Err(format!("it ends with {}: {}", said.end_in_words(), shown()));
        }
        Ok(Self { text: said.text, calls: said.calls, id, continuity: String::new() })
    }
}

/// What an answer says, and the id of a response.
fn read(api: Api, delivery: Delivery, body: &str) -> Result<(reading::Answer, String), Mismatch> {
    let id = |response: &Value| response["id"].as_str().unwrap_or_default().to_owned();
    let mut strict = Strict::default();
    let read = match (api, delivery) {
        (Api::Chat, Delivery::Streamed) => {
            (ChatStream::read(body, Terms::default())?.answer(), String::new())
        }
        (Api::Chat, Delivery::Whole) => {
            (read_completion(body, &Terms::default(), &mut strict).answer(), String::new())
        }
        (Api::Responses, Delivery::Streamed) => {
            let read = ResponseStream::read(body)?;
            (read.answer(), id(&read.response))
        }
        (Api::Responses, Delivery::Whole) => {
            let response = read_response(body, &mut strict);
            (answer_of_response(&response), id(&response))
        }
    };
    strict.outcome().map(|()| read)
}

#[cfg(test)]
mod tests;
