//! The rest of an open tag, after its name: attributes and `>`.

use std::ops::Range;

/// Reads an open tag byte by byte.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenTag {
    expects: Expects,
    /// Where the value of the last attribute `name` stands.
    name: Option<Range<usize>>,
    attribute: Range<usize>,
}

#[derive(Debug, Clone, Copy, Default)]
enum Expects {
    /// White space or the end, right after the tag's name or an attribute's value.
    #[default]
    Gap,
    /// An attribute or the end.
    Attribute,
    /// More of an attribute's name, or `=`.
    AttributeName,
    /// `=` after white space.
    Equals,
    /// The quote before an attribute's value.
    Quote,
    /// More of the value, or the quote that ends it.
    Value { quote: u8, start: usize },
}

/// What is known after a byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagStep {
    /// It can still become a tag.
    More,
    /// The byte was its `>`.
    Complete,
    /// The byte cannot stand there: it is no tag.
    Broken,
}

// === impl OpenTag ===

impl OpenTag {
    /// Takes the byte at `at`; `bytes` is what the tag stands in.
    pub(super) fn step(&mut self, bytes: &[u8], at: usize) -> TagStep {
        let byte = bytes[at];
        let space = byte.is_ascii_whitespace();
        self.expects = match self.expects {
            Expects::Gap | Expects::Attribute if byte == b'>' => return TagStep::Complete,
            Expects::Gap | Expects::Attribute if space => Expects::Attribute,
            Expects::Attribute if begins_name(byte) => {
                self.attribute = at..at + 1;
                Expects::AttributeName
            }
            Expects::AttributeName if continues_name(byte) => {
                self.attribute.end = at + 1;
                Expects::AttributeName
            }
            Expects::AttributeName | Expects::Equals if byte == b'=' => Expects::Quote,
            Expects::AttributeName | Expects::Equals if space => Expects::Equals,
            Expects::Quote if space => Expects::Quote,
            Expects::Quote if byte == b'"' || byte == b'\'' => {
                Expects::Value { quote: byte, start: at + 1 }
            }
            Expects::Value { quote, start } if byte == quote => {
                if &bytes[self.attribute.clone()] == b"name" {
                    self.name = Some(start..at);
                }
                Expects::Gap
            }
            Expects::Value { .. } if byte != b'<' => self.expects,
            _ => return TagStep::Broken,
        };
        TagStep::More
    }

    /// Where the value of the attribute `name` stands.
    pub(super) fn name(&self) -> Option<Range<usize>> {
        self.name.clone()
    }
}

/// Whether a tag's or attribute's name can begin with this byte.
pub(crate) fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Whether a tag's or attribute's name can go on with this byte.
pub(crate) fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b':' | b'-')
}
