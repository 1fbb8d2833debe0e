//! What a choice has, put together from its pieces.

use openai_wire::{CallPart, FinishReason, WholeCall};

use crate::output::Piece;

/// What a choice has.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Collected {
    /// Its content.
    pub content: String,
    /// Its refusal.
    pub refusal: Option<String>,
    /// Its reasoning summary.
    pub reasoning: String,
    /// Its calls.
    pub calls: Vec<WholeCall>,
    /// Why it ended, if it did.
    pub finish: Option<FinishReason>,
}

// === impl Collected ===

impl Collected {
    /// Adds a piece.
    pub fn add(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) | Piece::Block(text) => self.content.push_str(text),
            Piece::Reasoning(text) => self.reasoning.push_str(text),
            Piece::ReasoningPart => self.reasoning.push_str("\n\n"),
            Piece::Refusal(text) => self.refusal = Some(text.to_owned()),
            Piece::Call(part) => self.add_to_call(part),
            Piece::Message(_) | Piece::ReasoningItem(_) | Piece::CallEnd => {}
        }
    }

    fn add_to_call(&mut self, part: &CallPart<'_>) {
        match (part.head, self.calls.last_mut()) {
            (Some(head), _) => self.calls.push(WholeCall {
                id: head.id.to_owned(),
                namespace: head.namespace.map(str::to_owned),
                name: head.name.to_owned(),
                kind: part.kind,
                text: part.text.to_owned(),
            }),
            (None, Some(call)) => call.text.push_str(part.text),
            (None, None) => {}
        }
    }

    pub(crate) fn has_content(&self) -> bool {
        !(self.content.is_empty() && self.reasoning.is_empty() && self.calls.is_empty())
            || self.refusal.is_some()
    }
}
