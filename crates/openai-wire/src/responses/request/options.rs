//! The simple fields of a request.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::JsonText;
use crate::ApiError;
use crate::reading::{self, Excerpt, Object};

/// What should happen to a conversation that is too long for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// The request fails.
    #[default]
    Disabled,
    /// Its beginning is dropped, which is not done here.
    Auto,
}

/// What the answer should have besides.
#[derive(Default)]
pub(super) struct Include {
    /// Reasoning, encrypted.
    pub(super) encrypted_reasoning: bool,
    /// How likely each token was, which cannot be had.
    pub(super) logprobs: bool,
}

/// Fields of chat completions that would be missed, and where they have gone.
const MOVED: [(&str, &str); 7] = [
    ("messages", "input"),
    ("response_format", "text.format"),
    ("reasoning_effort", "reasoning.effort"),
    ("max_tokens", "max_output_tokens"),
    ("max_completion_tokens", "max_output_tokens"),
    ("functions", "tools"),
    ("function_call", "tool_choice"),
];

const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";
const LOGPROBS: &str = "message.output_text.logprobs";

/// What OpenAI can include. All but two are about tools of its own, or change nothing here.
const INCLUDABLE: [&str; 8] = [
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    ENCRYPTED_REASONING,
    LOGPROBS,
];

/// Limits of `metadata`, the lengths in characters.
const MOST_NOTES: usize = 16;
const LONGEST_KEY: usize = 64;
const LONGEST_NOTE: usize = 512;

/// Refuses what cannot be done here.
pub(super) fn refuse(request: &mut Object<'_>) -> Result<(), ApiError> {
    for (name, place) in MOVED {
        if request.take(name).is_some() {
            let problem = format!(
                "'{name}' belongs to /v1/chat/completions: in /v1/responses it is '{place}'."
            );
            return Err(request.path(name).invalid(problem));
        }
    }
    if request.boolean("background")? == Some(true) {
        let problem = "A response cannot be made in the background: leave 'background' out, and wait for the answer or stream it.";
        return Err(request.path("background").invalid(problem));
    }
    if request.take("conversation").is_some() {
        let problem = "There are no stored conversations here: leave 'conversation' out, and send 'previous_response_id' or the whole conversation as 'input'.";
        return Err(request.path("conversation").invalid(problem));
    }
    if request.take("prompt").is_some() {
        let problem = "There are no stored prompts here: leave 'prompt' out, and send its text as 'instructions' or 'input'.";
        return Err(request.path("prompt").invalid(problem));
    }
    reading::refuse_audio(request)
}

pub(super) fn read_metadata(request: &mut Object<'_>) -> Result<JsonText, ApiError> {
    let metadata = request.object("metadata")?.unwrap_or_default();
    let path = request.path("metadata");
    if metadata.len() > MOST_NOTES {
        let problem = format!(
            "Invalid 'metadata': too many members. Expected at most {MOST_NOTES}, but got {}.",
            metadata.len()
        );
        return Err(path.invalid(problem));
    }
    for (key, note) in &metadata {
        if key.chars().count() > LONGEST_KEY {
            let problem = format!(
                "Invalid 'metadata': the key {} is too long. Expected at most {LONGEST_KEY} characters.",
                Excerpt(key)
            );
            return Err(path.invalid(problem));
        }
        let path = path.field(key);
        match note {
            Value::String(note) if note.chars().count() > LONGEST_NOTE => {
                let problem = format!(
                    "Invalid '{path}': string too long. Expected at most {LONGEST_NOTE} characters."
                );
                return Err(path.invalid(problem));
            }
            Value::String(_) => {}
            other => return Err(path.wrong_type("a string", other)),
        }
    }
    Ok(JsonText::new(&metadata))
}

// === impl Truncation ===

impl Truncation {
    pub(super) fn read(request: &mut Object<'_>) -> Result<Self, ApiError> {
        match request.string("truncation")?.as_deref() {
            None | Some("disabled") => Ok(Self::Disabled),
            Some("auto") => Ok(Self::Auto),
            Some(other) => {
                Err(request.path("truncation").unsupported(other, &["auto", "disabled"]))
            }
        }
    }
}

// === impl Include ===

impl Include {
    pub(super) fn read(request: &mut Object<'_>) -> Result<Self, ApiError> {
        let mut include = Self::default();
        let values = request.array("include")?.unwrap_or_default();
        let path = request.path("include");
        for (index, value) in values.iter().enumerate() {
            match value {
                Value::String(name) if name == ENCRYPTED_REASONING => {
                    include.encrypted_reasoning = true;
                }
                Value::String(name) if name == LOGPROBS => include.logprobs = true,
                Value::String(name) if INCLUDABLE.contains(&name.as_str()) => {}
                Value::String(name) => return Err(path.item(index).unsupported(name, &INCLUDABLE)),
                other => return Err(path.item(index).wrong_type("a string", other)),
            }
        }
        Ok(include)
    }
}
