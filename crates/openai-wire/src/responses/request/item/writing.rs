//! Items in OpenAI's shape.

use model_turn::MessagePhase;
use serde::Serialize;
use serde_json::Value;

use super::{InputItem, MessageRole};
use crate::reading::Part;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Written<'a> {
    Message {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        role: MessageRole,
        status: Status,
        content: Vec<Content<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        phase: Option<MessagePhase>,
    },
    FunctionCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        name: &'a str,
        arguments: &'a str,
        status: Status,
    },
    FunctionCallOutput {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        output: Output<'a>,
        status: Status,
    },
    CustomToolCall {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        namespace: Option<&'a str>,
        name: &'a str,
        input: &'a str,
        status: Status,
    },
    CustomToolCallOutput {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        call_id: &'a str,
        output: Output<'a>,
        status: Status,
    },
    AdditionalTools {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        role: MessageRole,
        tools: &'a [Value],
    },
    Reasoning {
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        summary: Vec<Content<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_content: Option<&'a str>,
    },
    ItemReference {
        id: &'a str,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    InputText { text: &'a str },
    // Clients read the lists without asking.
    OutputText { text: &'a str, annotations: [(); 0], logprobs: [(); 0] },
    SummaryText { text: &'a str },
    InputImage { image_url: &'a str, detail: Option<&'a str> },
}

/// A result that is one text is written as such, as nearly all clients send it.
#[derive(Serialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(&'a str),
    Parts(Vec<Content<'a>>),
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Completed,
}

// === impl InputItem ===

impl InputItem {
    /// The item with every member that OpenAI's have, for keeping it and for showing it.
    /// [`parse`](Self::parse) reads the same item out of it.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&Written::from(self)).unwrap_or_default()
    }
}

// === impl Written ===

impl<'a> From<&'a InputItem> for Written<'a> {
    fn from(item: &'a InputItem) -> Self {
        let status = Status::Completed;
        match item {
            InputItem::Message { id, role, content, phase } => Self::Message {
                id: id.as_deref(),
                role: *role,
                status,
                content: content.iter().map(|part| Content::new(part, *role)).collect(),
                phase: *phase,
            },
            InputItem::FunctionCall { id, call_id, namespace, name, arguments } => {
                let (id, namespace) = (id.as_deref(), namespace.as_deref());
                Self::FunctionCall { id, call_id, namespace, name, arguments, status }
            }
            InputItem::FunctionCallOutput { id, call_id, output } => Self::FunctionCallOutput {
                id: id.as_deref(),
                call_id,
                output: output.into(),
                status,
            },
            InputItem::CustomToolCall { id, call_id, namespace, name, input } => {
                let (id, namespace) = (id.as_deref(), namespace.as_deref());
                Self::CustomToolCall { id, call_id, namespace, name, input, status }
            }
            InputItem::CustomToolCallOutput { id, call_id, output } => Self::CustomToolCallOutput {
                id: id.as_deref(),
                call_id,
                output: output.into(),
                status,
            },
            InputItem::AdditionalTools { id, tools } => {
                Self::AdditionalTools { id: id.as_deref(), role: MessageRole::Developer, tools }
            }
            InputItem::Reasoning { id, summary, encrypted_content } => Self::Reasoning {
                id: id.as_deref(),
                summary: summary.iter().map(|text| Content::SummaryText { text }).collect(),
                encrypted_content: encrypted_content.as_deref(),
            },
            InputItem::Reference { id } => Self::ItemReference { id },
        }
    }
}

// === impl Content ===

impl<'a> Content<'a> {
    fn new(part: &'a Part, role: MessageRole) -> Self {
        match (part, role) {
            (Part::Text(text), MessageRole::Assistant) => {
                Self::OutputText { text, annotations: [], logprobs: [] }
            }
            (Part::Text(text), _) => Self::InputText { text },
            (Part::Image { url, detail }, _) => {
                Self::InputImage { image_url: url, detail: detail.as_deref() }
            }
        }
    }
}

// === impl Output ===

impl<'a> From<&'a Vec<Part>> for Output<'a> {
    fn from(parts: &'a Vec<Part>) -> Self {
        match parts.as_slice() {
            [Part::Text(text)] => Self::Text(text),
            parts => Self::Parts(
                parts.iter().map(|part| Content::new(part, MessageRole::User)).collect(),
            ),
        }
    }
}
