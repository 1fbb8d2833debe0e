//! The conversation so far, as the model will see it.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use crate::json_schema::JsonSchema;
use crate::tool_names::{ToolName, ToolNames};

/// One item of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryItem {
    /// Somebody said something.
    Message {
        /// Who.
        role: Role,
        /// What.
        content: Vec<ContentPart>,
        /// Which of the model's messages it is, if it said so.
        phase: Option<MessagePhase>,
    },
    /// The model called a tool.
    ToolCall {
        /// Id of the call, as the upstream gave it.
        call_id: String,
        /// Name of the tool, as the client declares it.
        name: ToolName,
        /// What it was called with.
        input: CallInput,
    },
    /// The client answered a call.
    ToolOutput {
        /// Id of the call.
        call_id: String,
        /// The answer.
        output: ToolOutput,
    },
    /// The model's own reasoning, to be handed back as it came.
    Reasoning {
        /// Written for people.
        summary: Vec<String>,
        /// The part that only the upstream can read.
        encrypted_content: String,
        /// Whether the turn goes on without it if the upstream cannot read it after all.
        expendable: bool,
    },
}

/// Who wrote a message.
///
/// There is no system role: Codex drops such messages silently, and developer is its successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The application.
    Developer,
    /// The person.
    User,
    /// The model.
    Assistant,
}

/// What kind of message one of the model's is. Models that say so want to read it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessagePhase {
    /// On the way to the answer.
    Commentary,
    /// The answer.
    FinalAnswer,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPart {
    /// Text.
    Text(String),
    /// An image as a `data:` URL; Codex takes no other.
    Image {
        /// The `data:` URL.
        url: String,
    },
}

/// What a tool was called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallInput {
    /// A function, with this exact argument text.
    Arguments(String),
    /// A custom tool, with this text.
    Text(String),
}

/// The answer to a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolOutput {
    /// Text.
    Text(String),
    /// Text and images.
    Parts(Vec<ContentPart>),
}

/// An item in the shape that Codex takes.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Wire<'a> {
    Message {
        role: Role,
        content: Vec<WirePart<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<MessagePhase>,
    },
    FunctionCall {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        arguments: &'a str,
        call_id: &'a str,
    },
    FunctionCallOutput {
        call_id: &'a str,
        output: WireOutput<'a>,
    },
    CustomToolCall {
        name: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        input: &'a str,
        call_id: &'a str,
    },
    CustomToolCallOutput {
        call_id: &'a str,
        output: WireOutput<'a>,
    },
    Reasoning {
        summary: Vec<WirePart<'a>>,
        encrypted_content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    InputText { text: &'a str },
    OutputText { text: &'a str },
    SummaryText { text: &'a str },
    InputImage { image_url: &'a str },
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireOutput<'a> {
    Text(&'a str),
    Parts(Vec<WirePart<'a>>),
}

/// A history that Codex would not take as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("history item {index}: {problem}")]
pub struct InvalidHistory {
    /// Which item, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

// === impl HistoryItem ===

impl HistoryItem {
    /// A message of one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::Message { role, content: vec![ContentPart::Text(text.into())], phase: None }
    }

    /// A call of a function outside any namespace.
    pub fn function_call(call_id: &str, name: &str, arguments: &str) -> Self {
        let input = CallInput::Arguments(arguments.to_owned());
        Self::ToolCall { call_id: call_id.to_owned(), name: name.into(), input }
    }

    pub(crate) fn is_expendable(&self) -> bool {
        matches!(self, Self::Reasoning { expendable: true, .. })
    }

    /// Whether the model said it.
    pub(crate) fn is_the_models(&self) -> bool {
        matches!(self, Self::ToolCall { .. } | Self::Message { role: Role::Assistant, .. })
    }

    /// As Codex takes it, without an id; `alias` is a tool's name towards Codex, and `custom` has the
    /// calls of custom tools before it.
    pub(crate) fn to_json(
        &self,
        alias: &ToolName,
        custom: &CustomCalls,
    ) -> serde_json::Result<String> {
        serde_json::to_string(&self.to_wire(alias, custom))
    }

    pub(crate) fn has_images(&self) -> bool {
        self.parts().iter().any(|part| matches!(part, ContentPart::Image { .. }))
    }

    fn parts(&self) -> &[ContentPart] {
        match self {
            Self::Message { content, .. }
            | Self::ToolOutput { output: ToolOutput::Parts(content), .. } => content,
            Self::ToolOutput { .. } | Self::ToolCall { .. } | Self::Reasoning { .. } => &[],
        }
    }

    fn id_prefix(&self, custom: &CustomCalls) -> &'static str {
        match self {
            Self::Message { .. } => "msg_",
            Self::ToolCall { input: CallInput::Arguments(_), .. } => "fc_",
            Self::ToolCall { input: CallInput::Text(_), .. } => "ctc_",
            Self::ToolOutput { call_id, .. } if custom.has(call_id) => "ctco_",
            Self::ToolOutput { .. } => "fco_",
            Self::Reasoning { .. } => "rs_",
        }
    }

    fn to_wire<'a>(&'a self, alias: &'a ToolName, custom: &CustomCalls) -> Wire<'a> {
        let (name, namespace) = (alias.name.as_str(), alias.namespace.as_deref());
        match self {
            Self::Message { role, content, phase } => {
                Wire::Message { role: *role, content: wire_parts(content, *role), phase: *phase }
            }
            Self::ToolCall { call_id, input: CallInput::Arguments(arguments), .. } => {
                Wire::FunctionCall { name, namespace, arguments, call_id }
            }
            Self::ToolCall { call_id, input: CallInput::Text(input), .. } => {
                Wire::CustomToolCall { name, namespace, input, call_id }
            }
            Self::ToolOutput { call_id, output } => {
                let output = match output {
                    ToolOutput::Text(text) => WireOutput::Text(text),
                    ToolOutput::Parts(parts) => WireOutput::Parts(wire_parts(parts, Role::User)),
                };
                if custom.has(call_id) {
                    Wire::CustomToolCallOutput { call_id, output }
                } else {
                    Wire::FunctionCallOutput { call_id, output }
                }
            }
            Self::Reasoning { summary, encrypted_content, .. } => Wire::Reasoning {
                summary: summary.iter().map(|text| WirePart::SummaryText { text }).collect(),
                encrypted_content,
            },
        }
    }
}

fn wire_parts(parts: &[ContentPart], role: Role) -> Vec<WirePart<'_>> {
    parts
        .iter()
        .map(|part| match (part, role) {
            (ContentPart::Text(text), Role::Assistant) => WirePart::OutputText { text },
            (ContentPart::Text(text), Role::Developer | Role::User) => WirePart::InputText { text },
            (ContentPart::Image { url }, _) => WirePart::InputImage { image_url: url },
        })
        .collect()
}

/// The items in Codex's shape, each with an id of its own.
///
/// Codex gives a random id to an item without one, and the upstream's prompt cache would never
/// see the same prefix twice. So an id is derived from the item and from everything before it:
/// equal prefixes have equal ids, and two equal messages in one history have different ones.
///
/// `look` sees each item without its id.
pub(crate) fn to_wire(
    items: &[HistoryItem],
    names: &mut ToolNames,
    mut look: impl FnMut(&HistoryItem, &str),
) -> Result<Vec<Box<str>>, InvalidHistory> {
    check_calls(items)?;
    let mut chain = SipHasher13::new();
    let mut custom = CustomCalls::default();
    items
        .iter()
        .enumerate()
        .map(|(index, item)| {
            let invalid = |problem| InvalidHistory { index, problem };
            let remote = |part: &ContentPart| {
                matches!(part, ContentPart::Image { url } if !url.starts_with("data:"))
            };
            if item.parts().iter().any(remote) {
                return Err(invalid("an image must be a data: URL"));
            }
            let alias = match item {
                HistoryItem::ToolCall { name, .. } => names.mention(name),
                _ => ToolName::default(),
            };
            custom.note(item);
            let unwritable = |_| invalid("it cannot be written as JSON");
            let mut json = item.to_json(&alias, &custom).map_err(unwritable)?;
            look(item, &json);
            chain.write(json.as_bytes());
            let hash = chain.finish128().as_u128();
            push_id(&mut json, item.id_prefix(&custom), hash);
            Ok(json.into_boxed_str())
        })
        .collect()
}

/// Gives a JSON object a last member. Digit by digit, in a fraction of the time that `{hash:032x}` takes:
/// every item of a long history has one.
fn push_id(object: &mut String, prefix: &str, hash: u128) {
    const DIGITS: usize = 32;
    object.pop();
    object.reserve(r#","id":""}"#.len() + prefix.len() + DIGITS);
    object.push_str(r#","id":""#);
    object.push_str(prefix);
    for digit in (0..DIGITS).rev() {
        let digit = (hash >> (digit * 4)) as usize & 0xf;
        object.push(char::from(b"0123456789abcdef"[digit]));
    }
    object.push_str(r#""}"#);
}

/// Codex drops an output without a call, and makes up an output for a call without one.
fn check_calls(items: &[HistoryItem]) -> Result<(), InvalidHistory> {
    let mut unanswered: HashMap<&str, usize> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        match item {
            HistoryItem::ToolCall { call_id, .. } => {
                if unanswered.insert(call_id, index).is_some() {
                    let problem = "an earlier call of the same id has no output";
                    return Err(InvalidHistory { index, problem });
                }
            }
            HistoryItem::ToolOutput { call_id, .. } => {
                if unanswered.remove(call_id.as_str()).is_none() {
                    let problem = "there is no call before this output";
                    return Err(InvalidHistory { index, problem });
                }
            }
            HistoryItem::Message { .. } | HistoryItem::Reasoning { .. } => {}
        }
    }
    match unanswered.into_values().min() {
        Some(index) => Err(InvalidHistory { index, problem: "the call has no output" }),
        None => Ok(()),
    }
}

/// A tool that the client offers to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name; any text will do.
    pub name: ToolName,
    /// What its namespace is for, if it has one.
    pub namespace_description: Arc<str>,
    /// What it is for.
    pub description: String,
    /// What it is called with.
    pub input: ToolInput,
}

/// What a tool is called with.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// JSON that follows this schema, an object.
    Json(JsonSchema),
    /// Any text: a custom tool.
    Text,
}

/// The calls of custom tools in a conversation: their outputs are items of another type.
#[derive(Debug, Clone, Default)]
pub(crate) struct CustomCalls(HashSet<String>);

// === impl Tool ===

impl Tool {
    /// A function outside any namespace.
    pub fn function(name: &str, description: &str, parameters: impl Into<JsonSchema>) -> Self {
        Self {
            name: name.into(),
            namespace_description: Arc::default(),
            description: description.to_owned(),
            input: ToolInput::Json(parameters.into()),
        }
    }
}

// === impl CustomCalls ===

impl CustomCalls {
    /// The next item of the conversation.
    pub(crate) fn note(&mut self, item: &HistoryItem) {
        if let HistoryItem::ToolCall { call_id, input, .. } = item {
            match input {
                CallInput::Text(_) => {
                    self.0.insert(call_id.clone());
                }
                // Most conversations have none.
                CallInput::Arguments(_) if self.0.is_empty() => {}
                CallInput::Arguments(_) => {
                    self.0.remove(call_id);
                }
            }
        }
    }

    fn has(&self, call_id: &str) -> bool {
        self.0.contains(call_id)
    }
}

// === impl MessagePhase ===

impl MessagePhase {
    /// The phase of that name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "commentary" => Some(Self::Commentary),
            "final_answer" => Some(Self::FinalAnswer),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
