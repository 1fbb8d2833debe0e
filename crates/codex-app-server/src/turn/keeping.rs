//! What a turn notes down so that its thread can be gone on with.

use std::sync::Arc;

use model_turn::{TokenUsage, ToolCall, ToolCallKind};
use serde_json::Value;

use crate::continuity::kept_thread::Said;
use crate::continuity::transcript::{Transcript, Unsayable};
use crate::tool_names::ToolNames;

/// Codex replaces a history by a summary of its own when the upstream says that it has become very
/// large. No model has so much room; it is far below what our catalog allows to all of them.
const MOST_TOKENS: u64 = 100_000_000;

/// More calls than any model makes at once. Each is compared with all others.
const MOST_CALLS: usize = 1_024;

/// The notes of a turn whose thread may be kept. They are thrown away when something happens that a
/// client's history could not say.
#[derive(Debug)]
pub(crate) struct Keeping {
    transcript: Transcript,
    /// The tools that Codex asks us to run.
    names: Arc<ToolNames>,
    calls: Vec<String>,
    /// Whether Codex asks us for every call.
    answerable: bool,
}

// === impl Keeping ===

impl Keeping {
    /// `transcript` is what the thread has when the turn begins.
    pub(crate) fn new(transcript: Transcript, names: Arc<ToolNames>) -> Self {
        Self { transcript, names, calls: Vec::new(), answerable: true }
    }

    /// An item that Codex has put into the thread.
    pub(super) fn note(&mut self, raw: &str) -> Result<(), Unsayable> {
        self.transcript.note(raw, &self.names)
    }

    /// A call of the model's, by its name towards Codex.
    pub(super) fn on_call(&mut self, call: &ToolCall) {
        // Codex answers calls of other tools, and those that it cannot read, itself.
        self.answerable = self.answerable
            && self.calls.len() < MOST_CALLS
            && call.kind == ToolCallKind::Function
            && self.names.declared(&call.name).is_some()
            && serde_json::from_str::<Value>(&call.arguments).is_ok()
            && !self.calls.contains(&call.call_id);
        if self.answerable {
            self.calls.push(call.call_id.clone());
        }
    }

    /// Whether the turn may be left as it is when its response has ended.
    pub(super) fn is_good(&self, usage: Option<&TokenUsage>) -> bool {
        self.answerable && usage.is_none_or(|usage| usage.total_tokens < MOST_TOKENS)
    }

    /// What there is in the thread.
    pub(super) fn into_said(self) -> Said {
        Said { transcript: self.transcript, calls: self.calls }
    }
}
