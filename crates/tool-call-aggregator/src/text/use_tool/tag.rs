//! One tag in the body of a block, byte by byte.

use std::ops::Range;

use super::BLOCK_TAG;
use crate::text::open_tag::{OpenTag, TagStep, begins_name, continues_name};

/// A tag that has begun.
#[derive(Debug, Clone)]
pub(super) struct Tag {
    start: usize,
    part: Part,
}

#[derive(Debug, Clone)]
enum Part {
    /// Right after `<`.
    Begin,
    /// Right after `</`.
    BeginClosing,
    /// In its name.
    Name { closing: bool, name_start: usize },
    /// In the white space after its name.
    Space { closing: bool, name: Range<usize> },
    /// After the name of a block's open tag.
    Attributes(OpenTag),
}

/// What a byte has made of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TagEvent {
    /// It can still become a tag.
    More,
    /// The byte cannot stand there.
    Broken,
    /// Another block's open tag is complete.
    BlockOpened,
    /// A field's open tag is complete; this is its name.
    Opened(Range<usize>),
    /// A close tag is complete; this is its name.
    Closed(Range<usize>),
}

// === impl Tag ===

impl Tag {
    /// A tag whose `<` stands at `start`.
    pub(super) fn new(start: usize) -> Self {
        Self { start, part: Part::Begin }
    }

    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Takes the byte at `at`.
    pub(super) fn step(&mut self, bytes: &[u8], at: usize) -> TagEvent {
        let byte = bytes[at];
        self.part = match &mut self.part {
            Part::Begin if byte == b'/' => Part::BeginClosing,
            Part::Begin if begins_name(byte) => Part::Name { closing: false, name_start: at },
            Part::BeginClosing if begins_name(byte) => Part::Name { closing: true, name_start: at },
            Part::Name { .. } if continues_name(byte) => return TagEvent::More,
            Part::Name { closing, name_start } if byte == b'>' => {
                return complete(bytes, *closing, *name_start..at);
            }
            Part::Name { closing, name_start } if byte.is_ascii_whitespace() => {
                let name = *name_start..at;
                if !*closing && &bytes[name.clone()] == BLOCK_TAG {
                    let mut attributes = OpenTag::default();
                    attributes.step(bytes, at);
                    Part::Attributes(attributes)
                } else {
                    Part::Space { closing: *closing, name }
                }
            }
            Part::Space { closing, name } if byte == b'>' => {
                return complete(bytes, *closing, name.clone());
            }
            Part::Space { .. } if byte.is_ascii_whitespace() => return TagEvent::More,
            Part::Attributes(open) => {
                return match open.step(bytes, at) {
                    TagStep::More => TagEvent::More,
                    TagStep::Complete => TagEvent::BlockOpened,
                    TagStep::Broken => TagEvent::Broken,
                };
            }
            _ => return TagEvent::Broken,
        };
        TagEvent::More
    }

    /// Whether it can still become the close tag of one of these names; `bytes` end in its last byte.
    pub(super) fn may_close(&self, bytes: &[u8], names: &[&[u8]]) -> bool {
        match &self.part {
            Part::Begin | Part::BeginClosing => true,
            Part::Name { closing: true, name_start } => {
                names.iter().any(|name| name.starts_with(&bytes[*name_start..]))
            }
            Part::Space { closing: true, name } => names.contains(&&bytes[name.clone()]),
            Part::Name { .. } | Part::Space { .. } | Part::Attributes(_) => false,
        }
    }
}

fn complete(bytes: &[u8], closing: bool, name: Range<usize>) -> TagEvent {
    if closing {
        TagEvent::Closed(name)
    } else if &bytes[name.clone()] == BLOCK_TAG {
        TagEvent::BlockOpened
    } else {
        TagEvent::Opened(name)
    }
}
