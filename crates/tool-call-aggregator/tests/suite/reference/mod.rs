//! The grammar of text blocks, read the plain way: the whole text at once, one position after the
//! other, nothing kept between chunks, no care for speed. It shares no code with the crate, so
//! that a mistake has to be made twice to go unseen.

mod fences;
mod fields;
mod json;
mod json_body;
mod tool_call;
mod use_tool;

/// What a text consists of, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Segment {
    Text(String),
    Block(Block),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: String,
    pub(crate) args_text: String,
    pub(crate) raw: String,
}

/// A text in segments, and how many of its blocks were text for want of a name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) segments: Vec<Segment>,
    pub(crate) unnamed: usize,
}

impl Outcome {
    /// Text that follows text is one text: where it was cut says nothing about the input.
    pub(crate) fn text(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        if let Some(Segment::Text(text)) = self.segments.last_mut() {
            text.push_str(more);
        } else {
            self.segments.push(Segment::Text(more.to_owned()));
        }
    }

    pub(crate) fn block(&mut self, block: Block) {
        self.segments.push(Segment::Block(block));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grammar {
    UseTool,
    ToolCall,
    /// `[[call NAME ARGS]]`, which only these tests know.
    Bracket,
    /// No grammar of blocks: in fenced code there are none.
    Fences,
}

/// What stands at a position.
enum Found {
    /// Nothing that begins like a block.
    Nothing,
    /// Something that began like one. It is text up to here, where scanning goes on.
    TextUpTo(usize),
    /// A whole block, and what it calls, if it has a name.
    Block { end: usize, call: Option<Call> },
    /// Something that the end of the text broke off.
    Unfinished,
}

struct Call {
    name: String,
    args_text: String,
}

impl Call {
    /// A name that is longer than allowed is none.
    fn is_unnamed(&self) -> bool {
        self.name.len() > 512
    }
}

/// A text that is all there is.
pub(crate) fn parse(text: &str, grammars: &[Grammar]) -> Outcome {
    let (mut outcome, unfinished) = read(text, grammars, true);
    outcome.text(unfinished);
    outcome
}

/// A text that may go on: what is certain about it, and the rest, which may still become a block.
pub(crate) fn decide<'t>(text: &'t str, grammars: &[Grammar]) -> (Outcome, &'t str) {
    read(text, grammars, false)
}

fn read<'t>(text: &'t str, grammars: &[Grammar], ended: bool) -> (Outcome, &'t str) {
    let mut outcome = Outcome::default();
    // The text before `at`, with something that is no fence in the place of each block.
    let mut markdown = String::new();
    let mut at = 0;
    'position: while at < text.len() {
        for grammar in grammars {
            let found = match grammar {
                Grammar::UseTool => use_tool::at(text, at, ended),
                Grammar::ToolCall => tool_call::at(text, at, ended),
                Grammar::Bracket => bracket(text, at),
                Grammar::Fences => continue,
            };
            if !matches!(found, Found::Nothing) && grammars.contains(&Grammar::Fences) {
                match fences::protects(&markdown, &text[at..], ended) {
                    None => return (outcome, &text[at..]),
                    Some(true) => break,
                    Some(false) => {}
                }
            }
            let next = match found {
                Found::Nothing => continue,
                Found::TextUpTo(next) => {
                    outcome.text(&text[at..next]);
                    markdown.push_str(&text[at..next]);
                    next
                }
                Found::Unfinished => return (outcome, &text[at..]),
                Found::Block { end, call } if call.as_ref().is_none_or(Call::is_unnamed) => {
                    outcome.unnamed += 1;
                    outcome.text(&text[at..end]);
                    markdown.push_str(&text[at..end]);
                    end
                }
                Found::Block { call: None, .. } => unreachable!("it is unnamed"),
                Found::Block { end, call: Some(Call { name, args_text }) } => {
                    let raw = text[at..end].to_owned();
                    outcome.block(Block { start: at, end, name, args_text, raw });
                    markdown.push_str("x`");
                    end
                }
            };
            at = next;
            continue 'position;
        }
        let next = at + text[at..].chars().next().map_or(1, char::len_utf8);
        outcome.text(&text[at..next]);
        markdown.push_str(&text[at..next]);
        at = next;
    }
    (outcome, "")
}

fn bracket(text: &str, at: usize) -> Found {
    const MARKER: &str = "[[call ";
    let Some(rest) = text[at..].strip_prefix(MARKER) else { return begins(text, at, MARKER) };
    let body = at + MARKER.len();
    let line = rest.find('\n').unwrap_or(rest.len());
    let Some(close) = rest[..line].find("]]") else {
        return if line < rest.len() { Found::TextUpTo(body) } else { Found::Unfinished };
    };
    let inside = rest[..close].trim();
    let (name, args_text) = inside.split_once(char::is_whitespace).unwrap_or((inside, ""));
    let call = (!name.is_empty())
        .then(|| Call { name: name.to_owned(), args_text: args_text.trim().to_owned() });
    Found::Block { end: body + close + 2, call }
}

/// A marker that the end of the text broke off, or none.
fn begins(text: &str, at: usize, marker: &str) -> Found {
    let rest = &text[at..];
    if !rest.is_empty() && marker.starts_with(rest) { Found::Unfinished } else { Found::Nothing }
}

/// The white space of the grammar's tags. Trimming takes Unicode's.
fn is_ws(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0c | b'\r')
}

/// The first position from `at` on that does not hold white space.
fn skip_ws(text: &str, mut at: usize) -> usize {
    while text.as_bytes().get(at).copied().is_some_and(is_ws) {
        at += 1;
    }
    at
}

fn starts(text: &str, at: usize, what: &str) -> bool {
    text.as_bytes()[at..].starts_with(what.as_bytes())
}
