//! What a turn tells its consumer. Free of I/O: a state machine can be written against it.

use serde::{Deserialize, Serialize};

use crate::custom_input::InputDeviation;
use crate::failure::Failure;
use crate::history::MessagePhase;
use crate::protocol::incoming::TokenUsage;
use crate::tool_names::ToolName;

/// One event of a turn, in the order in which the model produced it.
///
/// The last event of every turn is [`TurnEvent::End`] or [`TurnEvent::Failed`], and there is
/// exactly one of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnEvent {
    /// New visible text.
    Text(String),
    /// The text that follows is another message than the text before it, or has a phase. The first
    /// message of a response begins without this if it has none.
    MessageStart {
        /// What kind of message, if the model says so.
        phase: Option<MessagePhase>,
    },
    /// New reasoning.
    Reasoning {
        /// A summary, or the reasoning itself.
        kind: ReasoningKind,
        /// Which part of it is continued.
        part: u32,
        /// The new text.
        text: String,
    },
    /// An item of reasoning has ended. What was streamed of it came before.
    ReasoningItem(ReasoningItem),
    /// A call whose arguments follow as the model writes them: [`Self::ToolCallArguments`], and then
    /// [`Self::ToolCall`] with the whole call. Nothing else of the model's output comes in between.
    ToolCallStart {
        /// The upstream's id of the call.
        call_id: String,
        /// Name of the tool, as the client declared it.
        #[serde(flatten)]
        name: ToolName,
        /// What kind of call it is.
        #[serde(default)]
        kind: ToolCallKind,
    },
    /// More of the arguments of the call that has started.
    ToolCallArguments(String),
    /// A whole tool call: one that has started, or another.
    ToolCall(ToolCall),
    /// The model has refused to answer, in these words.
    Refusal(String),
    /// The model's response has ended: no further text or call follows.
    ResponseEnd {
        /// The upstream's id of the response.
        response_id: String,
        /// Token counts, if the upstream sent any.
        usage: Option<TokenUsage>,
    },
    /// The turn failed; what came before is all there is.
    Failed(Failure),
    /// The turn ended well.
    End(TurnEnd),
}

/// Which kind of reasoning is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningKind {
    /// Written for people.
    Summary,
    /// The chain of thought itself; most models keep it to themselves.
    Raw,
}

/// A whole item of the model's reasoning.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ReasoningItem {
    /// Written for people, part by part.
    pub summary: Vec<String>,
    /// The part that only the upstream can read. With it the model can go on where it was.
    pub encrypted_content: Option<String>,
}

/// A tool call, exactly as the model wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ToolCall {
    /// The upstream's id of the call; the call's output refers to it.
    pub call_id: String,
    /// The upstream's id of the item that holds it, if there is one. Some upstreams give several items
    /// the same call id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_id: Option<String>,
    /// Name of the tool, as the client declared it.
    #[serde(flatten)]
    pub name: ToolName,
    /// Exact argument text, which may be empty or malformed; for a custom tool its input.
    pub arguments: String,
    /// What kind of call it is.
    pub kind: ToolCallKind,
    /// How the model wrote the input of a custom tool otherwise than it was asked to.
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
    /// A call of one of the upstream's own tools, which no client declared: its name is the
    /// item's type, and its arguments are the whole item.
    Foreign,
}

/// How a turn ended when it did not fail.
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

    /// About how much memory it holds.
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

// === impl ReasoningItem ===

impl ReasoningItem {
    /// About how much memory it holds beside itself.
    pub fn bytes(&self) -> usize {
        let summary: usize = self.summary.iter().map(|part| size_of::<String>() + part.len()).sum();
        summary + self.encrypted_content.as_ref().map_or(0, String::len)
    }
}
