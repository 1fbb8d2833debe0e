//! A request for `/v1/responses`, read as tolerantly as clients need.
//!
//! `null` is the same as absent, and fields that nobody knows are passed over. What is wrong is told
//! with its exact place and with what is allowed instead.

mod echo;
mod fields;
mod item;
mod options;
mod text;
mod tools;

use serde_json::Value;

pub use echo::{Echo, JsonText};
pub use fields::FIELDS;
pub use item::{InputItem, MessageRole};
pub use options::Truncation;

use crate::ApiError;
use crate::reading::{
    self, Object, Part, Path, ReasoningSummary, ResponseFormat, ServiceTier, ToolChoice, Tools,
    Verbosity,
};
use options::Include;
use text::Text;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct ResponsesRequest {
    /// The model, as the client names it.
    pub model: String,
    /// What is new in the conversation. Empty only if there is something else to go by: an earlier
    /// response, or instructions.
    pub input: Vec<InputItem>,
    /// What the application tells the model before everything else.
    pub instructions: Option<String>,
    /// The tools that the model may call, beside those of the input.
    pub tools: Tools,
    /// Which of them may or must be called.
    pub tool_choice: ToolChoice,
    /// Whether one answer may have several calls.
    pub parallel_tool_calls: Option<bool>,
    /// The form of the answer.
    pub format: ResponseFormat,
    /// How hard the model should think.
    pub reasoning_effort: Option<String>,
    /// How its thoughts should be summed up.
    pub reasoning_summary: Option<ReasoningSummary>,
    /// How many words the model should make.
    pub verbosity: Option<Verbosity>,
    /// How the upstream should process the request.
    pub service_tier: ServiceTier,
    /// Most tokens of the answer.
    pub max_output_tokens: Option<u32>,
    /// The response that the conversation goes on from.
    pub previous_response_id: Option<String>,
    /// Whether the response is to be kept.
    pub store: Option<bool>,
    /// Whether items of reasoning come with the reasoning itself, encrypted.
    pub include_encrypted_reasoning: bool,
    /// Whether the answer is streamed.
    pub stream: bool,
    /// What the response repeats.
    pub echo: Echo,
    /// What was given and has no effect: names of fields, or paths of their members.
    pub ignored: Vec<&'static str>,
}

// === impl ResponsesRequest ===

impl ResponsesRequest {
    /// Reads a body.
    ///
    /// # Errors
    /// The first thing that is wrong with it, with status 400.
    pub fn parse(body: &[u8]) -> Result<Self, ApiError> {
        let value = serde_json::from_slice(body).map_err(|error| ApiError::not_json(&error))?;
        let mut request = Object::read(value, Path::Root)?;
        options::refuse(&mut request)?;
        let model = reading::read_model(&mut request)?;
        let instructions = request.string("instructions")?;
        let previous_response_id = request.string("previous_response_id")?;
        let input = match request.take("input") {
            // Whoever goes on from a response need not say anything new.
            None if previous_response_id.is_some() => Vec::new(),
            input => read_input(input, request.path("input"))?,
        };
        if input.is_empty() && instructions.is_none() && previous_response_id.is_none() {
            let problem = "Invalid 'input': empty array. Expected at least one item.";
            return Err(request.path("input").invalid(problem).with_code("empty_array"));
        }
        let tools = tools::read_tools(&mut request)?;
        let tool_choice = tools::read_tool_choice(&mut request, &tools, &input)?;
        let text = Text::read(&mut request)?;
        let (reasoning_effort, reasoning_summary) = reading::read_reasoning(&mut request)?;
        let truncation = Truncation::read(&mut request)?;
        let include = Include::read(&mut request)?;
        let mut ignored = reading::ignored(FIELDS, &mut request);
        let service_tier = reading::read_service_tier(&mut request, &mut ignored)?;
        let echo = Echo {
            tools: echo::tools(&tools.declared),
            tool_choice: echo::tool_choice(&tool_choice),
            text: text.echo(),
            reasoning: echo::reasoning(reasoning_effort.as_deref(), reasoning_summary),
            metadata: options::read_metadata(&mut request)?,
            user: request.string("user")?,
            safety_identifier: request.string("safety_identifier")?,
            prompt_cache_key: request.string("prompt_cache_key")?,
            truncation,
            max_tool_calls: request.count("max_tool_calls")?,
            service_tier,
        };
        ignored.extend((truncation == Truncation::Auto).then_some("truncation"));
        ignored.extend(include.logprobs.then_some("include"));
        Ok(Self {
            model,
            input,
            instructions,
            tools,
            tool_choice,
            parallel_tool_calls: request.boolean("parallel_tool_calls")?,
            format: text.format,
            reasoning_effort,
            reasoning_summary,
            verbosity: text.verbosity,
            service_tier,
            max_output_tokens: request.count("max_output_tokens")?,
            previous_response_id,
            store: request.boolean("store")?,
            include_encrypted_reasoning: include.encrypted_reasoning,
            stream: request.boolean("stream")?.unwrap_or(false),
            echo,
            ignored,
        })
    }
}

/// A text is a message of the person.
fn read_input(input: Option<Value>, path: Path<'_>) -> Result<Vec<InputItem>, ApiError> {
    match input {
        None => Err(path.missing()),
        Some(Value::String(text)) => Ok(vec![InputItem::Message {
            id: None,
            role: MessageRole::User,
            content: vec![Part::Text(text)],
            phase: None,
        }]),
        Some(Value::Array(items)) => items
            .into_iter()
            .enumerate()
            .map(|(index, item)| InputItem::read(item, path.item(index)))
            .collect(),
        Some(other) => Err(path.wrong_type("a string or an array of items", &other)),
    }
}

#[cfg(test)]
mod tests;
