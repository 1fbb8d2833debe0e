//! What comes out of a scanner.

use std::ops::Range;
use std::slice;

/// One thing that is known, in the order of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanEvent<'a> {
    /// Text to pass on now.
    Text(&'a str),
    /// A block has begun. Its bytes are held back until it is complete, and come as
    /// [`Text`](Self::Text) if it turns out not to be a call.
    BlockOpened {
        /// Where it begins, in bytes from the beginning of the text.
        start: usize,
    },
    /// A complete block.
    Block(&'a ParsedTextBlock),
}

/// A call that stood in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedTextBlock {
    /// Where the block begins, in bytes from the beginning of the text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The name of the tool.
    pub name: String,
    /// The arguments, as the model wrote them where it wrote JSON.
    pub args_text: String,
    /// The block itself, byte for byte.
    pub raw: String,
}

/// The events of one chunk, borrowed from it and from the scanner.
///
/// The scanner has already done its work: events that are not looked at are gone, and change
/// nothing.
#[derive(Debug, Clone)]
pub struct ScanEvents<'a> {
    pub(super) stored: slice::Iter<'a, Stored>,
    pub(super) chunk: &'a str,
    pub(super) held: &'a str,
    pub(super) blocks: &'a [ParsedTextBlock],
    pub(super) ends_in_block: bool,
}

/// An event as the scanner keeps it: text as a range of where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stored {
    ChunkText(Range<usize>),
    HeldText(Range<usize>),
    Opened(usize),
    Block(usize),
}

// === impl ParsedTextBlock ===

impl ParsedTextBlock {
    /// A block for [`TextPatterns::register_fn`](super::TextPatterns::register_fn): the text there is
    /// filled in.
    pub fn new(place: Range<usize>, name: impl Into<String>, args_text: impl Into<String>) -> Self {
        let Range { start, end } = place;
        Self { start, end, name: name.into(), args_text: args_text.into(), raw: String::new() }
    }
}

// === impl ScanEvents ===

impl ScanEvents<'_> {
    /// Whether the text has ended inside a block: the last event is then the text of that block.
    pub fn ends_in_block(&self) -> bool {
        self.ends_in_block
    }
}

impl<'a> Iterator for ScanEvents<'a> {
    type Item = ScanEvent<'a>;

    fn next(&mut self) -> Option<ScanEvent<'a>> {
        self.stored.next().map(|stored| match stored {
            Stored::ChunkText(range) => ScanEvent::Text(&self.chunk[range.clone()]),
            Stored::HeldText(range) => ScanEvent::Text(&self.held[range.clone()]),
            Stored::Opened(start) => ScanEvent::BlockOpened { start: *start },
            Stored::Block(index) => ScanEvent::Block(&self.blocks[*index]),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stored.size_hint()
    }
}

impl ExactSizeIterator for ScanEvents<'_> {}
