//! The conversation so far, as the model will see it.

use serde::{Deserialize, Serialize};

use crate::tool::ToolName;

/// One item of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryItem {
    /// A message.
    Message {
        /// Author.
        role: Role,
        /// Texts and images.
        content: Vec<ContentPart>,
        /// Phase of a message of the model, if known.
        phase: Option<MessagePhase>,
    },
    /// A tool call of the model.
    ToolCall {
        /// The upstream's id of the call.
        call_id: String,
        /// Name of the tool, as the client declared it.
        name: ToolName,
        /// Arguments or input.
        input: CallInput,
    },
    /// The output of a call.
    ToolOutput {
        /// Id of the call.
        call_id: String,
        /// The output.
        output: ToolOutput,
    },
    /// Reasoning of the model, sent back unchanged.
    Reasoning {
        /// The readable summary, part by part.
        summary: Vec<String>,
        /// Reasoning that only the upstream can decrypt.
        encrypted_content: String,
        /// Whether the turn is retried without it if the upstream cannot decrypt it.
        expendable: bool,
    },
}

/// Author of a message.
///
/// There is no system role: Codex silently drops such messages, and developer is its successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The application.
    Developer,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// Phase of a message of the model. Models that set it expect it back in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessagePhase {
    /// Before the final answer.
    Commentary,
    /// The final answer.
    FinalAnswer,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPart {
    /// Text.
    Text(String),
    /// An image as a `data:` URL; Codex accepts no other.
    Image {
        /// The `data:` URL.
        url: String,
    },
}

/// Arguments or input of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallInput {
    /// Exact argument text of a function.
    Arguments(String),
    /// Input of a custom tool.
    Text(String),
}

/// Output of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolOutput {
    /// Text.
    Text(String),
    /// Text and images.
    Parts(Vec<ContentPart>),
}

/// A history that Codex would reject.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("history item {index}: {problem}")]
pub struct InvalidHistory {
    /// Index of the item, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

// === impl HistoryItem ===

impl HistoryItem {
    /// A message with one text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::Message { role, content: vec![ContentPart::Text(text.into())], phase: None }
    }

    /// A call of a function outside any namespace.
    pub fn function_call(call_id: &str, name: &str, arguments: &str) -> Self {
        let input = CallInput::Arguments(arguments.to_owned());
        Self::ToolCall { call_id: call_id.to_owned(), name: name.into(), input }
    }

    /// Whether the turn can be retried without it.
    pub fn is_expendable(&self) -> bool {
        matches!(self, Self::Reasoning { expendable: true, .. })
    }

    /// Whether it is a call or a message of the model.
    pub fn is_from_model(&self) -> bool {
        matches!(self, Self::ToolCall { .. } | Self::Message { role: Role::Assistant, .. })
    }

    /// Whether it contains an image.
    pub fn has_images(&self) -> bool {
        self.parts().iter().any(|part| matches!(part, ContentPart::Image { .. }))
    }

    /// Its texts and images.
    pub fn parts(&self) -> &[ContentPart] {
        match self {
            Self::Message { content, .. }
            | Self::ToolOutput { output: ToolOutput::Parts(content), .. } => content,
            Self::ToolOutput { .. } | Self::ToolCall { .. } | Self::Reasoning { .. } => &[],
        }
    }
}

// === impl MessagePhase ===

impl MessagePhase {
    /// Parses a name as the upstream writes it.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "commentary" => Some(Self::Commentary),
            "final_answer" => Some(Self::FinalAnswer),
            _ => None,
        }
    }
}
