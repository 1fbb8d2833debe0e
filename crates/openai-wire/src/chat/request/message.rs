//! The messages of a request.

use serde_json::Value;

use crate::ApiError;
use crate::reading::{CustomCall, FunctionCall, Object, Part, Path, read_content, read_namespace};

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

/// A call with an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// The namespace of the tool, if the client sends it.
    pub namespace: Option<String>,
    /// What was called.
    pub tool: CalledTool,
}

/// What was called, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CalledTool {
    /// A function.
    Function(FunctionCall),
    /// A custom tool.
    Custom(CustomCall),
}

const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

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
        let function_call =
            function_call.map(|call| read_call(call, message.path("function_call"))).transpose()?;
        Ok(Self::Assistant { content, tool_calls, function_call })
    }
}

// === impl ToolCall ===

impl ToolCall {
    fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        let mut call = Object::read(value, path)?;
        let r#type = call.string("type")?;
        let id = call.required_string("id")?;
        let namespace = read_namespace(&mut call)?;
        match r#type.as_deref() {
            None | Some("function") => {}
            Some("custom") => {
                return Ok(Self { id, namespace, tool: CalledTool::read_custom(call)? });
            }
            Some(other) => {
                return Err(call.path("type").unsupported(other, &["function", "custom"]));
            }
        }
        let function = call.take("function").ok_or_else(|| call.path("function").missing())?;
        let mut function = read_call(function, call.path("function"))?;
        // Some clients put the arguments beside the function.
        if function.arguments.is_empty() {
            function.arguments = FunctionCall::read_arguments(&mut call)?;
        }
        Ok(Self { id, namespace, tool: CalledTool::Function(function) })
    }
}

// === impl CalledTool ===

impl CalledTool {
    /// Cursor has the members of `custom` beside the type.
    fn read_custom(mut call: Object<'_>) -> Result<Self, ApiError> {
        match call.take("custom") {
            Some(members) => {
                let path = call.path("custom");
                CustomCall::read(&mut Object::read(members, path)?).map(Self::Custom)
            }
            None if call.has("name") => CustomCall::read(&mut call).map(Self::Custom),
            None => Err(call.path("custom").missing()),
        }
    }
}

fn read_call(value: Value, path: Path<'_>) -> Result<FunctionCall, ApiError> {
    FunctionCall::read(&mut Object::read(value, path)?)
}
