//! The inputs that are timed: one call whose only argument is a long string.

use serde_json::{Value, json};

use crate::contender::Declared;
use crate::format::{Format, Plain, declare};
use crate::reader::{Call, Outcome};

/// A token of a model is about this long.
pub const CHUNK: usize = 4;

/// What the long string holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    Prose,
    /// A `<` in every few bytes, each of which may begin a marker.
    ManyLt,
}

const PROSE: &str = "The harbour was quiet when the first of the boats came in, and nobody on the pier \
    had slept. \"Another hour,\" the keeper said, folding his hands; the wind would turn by then, or \
    it would not turn at all, and they could go home.\n";

const MANY_LT: &str = "if a < b && c <= d { x <<= 2; } <li>one</li> <br/> <use> </tool> <<- ";

// === impl Content ===

impl Content {
    pub fn label(self) -> &'static str {
        match self {
            Self::Prose => "prose",
            Self::ManyLt => "many `<`",
        }
    }
}

/// ASCII text of exactly `length` bytes.
pub fn text(content: Content, length: usize) -> String {
    let unit = match content {
        Content::Prose => PROSE,
        Content::ManyLt => MANY_LT,
    };
    let mut text = unit.repeat(length / unit.len() + 1);
    text.truncate(length);
    // White space at an end is not what is measured, and XML readers take it off.
    text.truncate(length - 1);
    text.push('.');
    text
}

/// The call with about `size` bytes of arguments.
pub fn call(content: Content, size: usize) -> Plain {
    let arguments: Value = json!({ "content": text(content, size.max(2)) });
    Plain { name: "write_file".to_owned(), text: arguments.to_string(), arguments }
}

/// A whole text, cut for a stream.
pub struct Stream {
    pub text: String,
    pub tools: Vec<Declared>,
    pub call: Plain,
}

// === impl Stream ===

impl Stream {
    pub fn new(format: Format, content: Content, size: usize) -> Self {
        let call = call(content, size);
        let mut text = String::new();
        format.write(&mut text, &call, 0);
        let tools = declare(std::slice::from_ref(&call)).declared;
        Self { text, tools, call }
    }

    /// Whether a parser found the call and nothing else: what is timed must be right.
    pub fn is_right(&self, outcome: &Outcome) -> bool {
        let arguments = |call: &Call| serde_json::from_str::<Value>(&call.arguments).ok();
        outcome.calls.len() == 1
            && outcome.calls[0].name == self.call.name
            && arguments(&outcome.calls[0]).as_ref() == Some(&self.call.arguments)
    }

    pub fn chunks(&self) -> Vec<&str> {
        chunks(&self.text)
    }
}

/// ASCII text in chunks of [`CHUNK`] bytes.
pub fn chunks(text: &str) -> Vec<&str> {
    let mut rest = text;
    let mut chunks = Vec::with_capacity(text.len() / CHUNK + 1);
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(CHUNK.min(rest.len()));
        chunks.push(chunk);
        rest = after;
    }
    chunks
}
