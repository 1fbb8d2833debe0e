//! JSON in a `<tool_call>` block, as Hermes and Qwen models write it.

use super::json_body::{JsonBody, Next};
use super::{BlockParser, NotACall, Step, TextPattern};
use crate::json_members::{decoded_string, member, object_members};

/// The format `<tool_call>{"name": …, "arguments": {…}}</tool_call>`.
///
/// It is not registered by default:
///
/// ```
/// use tool_call_aggregator::{TextPatterns, ToolCallJson};
///
/// let mut patterns = TextPatterns::default();
/// patterns.register(ToolCallJson::NAME, ToolCallJson)?;
/// let text = r#"<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>"#;
/// let blocks = patterns.extract_blocks(text, 0).blocks;
/// assert_eq!((&*blocks[0].name, &*blocks[0].args_text), ("add", r#"{"a": 1}"#));
/// # Ok::<(), tool_call_aggregator::PatternError>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolCallJson;

const OPEN: &str = "<tool_call>";
const CLOSE: &str = "</tool_call>";

#[derive(Debug, Default)]
struct ToolCallParser {
    /// How far the text has been read.
    at: usize,
    body_start: Option<usize>,
    body: JsonBody,
}

// === impl ToolCallJson ===

impl ToolCallJson {
    /// The name to register it under.
    pub const NAME: &'static str = "tool_call";
}

impl TextPattern for ToolCallJson {
    fn open_markers(&self) -> &[&str] {
        &[OPEN]
    }

    fn open(&self) -> Box<dyn BlockParser> {
        Box::<ToolCallParser>::default()
    }
}

// === impl ToolCallParser ===

impl BlockParser for ToolCallParser {
    fn step(&mut self, buffer: &str, _fresh: usize) -> Step {
        let bytes = buffer.as_bytes();
        self.at = self.at.max(OPEN.len());
        if self.body_start.is_none() {
            let rest = &bytes[self.at..];
            let Some(space) = rest.iter().position(|byte| !byte.is_ascii_whitespace()) else {
                self.at = bytes.len();
                return Step::Undecided;
            };
            self.at += space;
            if bytes[self.at] != b'{' {
                return Step::Text { end: self.at, why: NotACall::NoBlock };
            }
            self.body_start = Some(self.at);
        }
        loop {
            let tag = match self.body.find_tag(bytes, self.at) {
                Next::Tag(at) => at,
                Next::Nothing => {
                    self.at = bytes.len();
                    return Step::Opened;
                }
                Next::NotJson(read) => return self.read_again(read, read),
            };
            let rest = &buffer[tag..];
            if rest.starts_with(CLOSE) {
                return complete(buffer, tag);
            }
            let may_open = !self.body.is_json() && !self.body.protects(tag);
            if may_open && rest.starts_with(OPEN) {
                return Step::Text { end: tag, why: NotACall::Nested };
            }
            if CLOSE.starts_with(rest) || (may_open && OPEN.starts_with(rest)) {
                // A tag may be cut here: it is looked at again when more has come.
                self.at = tag;
                return Step::Opened;
            }
            if self.body.is_json() {
                return self.read_again(tag + 1, tag);
            }
            self.at = tag + 1;
        }
    }

    fn give_up(&mut self) -> Option<usize> {
        self.read_as_text(usize::MAX)
    }
}

impl ToolCallParser {
    /// The body is not JSON: it is read once more, as text.
    fn read_again(&mut self, read: usize, json_end: usize) -> Step {
        match self.read_as_text(json_end) {
            Some(from) => Step::Again { read, from },
            None => Step::Opened,
        }
    }

    /// Where the body begins that was read as JSON, and is read as text from now on.
    fn read_as_text(&mut self, json_end: usize) -> Option<usize> {
        let start = self.body_start.filter(|_| self.body.is_json())?;
        self.body = JsonBody::Text { json_end };
        self.at = start;
        Some(start)
    }
}

fn complete(buffer: &str, body_end: usize) -> Step {
    let end = body_end + CLOSE.len();
    match read(buffer[OPEN.len()..body_end].trim()) {
        Some((name, args_text)) => Step::Block { end, name, args_text },
        None => Step::Text { end, why: NotACall::Unnamed },
    }
}

fn read(body: &str) -> Option<(String, String)> {
    let members = object_members(body)?;
    let name = decoded_string(member(&members, "name")?)?;
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    let arguments = member(&members, "arguments")
        .or_else(|| member(&members, "parameters"))
        .unwrap_or_default();
    let args_text = if arguments.starts_with('{') {
        arguments.to_owned()
    } else {
        decoded_string(arguments).unwrap_or_default().trim().to_owned()
    };
    Some((name.to_owned(), args_text))
}
