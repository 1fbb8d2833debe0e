//! The built-in format: `<use_tool>` with tags, with `<args>`, with a `name` attribute, or with a JSON
//! body. `docs/tool-calls.md` has the grammar; its rules are named here by their numbers.

mod call;
mod tag;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use serde_json::Value;

use super::json_body::{self, JsonBody, Next};
use super::open_tag::{OpenTag, TagStep};
use super::{BlockParser, NotACall, Step, TextPattern};
use call::Body;
use tag::{Tag, TagEvent};

/// The built-in format.
///
/// The values of parameter tags are strings, unless the canon of [Obsidian's tools](crate::obsidian)
/// or the tools' own schemas say otherwise.
///
/// ```
/// use std::collections::HashMap;
///
/// use serde_json::json;
/// use tool_call_aggregator::{TextPatterns, UseTool};
///
/// let schema = json!({"properties": {"id": {"type": "integer"}}});
/// let mut patterns = TextPatterns::none();
/// let schemas = HashMap::from([("get_user".to_owned(), schema)]);
/// patterns.register(UseTool::NAME, UseTool::with_schemas(schemas.into()))?;
/// let text = "<use_tool><name>get_user</name><id>42</id></use_tool>";
/// assert_eq!(patterns.extract_blocks(text, 0).blocks[0].args_text, r#"{"id":42}"#);
/// # Ok::<(), tool_call_aggregator::PatternError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UseTool {
    schemas: Schemas,
}

/// Schemas of tools by their names, shared by all parsers of a format.
type Schemas = Arc<HashMap<String, Value>>;

/// The tag of a block.
const BLOCK_TAG: &[u8] = b"use_tool";
/// The field that may hold JSON.
const ARGS_TAG: &[u8] = b"args";
/// What every marker begins with.
const TAG_START: &str = "<use_tool";
/// With the byte after the tag's name, so that `<use_tools>` opens nothing.
const MARKERS: &[&str] =
    &["<use_tool>", "<use_tool ", "<use_tool\n", "<use_tool\t", "<use_tool\r", "<use_tool\x0c"];

#[derive(Debug, Default)]
struct UseToolParser {
    schemas: Schemas,
    open: OpenTag,
    place: Place,
    /// The tag that is being read.
    tag: Option<Tag>,
    body_start: usize,
    fields: Vec<Field>,
}

/// Where in a block the parser stands.
#[derive(Debug, Clone, Default)]
enum Place {
    /// In the block's own open tag.
    #[default]
    OpenTag,
    /// Before the first byte of the body that tells its kind.
    BodyStart,
    /// In a raw JSON body.
    Json(JsonBody),
    /// Between fields.
    Between,
    /// In a field.
    Field { tag: Range<usize>, value_start: usize },
    /// In the field `args`, before the first byte that tells what it holds.
    ArgsStart { tag: Range<usize>, value_start: usize },
    /// In the field `args`, which begins like JSON.
    ArgsJson { tag: Range<usize>, value_start: usize, body: JsonBody },
}

/// A complete field, as ranges of the block.
#[derive(Debug, Clone)]
struct Field {
    tag: Range<usize>,
    value: Range<usize>,
}

// === impl UseTool ===

impl UseTool {
    /// The name under which it is registered.
    pub const NAME: &'static str = "use_tool";

    /// The format for tools whose parameters are known.
    pub fn with_schemas(schemas: Arc<HashMap<String, Value>>) -> Self {
        Self { schemas }
    }
}

impl TextPattern for UseTool {
    fn open_markers(&self) -> &[&str] {
        MARKERS
    }

    fn open(&self) -> Box<dyn BlockParser> {
        Box::new(UseToolParser { schemas: Arc::clone(&self.schemas), ..UseToolParser::default() })
    }
}

// === impl UseToolParser ===

impl BlockParser for UseToolParser {
    fn step(&mut self, buffer: &str, fresh: usize) -> Step {
        let bytes = buffer.as_bytes();
        let mut at = fresh.max(TAG_START.len());
        while matches!(self.place, Place::OpenTag) {
            if at >= bytes.len() {
                return Step::Undecided;
            }
            match self.open.step(bytes, at) {
                TagStep::More => {}
                TagStep::Complete => {
                    self.body_start = at + 1;
                    self.place = Place::BodyStart;
                }
                TagStep::Broken => return Step::Text { end: at, why: NotACall::NoBlock },
            }
            at += 1;
        }
        self.read_body(buffer, at)
    }

    fn give_up(&mut self) -> Option<usize> {
        self.read_as_text(usize::MAX)
    }
}

impl UseToolParser {
    fn read_body(&mut self, buffer: &str, mut at: usize) -> Step {
        let bytes = buffer.as_bytes();
        loop {
            let Some(tag) = &mut self.tag else {
                match self.find_tag(bytes, at) {
                    Next::Nothing => return Step::Opened,
                    Next::NotJson(read) => return self.read_again(read, read),
                    Next::Tag(start) => {
                        self.tag = Some(Tag::new(start));
                        at = start + 1;
                        continue;
                    }
                }
            };
            if at >= bytes.len() {
                return Step::Opened;
            }
            let event = tag.step(bytes, at);
            let tag_start = tag.start();
            // Behind JSON nothing may follow but the end of the field or of the block.
            if self.is_behind_json() && !self.may_end(&bytes[..=at], &event) {
                return self.read_again(at + 1, tag_start);
            }
            match event {
                TagEvent::More => {
                    at += 1;
                    continue;
                }
                // The byte that breaks a tag may begin the next one.
                TagEvent::Broken => {}
                TagEvent::BlockOpened if self.protects(tag_start) => at += 1,
                TagEvent::BlockOpened => {
                    return Step::Text { end: tag_start, why: NotACall::Nested };
                }
                TagEvent::Closed(name) if &bytes[name.clone()] == BLOCK_TAG => {
                    return self.complete(buffer, tag_start, at + 1);
                }
                TagEvent::Closed(name) => {
                    self.close_field(bytes, &name, tag_start);
                    at += 1;
                }
                TagEvent::Opened(name) => {
                    self.open_field(bytes, name, at + 1);
                    at += 1;
                }
            }
            self.tag = None;
        }
    }

    /// The next `<` that can begin a tag (rules 2 and 3).
    #[inline]
    fn find_tag(&mut self, bytes: &[u8], at: usize) -> Next {
        match self.place {
            Place::Between | Place::Field { .. } => json_body::next_angle(bytes, at),
            _ => self.find_tag_in_value(bytes, at),
        }
    }

    fn find_tag_in_value(&mut self, bytes: &[u8], mut at: usize) -> Next {
        if let Place::BodyStart | Place::ArgsStart { .. } = self.place {
            match self.decide(bytes, at) {
                Some(first) => at = first,
                None => return Next::Nothing,
            }
        }
        match &mut self.place {
            Place::Json(body) | Place::ArgsJson { body, .. } => body.find_tag(bytes, at),
            _ => json_body::next_angle(bytes, at),
        }
    }

    /// Decides what a body or the field `args` holds, by its first byte that is not white space.
    fn decide(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        let first = at + bytes.get(at..)?.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let byte = bytes[first];
        let is_json = matches!(byte, b'{' | b'[');
        self.place = match std::mem::take(&mut self.place) {
            Place::ArgsStart { tag, value_start } if is_json || byte == b'"' => {
                Place::ArgsJson { tag, value_start, body: JsonBody::default() }
            }
            Place::ArgsStart { tag, value_start } => Place::Field { tag, value_start },
            _ if is_json => Place::Json(JsonBody::default()),
            _ => Place::Between,
        };
        Some(first)
    }

    /// The value that began like JSON is none: it is read once more, as text (rule 4).
    fn read_again(&mut self, read: usize, json_end: usize) -> Step {
        match self.read_as_text(json_end) {
            Some(from) => Step::Again { read, from },
            None => Step::Opened,
        }
    }

    /// Where the value begins that was read as JSON, and is read as text from now on.
    fn read_as_text(&mut self, json_end: usize) -> Option<usize> {
        let (body, start) = match &mut self.place {
            Place::Json(body) => (body, self.body_start),
            Place::ArgsJson { body, value_start, .. } => (body, *value_start),
            _ => return None,
        };
        if !body.is_json() {
            return None;
        }
        *body = JsonBody::Text { json_end };
        self.tag = None;
        Some(start)
    }

    fn is_behind_json(&self) -> bool {
        matches!(&self.place, Place::Json(body) | Place::ArgsJson { body, .. } if body.is_json())
    }

    fn protects(&self, at: usize) -> bool {
        matches!(&self.place, Place::Json(body) | Place::ArgsJson { body, .. } if body.protects(at))
    }

    /// Whether the tag that `bytes` end in is, or can become, one that ends the field or the block.
    fn may_end(&self, bytes: &[u8], event: &TagEvent) -> bool {
        let names: &[&[u8]] = match self.place {
            Place::ArgsJson { .. } => &[BLOCK_TAG, ARGS_TAG],
            _ => &[BLOCK_TAG],
        };
        match (event, &self.tag) {
            (TagEvent::More, Some(tag)) => tag.may_close(bytes, names),
            (TagEvent::Closed(name), _) => names.contains(&&bytes[name.clone()]),
            _ => false,
        }
    }

    fn open_field(&mut self, bytes: &[u8], tag: Range<usize>, value_start: usize) {
        if matches!(self.place, Place::Between) {
            self.place = if &bytes[tag.clone()] == ARGS_TAG {
                Place::ArgsStart { tag, value_start }
            } else {
                Place::Field { tag, value_start }
            };
        }
    }

    fn close_field(&mut self, bytes: &[u8], name: &Range<usize>, value_end: usize) {
        let (Place::Field { tag, value_start }
        | Place::ArgsStart { tag, value_start }
        | Place::ArgsJson { tag, value_start, .. }) = &self.place
        else {
            return;
        };
        if bytes[tag.clone()] == bytes[name.clone()] {
            self.fields.push(Field { tag: tag.clone(), value: *value_start..value_end });
            self.place = Place::Between;
        }
    }

    /// The block is closed: is it a call?
    fn complete(&self, buffer: &str, body_end: usize, end: usize) -> Step {
        let attribute = self.open.name().map(|range| &buffer[range]);
        let body = match self.place {
            Place::Json(_) => Body::Json(&buffer[self.body_start..body_end]),
            _ => Body::Fields(
                self.fields
                    .iter()
                    .map(|field| (&buffer[field.tag.clone()], buffer[field.value.clone()].trim()))
                    .collect(),
            ),
        };
        match call::read(attribute, body, |tool| self.schemas.get(tool)) {
            Some(call) => Step::Block { end, name: call.name, args_text: call.args_text },
            None => Step::Text { end, why: NotACall::Unnamed },
        }
    }
}
