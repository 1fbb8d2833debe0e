//! Arguments as they are compared.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use serde_json::value::RawValue;

/// How deeply arguments may be nested to be compared by their value.
const DEEPEST: usize = 128;

/// What arguments mean, for comparing them: their JSON value, or else their text.
///
/// White space, the order of an object's members and the way strings are escaped do not matter; of
/// members with the same key the last counts. Numbers are compared as they are written: as doubles,
/// long ones would be equal that are not. No arguments are `{}`. What is no JSON, is nested more than
/// 128 levels deep, or holds half of a surrogate pair, is compared as text.
///
/// ```
/// use tool_call_aggregator::ArgumentsValue;
///
/// let value = ArgumentsValue::of;
/// assert_eq!(value(r#"{"a": 1, "b": "é"}"#), value(r#"{"b":"\u00e9","a":1}"#));
/// assert_ne!(value("[12345678901234567890123]"), value("[12345678901234567890124]"));
/// assert_ne!(value("[1]"), value("[1.0]"));
/// assert_eq!(value(""), value("{}"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArgumentsValue(Form);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Form {
    /// A JSON value, written in one way only.
    Json(String),
    Text(String),
}

/// How numbers are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Numbers {
    /// As they are written.
    Written,
    /// As `serde_json` writes them anew: for arguments that are known as parsed JSON only.
    Rewritten,
}

/// A JSON value.
enum Node<'a> {
    /// A number, `true`, `false` or `null`.
    Scalar(Cow<'a, str>),
    String(Cow<'a, str>),
    Array(Vec<Node<'a>>),
    Object(BTreeMap<Cow<'a, str>, Node<'a>>),
}

/// Reads a JSON value from its beginning.
struct Parser<'a> {
    text: &'a str,
    numbers: Numbers,
    /// Where the next token, or the white space before it, begins.
    at: usize,
}

// === impl ArgumentsValue ===

impl ArgumentsValue {
    /// What these arguments mean.
    pub fn of(arguments: &str) -> Self {
        Self::with(arguments, Numbers::Written)
    }

    pub(crate) fn with(arguments: &str, numbers: Numbers) -> Self {
        let text = if arguments.trim().is_empty() { "{}" } else { arguments };
        Self(match Parser::read(text, numbers) {
            Some(node) => {
                let mut json = String::with_capacity(text.len());
                node.write(&mut json);
                Form::Json(json)
            }
            None => Form::Text(text.to_owned()),
        })
    }
}

// === impl Parser ===

impl<'a> Parser<'a> {
    fn read(text: &'a str, numbers: Numbers) -> Option<Node<'a>> {
        let mut parser = Self { text, numbers, at: 0 };
        let node = parser.value(0)?;
        parser.peek().is_none().then_some(node)
    }

    fn value(&mut self, depth: usize) -> Option<Node<'a>> {
        match self.peek()? {
            b'{' | b'[' if depth == DEEPEST => None,
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => self.string().map(Node::String),
            _ => self.scalar(),
        }
    }

    fn array(&mut self, depth: usize) -> Option<Node<'a>> {
        let mut items = Vec::new();
        self.take(b'[')?;
        if self.take(b']').is_some() {
            return Some(Node::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            if self.take(b']').is_some() {
                return Some(Node::Array(items));
            }
            self.take(b',')?;
        }
    }

    fn object(&mut self, depth: usize) -> Option<Node<'a>> {
        let mut members = BTreeMap::new();
        self.take(b'{')?;
        if self.take(b'}').is_some() {
            return Some(Node::Object(members));
        }
        loop {
            let key = self.string()?;
            self.take(b':')?;
            members.insert(key, self.value(depth)?);
            if self.take(b'}').is_some() {
                return Some(Node::Object(members));
            }
            self.take(b',')?;
        }
    }

    /// A string, decoded; `None` also for half of a surrogate pair.
    fn string(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let start = self.at - 1;
        let mut has_escapes = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..)?;
            self.at += memchr::memchr2(b'"', b'\\', rest)? + 1;
            if self.text.as_bytes()[self.at - 1] == b'"' {
                break;
            }
            has_escapes = true;
            self.at += 1;
        }
        let quoted = &self.text[start..self.at];
        if has_escapes {
            serde_json::from_str(quoted).ok().map(Cow::Owned)
        } else {
            serde_json::from_str(quoted).ok().map(Cow::Borrowed)
        }
    }

    fn scalar(&mut self) -> Option<Node<'a>> {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
        let length = rest.bytes().take_while(is_part).count();
        self.at += length;
        let scalar = &rest[..length];
        let scalar = match self.numbers {
            Numbers::Written => serde_json::from_str::<&RawValue>(scalar).ok()?.get().into(),
            Numbers::Rewritten => serde_json::from_str::<Value>(scalar).ok()?.to_string().into(),
        };
        Some(Node::Scalar(scalar))
    }

    /// The first byte of the next token.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let space = rest.iter().take_while(|byte| b" \t\n\r".contains(byte)).count();
        self.at += space;
        rest.get(space).copied()
    }

    /// Passes over the next token, if it is this one.
    fn take(&mut self, token: u8) -> Option<()> {
        (self.peek()? == token).then(|| self.at += 1)
    }
}

// === impl Node ===

impl Node<'_> {
    fn write(&self, json: &mut String) {
        match self {
            Self::Scalar(text) => json.push_str(text),
            Self::String(text) => write_string(text, json),
            Self::Array(items) => {
                json.push('[');
                for item in items {
                    item.write(json);
                    json.push(',');
                }
                json.push(']');
            }
            Self::Object(members) => {
                json.push('{');
                for (key, value) in members {
                    write_string(key, json);
                    value.write(json);
                    json.push(',');
                }
                json.push('}');
            }
        }
    }
}

/// With its length in front, a string needs no escapes.
fn write_string(text: &str, json: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(json, "{}\"{text}", text.len());
}

#[cfg(test)]
mod tests;
