//! The messages of a request.

use serde_json::Value;

use super::object::{Object, Path};
use crate::ApiError;

/// A message. Its place in the request is its place in the list.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Of the application: `system` or `developer`.
    System {
        /// What it says.
        content: Vec<Part>,
    },
    /// Of the person.
    User {
        /// What it says.
        content: Vec<Part>,
    },
    /// Of the model.
    Assistant {
        /// What it says.
        content: Vec<Part>,
        /// The calls that it made.
        tool_calls: Vec<ToolCall>,
        /// The call that it made in the legacy form, which has no id.
        function_call: Option<FunctionCall>,
    },
    /// The result of one of `tool_calls`.
    Tool {
        /// Id of the call.
        tool_call_id: String,
        /// The result.
        content: Vec<Part>,
    },
    /// The result of a legacy `function_call`.
    Function {
        /// Name of the function.
        name: String,
        /// The result.
        content: Vec<Part>,
    },
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Where it is, or a `data:` URL.
        url: String,
        /// How closely the model should look.
        detail: Option<String>,
    },
}

/// A call with an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// What was called.
    pub function: FunctionCall,
}

/// What was called, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCall {
    /// Name of the function.
    pub name: String,
    /// Exact argument text.
    pub arguments: String,
}

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// Names that parts have in this API and in the Responses API.
const PART_TYPES: [&str; 6] =
    ["text", "image_url", "input_text", "output_text", "input_image", "refusal"];

// === impl Message ===

impl Message {
    /// What it says.
    pub fn content(&self) -> &[Part] {
        match self {
            Self::System { content }
            | Self::User { content }
            | Self::Assistant { content, .. }
            | Self::Tool { content, .. }
            | Self::Function { content, .. } => content,
        }
    }

    pub(super) fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        let mut message = Object::read(value, path)?;
        let role = message.required_string("role")?;
        let content = read_content(message.take("content"), message.path("content"))?;
        match role.as_str() {
            "system" | "developer" => Ok(Self::System { content }),
            "user" => Ok(Self::User { content }),
            "assistant" => Self::read_assistant(message, content),
            "tool" => {
                Ok(Self::Tool { tool_call_id: message.required_string("tool_call_id")?, content })
            }
            "function" => Ok(Self::Function { name: message.required_string("name")?, content }),
            _ => Err(message.path("role").unsupported(&role, &ROLES)),
        }
    }

    fn read_assistant(mut message: Object<'_>, mut content: Vec<Part>) -> Result<Self, ApiError> {
        if message.take("audio").is_some() {
            let problem =
                "Audio of an earlier answer cannot be sent back: send its text as 'content'.";
            return Err(message.path("audio").invalid(problem));
        }
        // An answer has either a text or a refusal.
        if content.iter().all(Part::is_empty) {
            content.extend(message.string("refusal")?.map(Part::Text));
        }
        let calls = message.array("tool_calls")?.unwrap_or_default();
        let calls_path = message.path("tool_calls");
        let tool_calls = calls
            .into_iter()
            .enumerate()
            .map(|(index, call)| ToolCall::read(call, calls_path.item(index)))
            .collect::<Result<_, _>>()?;
        let function_call = message.take("function_call");
        let function_call = function_call
            .map(|call| FunctionCall::read(call, message.path("function_call")))
            .transpose()?;
        Ok(Self::Assistant { content, tool_calls, function_call })
    }
}

/// Text, a list of parts, or nothing. Parts keep their places, so that they can be named.
fn read_content(content: Option<Value>, path: Path<'_>) -> Result<Vec<Part>, ApiError> {
    match content {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text)]),
        Some(Value::Array(parts)) => parts
            .into_iter()
            .enumerate()
            .map(|(index, part)| Part::read(part, path.item(index)))
            .collect(),
        Some(other) => Err(path.wrong_type("a string or an array of parts", &other)),
    }
}

// === impl Part ===

impl Part {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        if let Value::String(text) = value {
            return Ok(Self::Text(text));
        }
        let mut part = Object::read(value, path)?;
        let r#type = part.required_string("type")?;
        match r#type.as_str() {
            "text" | "input_text" | "output_text" => Ok(Self::Text(part.required_string("text")?)),
            "refusal" => Ok(Self::Text(part.required_string("refusal")?)),
            "image_url" | "input_image" => Self::read_image(part),
            _ => Err(part.path("type").unsupported(&r#type, &PART_TYPES)),
        }
    }

    /// `image_url` is an object in this API, and a text in the Responses API.
    fn read_image(mut part: Object<'_>) -> Result<Self, ApiError> {
        let detail = part.string("detail")?;
        match part.take("image_url") {
            None => Err(part.path("image_url").missing()),
            Some(Value::String(url)) => Ok(Self::Image { url, detail }),
            Some(image) => {
                let mut image = Object::read(image, part.path("image_url"))?;
                let detail = image.string("detail")?.or(detail);
                Ok(Self::Image { url: image.required_string("url")?, detail })
            }
        }
    }
}

// === impl ToolCall ===

impl ToolCall {
    fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        let mut call = Object::read(value, path)?;
        if let Some(r#type) = call.string("type")?.filter(|name| name != "function") {
            return Err(call.path("type").unsupported(&r#type, &["function"]));
        }
        let id = call.required_string("id")?;
        let function = call.take("function").ok_or_else(|| call.path("function").missing())?;
        Ok(Self { id, function: FunctionCall::read(function, call.path("function"))? })
    }
}

// === impl FunctionCall ===

impl FunctionCall {
    fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        let mut call = Object::read(value, path)?;
        let name = call.required_string("name")?;
        if name.is_empty() {
            return Err(call.path("name").invalid("The name of a function must not be empty."));
        }
        let arguments = match call.take("arguments") {
            None => String::new(),
            Some(Value::String(text)) => text,
            // Some clients send what they have parsed.
            Some(object @ Value::Object(_)) => object.to_string(),
            Some(other) => {
                return Err(call.path("arguments").wrong_type("a string of JSON", &other));
            }
        };
        Ok(Self { name, arguments })
    }
}
