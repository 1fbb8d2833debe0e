//! An answer that is streamed: frames, ready to be sent.

use bytes::BytesMut;
use openai_wire::CallPart;
use openai_wire::chat::stream::ChunkWriter;

use super::{Answer, FULL};
use crate::finish::FinishReason;
use crate::policy::CallShape;
use crate::reply::Output;

/// Frames that wait to be sent.
#[derive(Debug)]
pub struct Frames {
    /// What writes them.
    pub writer: ChunkWriter,
    shape: CallShape,
    choice: u32,
    has_spoken: bool,
    /// Those that wait; whoever sends them takes them out.
    pub buffer: BytesMut,
}

// === impl Frames ===

impl Frames {
    /// Frames for a stream of so many choices; their first ones are there at once.
    pub fn new(writer: ChunkWriter, shape: CallShape, choices: u32) -> Self {
        let mut buffer = BytesMut::with_capacity(4 * 1024);
        for choice in 0..choices {
            writer.role(choice, &mut buffer);
        }
        Self { writer, shape, choice: 0, has_spoken: false, buffer }
    }
}

impl Output for Frames {
    fn text(&mut self, text: &str) {
        self.has_spoken = true;
        self.writer.content(self.choice, text, &mut self.buffer);
    }

    fn block(&mut self, xml: &str) {
        self.text(xml);
    }

    fn reasoning(&mut self, text: &str) {
        self.has_spoken = true;
        self.writer.reasoning(self.choice, text, &mut self.buffer);
    }

    fn call_end(&mut self) {}

    fn refusal(&mut self, text: &str) {
        self.has_spoken = true;
        self.writer.refusal(self.choice, text, &mut self.buffer);
    }

    fn call(&mut self, part: &CallPart<'_>) {
        self.has_spoken = true;
        match self.shape {
            CallShape::ToolCalls => self.writer.tool_call(self.choice, part, &mut self.buffer),
            CallShape::FunctionCall => {
                self.writer.function_call(self.choice, part, &mut self.buffer);
            }
        }
    }
}

impl Answer for Frames {
    fn choose(&mut self, choice: u32) {
        self.choice = choice;
    }

    fn finish(&mut self, reason: FinishReason) {
        self.writer.finish(self.choice, reason.as_str(), &mut self.buffer);
    }

    fn is_full(&self) -> bool {
        self.buffer.len() >= FULL
    }

    fn has_spoken(&self) -> bool {
        self.has_spoken
    }
}
