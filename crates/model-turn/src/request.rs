//! A request to a model.

use std::sync::Arc;

use serde_json::Value;

use crate::history::{HistoryItem, InvalidHistory};
use crate::tool::Tool;

/// A request to a model, answered by one turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnRequest {
    /// Slug of the model.
    pub model: String,
    /// A developer message in front of everything else; empty for none.
    pub instructions: String,
    /// The conversation so far.
    pub history: Vec<HistoryItem>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// Reasoning effort, as the model names it.
    pub effort: Option<String>,
    /// Reasoning summary: `auto`, `concise`, `detailed` or `none`.
    pub summary: Option<String>,
    /// Length of the answer: `low`, `medium` or `high`.
    pub verbosity: Option<String>,
    /// Processing tier of the upstream, such as `priority`.
    pub service_tier: Option<String>,
    /// JSON schema that the answer must follow.
    pub output_schema: Option<Value>,
    /// Upstream to use instead of the login's own.
    pub upstream: Option<Upstream>,
    /// Whether to emit arguments as the model writes them, where the child's log has them: see
    /// [`crate::TurnEvent::ToolCallStart`].
    pub early_arguments: bool,
    /// Owner of the conversation, if it may resume the thread of an earlier turn of the same owner and
    /// keep its own for a later one.
    pub owner: Option<Arc<str>>,
}

/// Another upstream with the Responses API.
///
/// The login is never sent to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Upstream {
    /// URL up to and without `/responses`.
    pub base_url: String,
    /// Bearer key, if required.
    pub api_key: Option<String>,
}

/// A turn that Codex would reject.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTurn {
    /// An item of the history is invalid.
    #[error(transparent)]
    History(#[from] InvalidHistory),
    /// Two tools have the same name.
    #[error("two tools are named {0:?}")]
    DuplicateTool(String),
    /// The parameters of a tool are not a JSON schema object.
    #[error("the parameters of the tool {0:?} are not a JSON object")]
    ToolParameters(String),
    /// There is nothing to answer.
    #[error("the history and the instructions are empty")]
    Empty,
}

// === impl Upstream ===

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.api_key.as_ref().map(|_| "(hidden)");
        f.debug_struct("Upstream").field("base_url", &self.base_url).field("api_key", &key).finish()
    }
}
