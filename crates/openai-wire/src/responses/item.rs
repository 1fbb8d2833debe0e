//! The items of a response.

use model_turn::MessagePhase;
use serde::Serialize;

use super::request::MessageRole;

/// Something that the model has said, thought or called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum OutputItem {
    /// Text.
    Message(OutputMessage),
    /// A call of a function.
    FunctionCall(FunctionCall),
    /// A call of a custom tool.
    CustomToolCall(CustomToolCall),
    /// What came before.
    Reasoning(Reasoning),
}

/// Text of the model's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputMessage {
    /// `msg_…`
    pub id: String,
    /// How far it is.
    pub status: ItemStatus,
    /// Nothing at first, then the one text or refusal.
    pub content: Vec<OutputContent>,
    /// Who speaks: the assistant.
    pub role: MessageRole,
    /// What kind of text it is, where the model says that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<MessagePhase>,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum OutputContent {
    /// A text.
    Text(OutputText),
    /// Why there is none.
    Refusal(OutputRefusal),
}

/// A refusal, as a part of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "refusal")]
pub struct OutputRefusal {
    /// Its text.
    pub refusal: String,
}

/// A text, as a part of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "output_text")]
pub struct OutputText {
    /// None: the backend gives none. Clients read the list without asking.
    pub annotations: [(); 0],
    /// None, likewise.
    pub logprobs: [(); 0],
    /// The text.
    pub text: String,
}

/// A call of a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionCall {
    /// `fc_…`
    pub id: String,
    /// How far it is.
    pub status: ItemStatus,
    /// The arguments, byte for byte.
    pub arguments: String,
    /// What its output refers to.
    pub call_id: String,
    /// The name of the function.
    pub name: String,
    /// Its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// A call of a custom tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CustomToolCall {
    /// `ctc_…`
    pub id: String,
    /// How far it is.
    pub status: ItemStatus,
    /// What its output refers to.
    pub call_id: String,
    /// The input, byte for byte.
    pub input: String,
    /// The name of the tool.
    pub name: String,
    /// Its namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reasoning {
    /// `rs_…`
    pub id: String,
    /// What people may read of it, part by part.
    pub summary: Vec<SummaryText>,
    /// The reasoning itself, for the upstream alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted_content: Option<String>,
}

/// A part of a summary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename = "summary_text")]
pub struct SummaryText {
    /// The text.
    pub text: String,
}

/// How far an item is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemStatus {
    /// More follows.
    InProgress,
    /// It is whole.
    Completed,
    /// It was cut.
    Incomplete,
}

/// Whether reasoning itself is written, or only its summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EncryptedContent {
    /// It is.
    Included,
    /// It is left out.
    LeftOut,
}

/// An item as it is written.
pub(super) struct Shown<'a>(pub(super) &'a OutputItem, pub(super) EncryptedContent);

// === impl OutputItem ===

impl OutputItem {
    /// Its own id.
    pub fn id(&self) -> &str {
        match self {
            Self::Message(message) => &message.id,
            Self::FunctionCall(call) => &call.id,
            Self::CustomToolCall(call) => &call.id,
            Self::Reasoning(reasoning) => &reasoning.id,
        }
    }
}

// === impl Shown ===

impl Serialize for Shown<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self(OutputItem::Reasoning(reasoning), EncryptedContent::LeftOut) => {
                let Reasoning { id, summary, encrypted_content: _ } = reasoning;
                SummaryOnly { id, summary }.serialize(serializer)
            }
            Self(item, EncryptedContent::Included | EncryptedContent::LeftOut) => {
                item.serialize(serializer)
            }
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "type", rename = "reasoning")]
struct SummaryOnly<'a> {
    id: &'a str,
    summary: &'a [SummaryText],
}
