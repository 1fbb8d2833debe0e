//! Another API on the wire, as small as can be: the text of an answer, and a line for each call.
//! `ARCHITECTURE.md` follows it under "Adding an API".

use std::sync::Arc;
use std::time::Instant;

use bridge::{Answer, AnswerEnd, AnswerOptions, Input, Output, Piece, Want};
use bytes::BytesMut;
use openai_wire::{ApiError, FinishReason, Usage};

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
    const WHOLE_TYPE: &'static str = "text/plain";

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

    fn keep_alive(&mut self) {
        self.buffer.extend_from_slice(b"\n");
    }

    fn complete(&mut self, _: AnswerEnd, usage: Option<&Usage>, _: u64) {
        let tokens = usage.map_or(0, |usage| usage.total_tokens);
        self.add(&format!("[{tokens} tokens]\n"));
    }

    fn close(&mut self, _: bool, _: &str) {}
}

fn sent(stream: bool, script: impl IntoIterator<Item = Line>) -> String {
    let options = AnswerOptions {
        policy: Arc::new(json()),
        choices: 1,
        stream,
        keep_alive: None,
        tokenizer: None,
        id_suffix: Arc::new(String::new),
    };
    let now = Instant::now();
    let mut answer = Answer::new(PlainText::default(), options, now);
    answer.step(Input::Silence, now);
    for line in script {
        let Line::Event(event) = line else { continue };
        answer.step(Input::Event { choice: 0, event }, now);
    }
    answer.step(
        Input::Settle { usage: Some(Usage { total_tokens: 7, ..Usage::default() }), at: 0 },
        now,
    );
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
    let expected = "\nLet me see.\n\nBoth:\na: {\"q\": 1}\n\nb: {}\n\n[tool_calls]\n[7 tokens]\n";
    assert_eq!(sent(true, script.clone()), expected);
    // A whole answer has no keep-alive.
    assert_eq!(sent(false, script), expected[1..]);
    assert_eq!(sent(true, [say("Hello."), end()]), "\nHello.\n[stop]\n[7 tokens]\n");
}
