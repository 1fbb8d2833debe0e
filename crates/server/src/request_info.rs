//! The facts of a request whose turns run: one value for all that log, count, show, keep or export them.

use std::sync::Arc;
use std::time::Instant;

use bridge::{OutputMode, StopAfterTools};
use openai_wire::{chat, responses};

use crate::gate::{Caller, TraceContext};

/// A request whose turns run: names and times, and nothing of its content.
#[derive(Debug)]
pub struct RequestInfo {
    /// Its name in the log.
    pub id: String,
    /// The trace that it belongs to.
    pub trace: TraceContext,
    /// Where it was sent.
    pub endpoint: Endpoint,
    /// The key that it came with.
    pub key: Caller,
    /// The program that sent it, by its `User-Agent`.
    pub client: Option<String>,
    /// The model as the client names it.
    pub model: String,
    /// The real one.
    pub backend_model: String,
    /// The answer's id.
    pub answer_id: String,
    /// When the answer was made, in seconds since 1970.
    pub created: u64,
    /// How many answers there are in one.
    pub choices: u32,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a stream has token counts.
    pub include_usage: bool,
    /// In which shape calls are sent.
    pub mode: OutputMode,
    /// When a turn with calls is ended.
    pub stop_after_tools: StopAfterTools,
    /// Settings that differ from their defaults.
    pub settings: Arc<str>,
    /// Parameters that have no effect.
    pub ignored: Vec<String>,
    /// When its head was read.
    pub received: Instant,
    /// When its turns were admitted.
    pub admitted: Instant,
}

/// The endpoints that start turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Endpoint {
    /// Chat completions.
    Chat,
    /// Responses.
    Responses,
}

// === impl Endpoint ===

impl Endpoint {
    /// Its name in logs and in the usage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }

    /// Its path.
    pub fn path(self) -> &'static str {
        match self {
            Self::Chat => chat::PATH,
            Self::Responses => responses::PATH,
        }
    }

    /// The member of a request that holds the conversation.
    pub(crate) fn conversation(self) -> &'static str {
        match self {
            Self::Chat => "messages",
            Self::Responses => "input",
        }
    }

    /// The member of a request that names the reasoning effort.
    pub(crate) fn effort(self) -> &'static str {
        match self {
            Self::Chat => "reasoning_effort",
            Self::Responses => "reasoning.effort",
        }
    }
}

#[cfg(test)]
impl RequestInfo {
    pub(crate) fn example() -> Self {
        let now = ambient::now();
        Self {
            id: "req_1".to_owned(),
            trace: TraceContext::new(),
            endpoint: Endpoint::Chat,
            key: Caller::named("default"),
            client: None,
            model: "chat".to_owned(),
            backend_model: "gpt-5.5".to_owned(),
            answer_id: "chatcmpl-1".to_owned(),
            created: 0,
            choices: 1,
            stream: true,
            include_usage: false,
            mode: OutputMode::OpenAiJson,
            stop_after_tools: StopAfterTools::Off,
            settings: "".into(),
            ignored: Vec::new(),
            received: now,
            admitted: now,
        }
    }
}
