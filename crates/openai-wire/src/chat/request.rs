//! A request for `/v1/chat/completions`, read as tolerantly as clients need.
//!
//! `null` is the same as absent, and fields that nobody knows are passed over. What is wrong is told
//! with its exact place and with what is allowed instead.

mod fields;
mod message;
mod options;
mod tool_choice;
mod tools;

pub use fields::FIELDS;
pub use message::{CalledTool, Message, ToolCall};
pub use tools::ToolDialect;

use crate::ApiError;
use crate::reading::{
    self, Object, Path, ReasoningSummary, ResponseFormat, ServiceTier, ToolChoice, Tools, Verbosity,
};

/// What a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The model, as the client names it.
    pub model: String,
    /// The conversation; at least one message.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Tools,
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
    /// How many words the model should make.
    pub verbosity: Option<Verbosity>,
    /// How the upstream should process the request.
    pub service_tier: ServiceTier,
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

// === impl ChatRequest ===

impl ChatRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with status 400.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let value = serde_json::from_slice(body).map_err(|error| ApiError::not_json(&error))?;
        let mut request = Object::read(value, Path::Root)?;
        let model = reading::read_model(&mut request)?;
        let messages = read_messages(&mut request)?;
        let (tools, tool_dialect) = tools::read_tools(&mut request)?;
        let tool_choice = tool_choice::read_tool_choice(&mut request, &tools.declared)?;
        let (reasoning_effort, reasoning_summary) = options::read_reasoning(&mut request)?;
        let max_tokens = request.count("max_tokens")?;
        reading::refuse_audio(&mut request)?;
        let mut ignored = reading::ignored(FIELDS, &mut request);
        let service_tier = reading::read_service_tier(&mut request, &mut ignored)?;
        Ok(Self {
            model,
            messages,
            tools,
            tool_dialect,
            tool_choice,
            parallel_tool_calls: request.boolean("parallel_tool_calls")?,
            response_format: options::read_response_format(&mut request)?,
            reasoning_effort,
            reasoning_summary,
            verbosity: Verbosity::read(&mut request)?,
            service_tier,
            stop: options::read_stop(&mut request)?,
            max_tokens: request.count("max_completion_tokens")?.or(max_tokens),
            n: request.count("n")?.unwrap_or(1),
            stream: request.boolean("stream")?.unwrap_or(false),
            include_usage: options::read_include_usage(&mut request)?,
            ignored,
        })
    }
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
