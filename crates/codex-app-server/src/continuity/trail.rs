//! A request's history, at every point of which an earlier turn may have ended.

use std::collections::HashSet;
use std::sync::Arc;

use model_turn::HistoryItem;

use super::transcript::{Fingerprint, FingerprintKey, Transcript};

/// The way through a history, item by item.
#[derive(Debug)]
pub(crate) struct Trail {
    owner: Arc<str>,
    transcript: Transcript,
    steps: Vec<TrailStep>,
    /// The calls whose outputs have come since the model last said something.
    last_outputs: Vec<String>,
}

/// What is known after an item.
#[derive(Debug)]
struct TrailStep {
    fingerprint: Fingerprint,
    /// What it is to a conversation.
    kind: StepKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepKind {
    /// The model said it.
    Said,
    /// Somebody else did.
    Heard,
    /// The model thought it.
    Thought(Fingerprint),
}

// === impl Trail ===

impl Trail {
    pub(crate) fn begin(key: FingerprintKey, owner: Arc<str>, setting: &[u8]) -> Self {
        let transcript = Transcript::begin(key, setting);
        Self { owner, transcript, steps: Vec::new(), last_outputs: Vec::new() }
    }

    /// The next item of the history, as it is injected.
    pub(crate) fn add(&mut self, item: &HistoryItem, json: &str) {
        let thought = self.transcript.add(item, json);
        if let HistoryItem::ToolOutput { call_id, .. } = item {
            self.last_outputs.push(call_id.clone());
        } else if item.is_from_model() {
            self.last_outputs.clear();
        }
        let kind = match thought {
            Some(thought) => StepKind::Thought(thought),
            None if item.is_from_model() => StepKind::Said,
            None => StepKind::Heard,
        };
        self.steps.push(TrailStep { fingerprint: self.transcript.fingerprint(), kind });
    }

    /// Whose conversation it is.
    pub(crate) fn owner(&self) -> &str {
        &self.owner
    }

    /// The calls whose outputs are the newest that there is.
    pub(crate) fn last_outputs(&self) -> &[String] {
        &self.last_outputs
    }

    /// What a thread has had that was given the whole history.
    pub(crate) fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// Where an earlier turn may have ended, the latest first: after something that the model said.
    pub(crate) fn ends(&self) -> impl Iterator<Item = (usize, Fingerprint)> {
        let said = self.steps.iter().enumerate().rev();
        said.filter(|(_, step)| step.kind == StepKind::Said)
            .map(|(index, step)| (index + 1, step.fingerprint))
    }

    /// Whether all reasoning among the first items is in a thread.
    pub(crate) fn thoughts_are_known(&self, first: usize, known: &HashSet<Fingerprint>) -> bool {
        self.steps[..first].iter().all(|step| match step.kind {
            StepKind::Thought(thought) => known.contains(&thought),
            StepKind::Said | StepKind::Heard => true,
        })
    }

    /// Which of the items after the first ones a thread has not had.
    pub(crate) fn news(&self, first: usize, known: &HashSet<Fingerprint>) -> Vec<usize> {
        let is_news = |index: &usize| match self.steps[*index].kind {
            StepKind::Thought(thought) => !known.contains(&thought),
            StepKind::Said | StepKind::Heard => true,
        };
        (first..self.steps.len()).filter(is_news).collect()
    }

    /// Whether an item is anything but reasoning.
    pub(crate) fn is_spoken(&self, index: usize) -> bool {
        !matches!(self.steps[index].kind, StepKind::Thought(_))
    }
}
