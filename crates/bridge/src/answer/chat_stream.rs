//! A chat completion that is streamed: frames, ready to be sent.

use bytes::BytesMut;
use openai_wire::chat::stream::{ChunkWriter, done, error_frame};
use openai_wire::{ApiError, FinishReason, Usage, comment};

use crate::output::{AnswerEnd, Output, Piece};
use crate::policy::CallShape;

/// What all frames of a chat completion have in common, streamed or not.
#[derive(Debug, Clone, Copy)]
pub struct ChatHead<'a> {
    /// Its id.
    pub id: &'a str,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// The model, as the client names it.
    pub model: &'a str,
    /// How many answers there are in one.
    pub choices: u32,
    /// Whether a stream ends with the token counts.
    pub include_usage: bool,
}

/// Frames of a chat completion.
#[derive(Debug)]
pub struct ChatStream {
    writer: ChunkWriter,
    shape: CallShape,
    choice: u32,
    has_content: bool,
    usage: Option<Usage>,
    buffer: BytesMut,
}

// === impl ChatStream ===

impl ChatStream {
    /// A stream; the first frame of each choice is there at once.
    pub fn new(head: &ChatHead<'_>, shape: CallShape) -> Self {
        let writer = ChunkWriter::new(head.id, head.created, head.model, head.include_usage);
        let mut buffer = BytesMut::with_capacity(4 * 1024);
        for choice in 0..head.choices {
            writer.role(choice, &mut buffer);
        }
        Self { writer, shape, choice: 0, has_content: false, usage: None, buffer }
    }
}

impl Output for ChatStream {
    fn write(&mut self, piece: Piece<'_>) {
        let Self { writer, choice, buffer, .. } = self;
        match piece {
            Piece::Text(text) | Piece::Block(text) => writer.content(*choice, text, buffer),
            Piece::Reasoning(text) => writer.reasoning(*choice, text, buffer),
            Piece::ReasoningPart => writer.reasoning(*choice, "\n\n", buffer),
            Piece::Refusal(text) => writer.refusal(*choice, text, buffer),
            Piece::Call(part) => match self.shape {
                CallShape::ToolCalls => writer.tool_call(*choice, part, buffer),
                CallShape::FunctionCall => writer.function_call(*choice, part, buffer),
            },
            Piece::Message(_) | Piece::ReasoningItem(_) | Piece::CallEnd => return,
        }
        self.has_content = true;
    }

    fn choose(&mut self, choice: u32) {
        self.choice = choice;
    }

    fn finish(&mut self, reason: FinishReason) {
        self.writer.finish(self.choice, reason.as_str(), &mut self.buffer);
    }

    fn has_content(&self) -> bool {
        self.has_content
    }

    fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    fn fail(&mut self, error: &ApiError) {
        error_frame(error, &mut self.buffer);
    }

    fn complete(&mut self, _: AnswerEnd, usage: Option<&Usage>, _: u64) {
        self.usage = usage.copied();
    }

    fn close(&mut self, _: bool, telemetry: &str) {
        comment(telemetry, &mut self.buffer);
        if let Some(usage) = &self.usage {
            self.writer.usage(usage, &mut self.buffer);
        }
        done(&mut self.buffer);
    }
}
