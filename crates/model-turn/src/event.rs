//! Events of a turn.

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::history::MessagePhase;
use crate::tool::{InputDeviation, ToolName};
use crate::usage::TokenUsage;

/// One event of a turn, in the order in which the model produced it.
///
/// The last event of every turn is [`TurnEvent::End`] or [`TurnEvent::Failed`], and there is
/// exactly one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEvent {
    /// New visible text.
    Text(String),
    /// A message begins. Left out before the first message of a response if that has no phase.
    MessageStart {
        /// The phase of the message, if known.
        phase: Option<MessagePhase>,
    },
    /// New text of the reasoning.
    Reasoning {
        /// A summary, or the reasoning itself.
        kind: ReasoningKind,
        /// Index of the part that the text continues.
        part: u32,
        /// The new text.
        text: String,
    },
    /// A reasoning item is complete. Its streamed text came before.
    ReasoningItem(ReasoningItem),
    /// A call begins. Its arguments follow in [`Self::ToolCallArguments`] as the model writes them, then
    /// the whole call in [`Self::ToolCall`], without any other output in between.
    ToolCallStart {
        /// The upstream's id of the call.
        call_id: String,
        /// Name of the tool, as the client declared it.
        #[serde(flatten)]
        name: ToolName,
        /// Kind of the call.
        #[serde(default)]
        kind: ToolCallKind,
    },
    /// More arguments of the call that has started.
    ToolCallArguments(String),
    /// A whole tool call, with or without an earlier [`Self::ToolCallStart`].
    ToolCall(ToolCall),
    /// The model has refused to answer, with this text.
    Refusal(String),
    /// The model's response has ended: no further text or call follows.
    ResponseEnd {
        /// The upstream's id of the response.
        response_id: String,
        /// Token counts, if the upstream sent any.
        usage: Option<TokenUsage>,
    },
    /// The turn failed; no more output follows.
    Failed(Failure),
    /// The turn ended without a failure.
    End(TurnEnd),
}

/// Kinds of reasoning text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningKind {
    /// A readable summary.
    Summary,
    /// The chain of thought itself, which most models do not expose.
    Raw,
}

/// A complete reasoning item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ReasoningItem {
    /// The readable summary, part by part.
    pub summary: Vec<String>,
    /// Reasoning that only the upstream can decrypt. Sent back, it lets the model continue from there.
    pub encrypted_content: Option<String>,
}

/// A tool call, exactly as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ToolCall {
    /// The upstream's id of the call; the call's output refers to it.
    pub call_id: String,
    /// The upstream's id of the item that holds it, if any. Some upstreams give several items the same
    /// call id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    /// Name of the tool, as the client declared it.
    #[serde(flatten)]
    pub name: ToolName,
    /// Exact argument text, which may be empty or malformed; for a custom tool its input.
    pub arguments: String,
    /// Kind of the call.
    pub kind: ToolCallKind,
    /// How the input of a custom tool deviates from the requested form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deviation: Option<InputDeviation>,
}

/// Kinds of tool calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolCallKind {
    /// A function with JSON arguments.
    #[default]
    Function,
    /// A custom tool with free text as its input.
    Custom,
    /// One of the upstream's own tools, which no client declared: the name of the call is the item's
    /// type, and its arguments are the whole item.
    Foreign,
}

/// How a turn ended without a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEnd {
    /// The model has finished.
    Completed,
    /// The model waits for the outputs of its calls.
    ToolCalls,
    /// The consumer interrupted it.
    Interrupted,
}

// === impl TurnEvent ===

impl TurnEvent {
    /// Whether this is the last event of its turn.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Failed(_) | Self::End(_))
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        let held = match self {
            Self::Text(text)
            | Self::Reasoning { text, .. }
            | Self::ToolCallArguments(text)
            | Self::Refusal(text) => text.len(),
            Self::ToolCallStart { call_id, name, .. } => call_id.len() + name.bytes(),
            Self::ToolCall(call) => {
                let item_id = call.item_id.as_ref().map_or(0, String::len);
                call.call_id.len() + item_id + call.name.bytes() + call.arguments.len()
            }
            Self::ResponseEnd { response_id, .. } => response_id.len(),
            Self::Failed(failure) => failure.message.len(),
            Self::ReasoningItem(item) => item.bytes(),
            Self::MessageStart { .. } | Self::End(_) => 0,
        };
        size_of::<Self>() + held
    }
}

// === impl ToolCallKind ===

impl ToolCallKind {
    /// Whether its input is free text. To clients every other kind is a function.
    pub fn is_custom(self) -> bool {
        match self {
            Self::Custom => true,
            Self::Function | Self::Foreign => false,
        }
    }
}

// === impl ReasoningItem ===

impl ReasoningItem {
    /// Approximate memory of its texts in bytes.
    pub fn bytes(&self) -> usize {
        let summary: usize = self.summary.iter().map(|part| size_of::<String>() + part.len()).sum();
        summary + self.encrypted_content.as_ref().map_or(0, String::len)
    }
}
