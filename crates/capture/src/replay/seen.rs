//! An answer, watched: what each choice has in the end.

use bridge::{AnswerEnd, Collected, Output, Piece};
use bytes::BytesMut;
use openai_wire::{ApiError, FinishReason, Usage};

/// An answer and what was seen on the way to it.
pub(super) struct Seen<O> {
    output: O,
    pub(super) choices: Vec<Collected>,
    current: usize,
}

// === impl Seen ===

impl<O> Seen<O> {
    pub(super) fn new(output: O, choices: u32) -> Self {
        Self { output, choices: (0..choices).map(|_| Collected::default()).collect(), current: 0 }
    }
}

impl<O: Output> Output for Seen<O> {
    const STORED: bool = O::STORED;
    const STREAM_TYPE: &'static str = O::STREAM_TYPE;
    const WHOLE_TYPE: &'static str = O::WHOLE_TYPE;

    fn write(&mut self, piece: Piece<'_>) {
        self.choices[self.current].add(piece);
        self.output.write(piece);
    }

    fn separator(&self) -> &'static str {
        self.output.separator()
    }

    fn choose(&mut self, choice: u32) {
        self.current = choice as usize;
        self.output.choose(choice);
    }

    fn finish(&mut self, reason: FinishReason) {
        self.choices[self.current].finish = Some(reason);
        self.output.finish(reason);
    }

    fn has_content(&self) -> bool {
        self.output.has_content()
    }

    fn hidden_bytes(&self) -> usize {
        self.output.hidden_bytes()
    }

    fn buffer(&mut self) -> &mut BytesMut {
        self.output.buffer()
    }

    fn keep_alive(&mut self) {
        self.output.keep_alive();
    }

    fn fail(&mut self, error: &ApiError) {
        self.output.fail(error);
    }

    fn complete(&mut self, end: AnswerEnd, usage: Option<&Usage>, at: u64) {
        self.output.complete(end, usage, at);
    }

    fn close(&mut self, stored: bool, telemetry: &str) {
        self.output.close(stored, telemetry);
    }
}
