//! Another API on the wire, as small as can be: the text of an answer, and a line for each call.
//! `ARCHITECTURE.md` follows it under "Adding an API".

use std::sync::Arc;
use std::time::Instant;

use bridge::{Answer, AnswerOptions, Closing, Input, Output, Piece, Want};
use bytes::BytesMut;
use openai_wire::{ApiError, FinishReason};

use crate::play::json;
use crate::script::{Line, call, end, message, say, think};

/// Lines of text, and nothing else.
#[derive(Debug, Default)]
struct PlainText {
    buffer: BytesMut,
    has_content: bool,
}

// === impl PlainText ===

impl PlainText {
    fn add(&mut self, text: &str) {
        self.has_content = true;
        self.buffer.extend_from_slice(text.as_bytes());
    }
}

impl Output for PlainText {
    const STREAM_TYPE: &'static str = "text/plain";

    fn write(&mut self, piece: Piece<'_>) {
        match piece {
            Piece::Text(text) | Piece::Block(text) | Piece::Refusal(text) => self.add(text),
            Piece::Call(part) => {
                if let Some(head) = part.head {
                    self.add(&format!("\n{}: ", head.name));
                }
                self.add(part.text);
            }
            Piece::CallEnd => self.add("\n"),
            Piece::Message(_)
            | Piece::Reasoning(_)
            | Piece::ReasoningPart
            | Piece::ReasoningItem(_) => {}
        }
    }

    /// There is one choice.
    fn choose(&mut self, _: u32) {}

    fn finish(&mut self, reason: FinishReason) {
        self.add(&format!("\n[{}]\n", reason.as_str()));
    }

    fn has_content(&self) -> bool {
        self.has_content
    }

    fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    fn fail(&mut self, error: &ApiError) {
        self.add(&format!("\n[{}]\n", error.message));
    }

    fn close(&mut self, closing: &Closing<'_>) {
        let usage = closing.usage.copied().unwrap_or_default();
        self.add(&format!("[{} tokens]\n", usage.total_tokens));
    }
}

fn sent(script: impl IntoIterator<Item = Line>) -> String {
    let options = AnswerOptions {
        policy: Arc::new(json()),
        choices: 1,
        stream: true,
        include_usage: true,
        keep_alive: None,
        tokenizer: None,
        id_suffix: Arc::new(String::new),
    };
    let now = Instant::now();
    let mut answer = Answer::new(PlainText::default(), options, now);
    for line in script {
        let Line::Event(event) = line else { continue };
        answer.step(Input::Event { choice: 0, event }, now);
    }
    if let Want::Settlement { .. } = answer.wants() {
        answer.step(Input::Settle { usage: None, at: 0 }, now);
    }
    assert_eq!(answer.wants(), Want::Nothing);
    String::from_utf8(answer.take_bytes(now).to_vec()).unwrap()
}

#[test]
fn another_api_is_one_implementation_of_one_trait() {
    let script = [
        think(0, "Hm."),
        say("Let me "),
        say("see."),
        message(),
        say("Both:"),
        call("a", r#"{"q": 1}"#),
        call("b", "{}"),
        end(),
    ];
    let expected = "Let me see.\n\nBoth:\na: {\"q\": 1}\n\nb: {}\n\n[tool_calls]\n[0 tokens]\n";
    assert_eq!(sent(script), expected);
    assert_eq!(sent([say("Hello."), end()]), "Hello.\n[stop]\n[0 tokens]\n");
}
