//! The reasoning that led to calls, and its way back into the history.
//!
//! A model that called a tool goes on best from what it thought before. Clients of chat completions
//! cannot send that back, and others often do not.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use model_turn::{ContentPart, HistoryItem, ReasoningItem, Role};
use tool_call_aggregator::backend_call_id;

/// What the model thought before a call, and after the call before that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReasoning {
    /// The call, by the id that it has in a history.
    pub call_id: String,
    /// In their order.
    pub items: Arc<[ReasoningBefore]>,
}

/// An item of reasoning before a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReasoningBefore {
    /// The part that only the upstream can read.
    pub encrypted_content: String,
    /// Written for people.
    pub summary: Vec<String>,
    /// Whether text came between it and the call.
    pub before_text: bool,
}

/// What a person last asked, as a fingerprint: some upstreams give the same ids to the calls of every
/// conversation, which are then told apart by this.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Question(u64);

/// The reasoning of an answer as it comes.
#[derive(Debug, Default)]
pub(crate) struct ReasoningTrail {
    /// How many items there were.
    items: usize,
    /// What was thought since the last call.
    waiting: Vec<ReasoningBefore>,
    calls: Vec<CallReasoning>,
}

// === impl Question ===

impl Question {
    /// The last one of a history.
    pub(crate) fn last(history: &[HistoryItem]) -> Self {
        Self::of(history.iter().rfind(|item| is_question(item)))
    }

    fn of(item: Option<&HistoryItem>) -> Self {
        let mut hasher = DefaultHasher::new();
        if let Some(HistoryItem::Message { content, .. }) = item {
            // Pictures are large, and add little.
            for part in content {
                if let ContentPart::Text(text) = part {
                    text.hash(&mut hasher);
                }
            }
        }
        Self(hasher.finish())
    }
}

// === impl ReasoningTrail ===

impl ReasoningTrail {
    /// How many items have ended.
    pub(crate) fn items(&self) -> usize {
        self.items
    }

    pub(crate) fn on_item(&mut self, item: ReasoningItem) {
        self.items += 1;
        let ReasoningItem { summary, encrypted_content } = item;
        // Without that part the upstream can do nothing with it.
        if let Some(encrypted_content) = encrypted_content {
            self.waiting.push(ReasoningBefore { encrypted_content, summary, before_text: false });
        }
    }

    pub(crate) fn on_text(&mut self) {
        for item in &mut self.waiting {
            item.before_text = true;
        }
    }

    /// A call was forwarded under this id.
    pub(crate) fn on_call(&mut self, id: &str) {
        if !self.waiting.is_empty() {
            let call_id = backend_call_id(id).unwrap_or_else(|| id.to_owned());
            let items = std::mem::take(&mut self.waiting).into();
            self.calls.push(CallReasoning { call_id, items });
        }
    }

    pub(crate) fn into_calls(self) -> Vec<CallReasoning> {
        self.calls
    }
}

/// Puts reasoning back where it was: before its call, or before the text before that. A history that
/// has reasoning of its own there keeps that.
pub(crate) fn put_back(
    history: Vec<HistoryItem>,
    recall: impl Fn(&str, Question) -> Option<Arc<[ReasoningBefore]>>,
) -> Vec<HistoryItem> {
    let mut whole: Vec<HistoryItem> = Vec::with_capacity(history.len());
    // Made when a call wants it: most histories have none.
    let mut question = None;
    for item in history {
        if is_question(&item) {
            question = None;
        }
        if let HistoryItem::ToolCall { call_id, .. } = &item
            && !has_reasoning(&whole)
            && let Some(items) =
                recall(call_id, *question.get_or_insert_with(|| Question::last(&whole)))
        {
            let has_text = whole.last().is_some_and(is_text);
            let before_text = whole.len() - usize::from(has_text);
            let (early, late): (Vec<_>, Vec<_>) =
                items.iter().partition(|item| has_text && item.before_text);
            whole.splice(before_text..before_text, early.into_iter().map(history_item));
            whole.extend(late.into_iter().map(history_item));
        }
        whole.push(item);
    }
    whole
}

fn history_item(item: &ReasoningBefore) -> HistoryItem {
    HistoryItem::Reasoning {
        summary: item.summary.clone(),
        encrypted_content: item.encrypted_content.clone(),
        expendable: true,
    }
}

fn is_question(item: &HistoryItem) -> bool {
    matches!(item, HistoryItem::Message { role: Role::User, .. })
}

/// Whether there is reasoning in what the model said last, since anybody else spoke or it made a call.
fn has_reasoning(history: &[HistoryItem]) -> bool {
    let last = history.iter().rev().find(|item| !is_text(item));
    matches!(last, Some(HistoryItem::Reasoning { .. }))
}

fn is_text(item: &HistoryItem) -> bool {
    matches!(item, HistoryItem::Message { role: Role::Assistant, .. })
}

#[cfg(test)]
mod tests;
