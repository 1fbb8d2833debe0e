//! A request for `/v1/chat/completions`, read as tolerantly as clients need.
//!
//! `null` is the same as absent, and fields that nobody knows are passed over. What is wrong is told
//! with its exact place and with what is allowed instead.

mod fields;
mod message;
mod object;
mod options;
mod tool_choice;
mod tools;

use serde_json::{Map, Value};

pub use fields::{FIELDS, FieldTreatment};
pub use message::{FunctionCall, Message, Part, ToolCall};
pub use tool_choice::{AllowedMode, ToolChoice};
pub use tools::{FunctionTool, ToolDialect};

use crate::{ApiError, ErrorType};
use object::{Object, Path};

/// What a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The model, as the client names it.
    pub model: String,
    /// The conversation; at least one message.
    pub messages: Vec<Message>,
    /// The functions that the model may call; no two of one name.
    pub tools: Vec<FunctionTool>,
    /// Whether they were declared as `tools` or as `functions`.
    pub tool_dialect: ToolDialect,
    /// Which of them may or must be called.
    pub tool_choice: ToolChoice,
    /// Whether one answer may have several calls.
    pub parallel_tool_calls: Option<bool>,
    /// The form of the answer.
    pub response_format: ResponseFormat,
    /// How hard the model should think.
    pub reasoning_effort: Option<String>,
    /// How its thoughts should be summed up.
    pub reasoning_summary: Option<ReasoningSummary>,
    /// Texts that end the answer: at most four, none empty.
    pub stop: Vec<String>,
    /// Most tokens of the answer.
    pub max_tokens: Option<u32>,
    /// How many answers.
    pub n: u32,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// Whether a stream ends with the usage.
    pub include_usage: bool,
    /// Fields that were given and have no effect, in the order of [`FIELDS`].
    pub ignored: Vec<&'static str>,
}

/// The form of the answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ResponseFormat {
    /// Any text.
    #[default]
    Text,
    /// A JSON object.
    JsonObject,
    /// JSON that follows a schema.
    JsonSchema {
        /// What the answer is for.
        description: Option<String>,
        /// The schema.
        schema: Map<String, Value>,
        /// Whether the model is to be held to it.
        strict: bool,
    },
}

/// How the model's thoughts should be summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningSummary {
    /// As the model thinks best.
    Auto,
    /// In short.
    Concise,
    /// At length.
    Detailed,
    /// Not at all.
    None,
}

// === impl ChatRequest ===

impl ChatRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with status 400.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let value = serde_json::from_slice(body).map_err(|error| not_json(&error))?;
        let mut request = Object::read(value, Path::Root)?;
        let model = options::read_model(&mut request)?;
        let messages = read_messages(&mut request)?;
        let (tools, tool_dialect) = tools::read_tools(&mut request)?;
        let tool_choice = ToolChoice::read(&mut request, &tools)?;
        let (reasoning_effort, reasoning_summary) = options::read_reasoning(&mut request)?;
        let max_tokens = request.count("max_tokens")?;
        options::refuse_audio(&mut request)?;
        Ok(Self {
            model,
            messages,
            tools,
            tool_dialect,
            tool_choice,
            parallel_tool_calls: request.boolean("parallel_tool_calls")?,
            response_format: ResponseFormat::read(&mut request)?,
            reasoning_effort,
            reasoning_summary,
            stop: options::read_stop(&mut request)?,
            max_tokens: request.count("max_completion_tokens")?.or(max_tokens),
            n: request.count("n")?.unwrap_or(1),
            stream: request.boolean("stream")?.unwrap_or(false),
            include_usage: options::read_include_usage(&mut request)?,
            ignored: fields::ignored(&mut request),
        })
    }
}

fn not_json(error: &serde_json::Error) -> ApiError {
    let message = format!("The body of the request is not valid JSON: {error}.");
    ApiError::new(400, ErrorType::InvalidRequestError, message)
}

fn read_messages(request: &mut Object<'_>) -> Result<Vec<Message>, ApiError> {
    let messages = request.array("messages")?;
    let path = request.path("messages");
    let messages = messages.ok_or_else(|| path.missing())?;
    if messages.is_empty() {
        let problem = "Invalid 'messages': empty array. Expected at least one message.";
        return Err(path.invalid(problem).with_code("empty_array"));
    }
    let messages = messages.into_iter().enumerate();
    messages.map(|(index, message)| Message::read(message, path.item(index))).collect()
}

#[cfg(test)]
mod tests;
