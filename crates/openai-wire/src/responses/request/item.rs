//! The items of a conversation: what a request gives, and what is kept of earlier ones.

mod writing;

use model_turn::MessagePhase;
use serde::Serialize;
use serde_json::Value;

use crate::ApiError;
use crate::reading::{
    CustomCall, FunctionCall, Object, Part, Path, ToolForm, Tools, read_content, read_namespace,
};

/// An item. Its place in the conversation is its place in the list. No id is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputItem {
    /// Something that was said.
    Message {
        /// Its id.
        id: Option<String>,
        /// Who said it.
        role: MessageRole,
        /// What it says.
        content: Vec<Part>,
        /// What kind of text of the model's it is, where that is known.
        phase: Option<MessagePhase>,
    },
    /// A call that the model made.
    FunctionCall {
        /// Its id as an item.
        id: Option<String>,
        /// Its id as a call.
        call_id: String,
        /// Its namespace.
        namespace: Option<String>,
        /// Name of the function.
        name: String,
        /// Exact argument text.
        arguments: String,
    },
    /// The result of a call.
    FunctionCallOutput {
        /// Its id.
        id: Option<String>,
        /// Id of the call.
        call_id: String,
        /// The result.
        output: Vec<Part>,
    },
    /// A call of a custom tool that the model made.
    CustomToolCall {
        /// Its id as an item.
        id: Option<String>,
        /// Its id as a call.
        call_id: String,
        /// The namespace of the tool.
        namespace: Option<String>,
        /// Name of the tool.
        name: String,
        /// Exact input.
        input: String,
    },
    /// The result of such a call.
    CustomToolCallOutput {
        /// Its id.
        id: Option<String>,
        /// Id of the call.
        call_id: String,
        /// The result.
        output: Vec<Part>,
    },
    /// Tools that the model may call from here on.
    AdditionalTools {
        /// Its id.
        id: Option<String>,
        /// The tools, as they were written.
        tools: Vec<Value>,
    },
    /// What the model thought.
    Reasoning {
        /// Its id.
        id: Option<String>,
        /// What people may read of it, part by part.
        summary: Vec<String>,
        /// The reasoning itself, which only the upstream can read.
        encrypted_content: Option<String>,
    },
    /// An item that was kept, in its place.
    Reference {
        /// Its id.
        id: String,
    },
}

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageRole {
    /// The application.
    System,
    /// The application, by its newer name.
    Developer,
    /// The person.
    User,
    /// The model.
    Assistant,
}

const TYPES: [&str; 8] = [
    "message",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "additional_tools",
    "reasoning",
    "item_reference",
];

const ROLES: [&str; 4] = ["system", "developer", "user", "assistant"];

// === impl InputItem ===

impl InputItem {
    /// Reads an item that was kept: what [`to_json`](Self::to_json) wrote, or an item of a
    /// response's output.
    ///
    /// # Errors
    /// What is wrong with it, as with an item of a request.
    pub fn parse(json: &str) -> Result<Self, ApiError> {
        let value = serde_json::from_str(json).map_err(|error| ApiError::not_json(&error))?;
        Self::read(value, Path::Root)
    }

    /// Its id, if it has got one.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Message { id, .. }
            | Self::FunctionCall { id, .. }
            | Self::FunctionCallOutput { id, .. }
            | Self::CustomToolCall { id, .. }
            | Self::CustomToolCallOutput { id, .. }
            | Self::AdditionalTools { id, .. }
            | Self::Reasoning { id, .. } => id.as_deref(),
            Self::Reference { id } => Some(id),
        }
    }

    /// Gives it an id; a reference then is one to another item.
    pub fn set_id(&mut self, new: String) {
        match self {
            Self::Message { id, .. }
            | Self::FunctionCall { id, .. }
            | Self::FunctionCallOutput { id, .. }
            | Self::CustomToolCall { id, .. }
            | Self::CustomToolCallOutput { id, .. }
            | Self::AdditionalTools { id, .. }
            | Self::Reasoning { id, .. } => *id = Some(new),
            Self::Reference { id } => *id = new,
        }
    }

    /// What it says, if it is a message or a result.
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::Message { content, .. } => content,
            Self::FunctionCallOutput { output, .. } | Self::CustomToolCallOutput { output, .. } => {
                output
            }
            Self::FunctionCall { .. }
            | Self::CustomToolCall { .. }
            | Self::AdditionalTools { .. }
            | Self::Reasoning { .. }
            | Self::Reference { .. } => &[],
        }
    }

    /// The tools that it declares; `place` is where it is in the request.
    pub fn additional_tools(&self, place: &str) -> Tools {
        match self {
            Self::AdditionalTools { tools, .. } => {
                let item = Path::Root.field(place);
                // They were read once before, so they can be read again.
                Tools::read(tools.clone(), item.field("tools"), ToolForm::Flat).unwrap_or_default()
            }
            _ => Tools::default(),
        }
    }

    /// How ids of such items begin. A reference has none of its own.
    pub fn id_prefix(&self) -> &'static str {
        match self {
            Self::Message { .. } => "msg_",
            Self::FunctionCall { .. } => "fc_",
            Self::FunctionCallOutput { .. } => "fco_",
            Self::CustomToolCall { .. } => "ctc_",
            Self::CustomToolCallOutput { .. } => "ctco_",
            Self::AdditionalTools { .. } => "at_",
            Self::Reasoning { .. } => "rs_",
            Self::Reference { .. } => "",
        }
    }

    pub(super) fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        let mut item = Object::read(value, path)?;
        let given = item.string("type")?;
        let r#type = match given.as_deref() {
            Some(name) => name,
            None => type_by_members(&item).ok_or_else(|| item.path("type").missing())?,
        };
        match r#type {
            "message" => Self::read_message(item),
            "function_call" => Self::read_call(item),
            "function_call_output" => {
                let (id, call_id, output) = read_output(item)?;
                Ok(Self::FunctionCallOutput { id, call_id, output })
            }
            "custom_tool_call" => Self::read_custom_call(item),
            "custom_tool_call_output" => {
                let (id, call_id, output) = read_output(item)?;
                Ok(Self::CustomToolCallOutput { id, call_id, output })
            }
            "additional_tools" => Self::read_additional_tools(item),
            "reasoning" => Self::read_reasoning(item),
            "item_reference" => Ok(Self::Reference { id: item.required_string("id")? }),
            _ => Err(item.path("type").unsupported(r#type, &TYPES)),
        }
    }

    fn read_message(mut item: Object<'_>) -> Result<Self, ApiError> {
        let role = item.required_string("role")?;
        let role = MessageRole::named(&role).ok_or_else(|| match role.as_str() {
            "tool" | "function" => item.path("role").invalid(format!(
                "Invalid value: '{role}'. The result of a call is no message here: send an item of type 'function_call_output', with its 'call_id' and its 'output'."
            )),
            _ => item.path("role").unsupported(&role, &ROLES),
        })?;
        for name in ["tool_calls", "function_call"] {
            if item.take(name).is_some_and(|calls| calls != Value::Array(Vec::new())) {
                let problem = "A call is no part of a message here: send an item of type 'function_call', with its 'call_id', 'name' and 'arguments'.";
                return Err(item.path(name).invalid(problem));
            }
        }
        Ok(Self::Message {
            id: read_id(&mut item)?,
            role,
            content: read_content(item.take("content"), item.path("content"))?,
            phase: item
                .take("phase")
                .as_ref()
                .and_then(Value::as_str)
                .and_then(MessagePhase::named),
        })
    }

    fn read_call(mut item: Object<'_>) -> Result<Self, ApiError> {
        let call_id = item.required_string("call_id")?;
        let namespace = read_namespace(&mut item)?;
        let FunctionCall { name, arguments } = FunctionCall::read(&mut item)?;
        Ok(Self::FunctionCall { id: read_id(&mut item)?, call_id, namespace, name, arguments })
    }

    fn read_custom_call(mut item: Object<'_>) -> Result<Self, ApiError> {
        let call_id = item.required_string("call_id")?;
        let namespace = read_namespace(&mut item)?;
        let CustomCall { name, input } = CustomCall::read(&mut item)?;
        Ok(Self::CustomToolCall { id: read_id(&mut item)?, call_id, namespace, name, input })
    }

    fn read_additional_tools(mut item: Object<'_>) -> Result<Self, ApiError> {
        let tools = item.array("tools")?.unwrap_or_default();
        Tools::read(tools.clone(), item.path("tools"), ToolForm::Flat)?;
        Ok(Self::AdditionalTools { id: read_id(&mut item)?, tools })
    }

    fn read_reasoning(mut item: Object<'_>) -> Result<Self, ApiError> {
        let parts = item.array("summary")?.unwrap_or_default();
        let path = item.path("summary");
        let summary = parts
            .into_iter()
            .enumerate()
            .map(|(index, part)| read_summary_part(part, path.item(index)))
            .collect::<Result<_, _>>()?;
        let encrypted_content = item.string("encrypted_content")?;
        Ok(Self::Reasoning { id: read_id(&mut item)?, summary, encrypted_content })
    }
}

fn read_output(mut item: Object<'_>) -> Result<(Option<String>, String, Vec<Part>), ApiError> {
    let call_id = item.required_string("call_id")?;
    let output = item.take("output").unwrap_or_else(|| Value::String(String::new()));
    let output = read_content(Some(output), item.path("output"))?;
    Ok((read_id(&mut item)?, call_id, output))
}

/// What an item is that does not say so.
fn type_by_members(item: &Object<'_>) -> Option<&'static str> {
    if item.has("role") {
        Some("message")
    } else if item.has("call_id") && item.has("output") {
        Some("function_call_output")
    } else if item.has("call_id") && item.has("name") {
        Some("function_call")
    } else if item.has_only("id") {
        Some("item_reference")
    } else {
        None
    }
}

fn read_id(item: &mut Object<'_>) -> Result<Option<String>, ApiError> {
    Ok(item.string("id")?.filter(|id| !id.is_empty()))
}

fn read_summary_part(value: Value, path: Path<'_>) -> Result<String, ApiError> {
    if let Value::String(text) = value {
        return Ok(text);
    }
    let mut part = Object::read(value, path)?;
    if let Some(r#type) = part.string("type")?.filter(|name| name != "summary_text") {
        return Err(part.path("type").unsupported(&r#type, &["summary_text"]));
    }
    part.required_string("text")
}

// === impl MessageRole ===

impl MessageRole {
    fn named(name: &str) -> Option<Self> {
        match name {
            "system" => Some(Self::System),
            "developer" => Some(Self::Developer),
            "user" => Some(Self::User),
            "assistant" => Some(Self::Assistant),
            _ => None,
        }
    }
}
