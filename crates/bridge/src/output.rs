//! An answer on some wire.

use bytes::BytesMut;
use model_turn::{MessagePhase, ReasoningItem};
use openai_wire::{ApiError, CallPart, FinishReason, Usage, comment};

/// A piece of a choice.
#[derive(Debug, Clone, Copy)]
pub enum Piece<'a> {
    /// The text that follows is another message than the text before it, or has a phase. The first
    /// message begins without this if it has none.
    Message(Option<MessagePhase>),
    /// More content.
    Text(&'a str),
    /// A whole block, in XML mode; its calls follow.
    Block(&'a str),
    /// More of a reasoning summary.
    Reasoning(&'a str),
    /// What follows of the summaries is another part.
    ReasoningPart,
    /// An item of reasoning has ended. The parts of its summary that came piece by piece were written
    /// before.
    ReasoningItem(&'a ReasoningItem),
    /// A call, or more of one.
    Call(&'a CallPart<'a>),
    /// That call is whole.
    CallEnd,
    /// The model refuses to answer, with this text.
    Refusal(&'a str),
}

/// How the turns of an answer ended that has not failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerEnd {
    /// Every choice has finished.
    Completed,
    /// Another request than its own has ended it.
    Cancelled,
}

/// An answer on some wire, from the first piece to the last byte, written by [`crate::Answer`]: bytes of a
/// stream leave as they come, those of a whole answer at its end. Wrappers have to forward every item,
/// also those with a default.
pub trait Output {
    /// Whether clients can ask for such an answer later, so that its end waits until it is stored.
    const STORED: bool = false;
    /// The content type of a stream.
    const STREAM_TYPE: &'static str = "text/event-stream";
    /// The content type of a whole answer.
    const WHOLE_TYPE: &'static str = "application/json";

    /// Writes a piece of the chosen choice.
    fn write(&mut self, piece: Piece<'_>);
    /// What separates two messages of one choice where both are sent.
    fn separator(&self) -> &'static str {
        "\n\n"
    }
    /// What follows belongs to this choice.
    fn choose(&mut self, choice: u32) {
        let _ = choice;
    }
    /// The chosen choice has finished.
    fn finish(&mut self, reason: FinishReason);
    /// Whether it has anything that the model wrote.
    fn has_content(&self) -> bool;
    /// How much text of the chosen choice is not sent after all.
    fn hidden_bytes(&self) -> usize {
        0
    }
    /// Bytes that are ready to be sent: frames, or in the end the whole answer.
    fn buffer(&mut self) -> &mut BytesMut;
    /// A stream has been silent for too long.
    fn keep_alive(&mut self) {
        comment("keep-alive", self.buffer());
    }
    /// The answer has failed after its first byte.
    fn fail(&mut self, error: &ApiError);
    /// The turns are over, at this time in seconds since 1970; `usage` is there if it is wanted. The end
    /// is not written yet.
    fn complete(&mut self, end: AnswerEnd, usage: Option<&Usage>, at: u64) {
        let _ = (end, usage, at);
    }
    /// Writes the end, also of an answer that has failed. `stored`: clients can ask for it later;
    /// `telemetry`: about the calls of a stream.
    fn close(&mut self, stored: bool, telemetry: &str);
}
