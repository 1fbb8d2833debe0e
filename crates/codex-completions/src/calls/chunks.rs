//! `--chunks`: the blocks of a text that came in chunks.

use serde_json::{Value, json};
use tool_call_aggregator::{
    PatternError, ScanEvent, ScanEvents, TextPatterns, TextScanner, ToolCallJson,
};

use super::options::Pattern;
use super::{CallsOptions, Fault, Reader};

/// A scanner that tells what it finds.
pub(super) struct Chunks {
    scanner: TextScanner,
}

// === impl Chunks ===

impl Chunks {
    pub(super) fn new(options: &CallsOptions) -> Result<Self, PatternError> {
        let mut patterns = TextPatterns::default();
        match options.pattern {
            Some(Pattern::ToolCall) => patterns.register(ToolCallJson::NAME, ToolCallJson)?,
            None => {}
        }
        Ok(Self { scanner: patterns.scanner() })
    }
}

impl Reader for Chunks {
    fn take(&mut self, record: Value) -> Result<Vec<Value>, Fault> {
        match record {
            Value::String(chunk) => Ok(found(self.scanner.push(&chunk))),
            _ => Err(Fault::Shape("a JSON string: one chunk of the text")),
        }
    }

    fn end(&mut self) -> Vec<Value> {
        found(self.scanner.finish())
    }
}

/// The scanner cuts text where it held some of it back; nobody else needs to know.
fn found(events: ScanEvents<'_>) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut text = String::new();
    for event in events {
        match event {
            ScanEvent::Text(more) => text.push_str(more),
            ScanEvent::BlockOpened { .. } => {}
            ScanEvent::Block(block) => {
                end_text(&mut text, &mut lines);
                lines.push(json!({"block": {
                    "start": block.start,
                    "end": block.end,
                    "name": block.name,
                    "args_text": block.args_text,
                }}));
            }
        }
    }
    end_text(&mut text, &mut lines);
    lines
}

fn end_text(text: &mut String, lines: &mut Vec<Value>) {
    if !text.is_empty() {
        lines.push(json!({"text": std::mem::take(text)}));
    }
}
