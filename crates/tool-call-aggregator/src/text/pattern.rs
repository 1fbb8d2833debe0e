//! The extension point: a format in which a model writes calls into its text.

use std::fmt;

/// A format of calls in text.
///
/// A pattern says how its blocks begin. The scanner looks for these markers and, where it finds one,
/// opens a [`BlockParser`] that reads on from there.
pub trait TextPattern: fmt::Debug + Send + Sync {
    /// What a block of this format begins with: at least one marker, none of them empty.
    ///
    /// A marker should be as long as it can be: the scanner holds text back only while it could
    /// still become a marker, or while a parser has not decided.
    fn open_markers(&self) -> &[&str];

    /// A parser for one block, or for what may turn out to be none.
    fn open(&self) -> Box<dyn BlockParser>;
}

/// Reads one block, as its bytes arrive.
pub trait BlockParser: fmt::Debug + Send + Sync {
    /// Looks at what has arrived. `buffer` begins with the marker and holds everything since;
    /// the bytes before `fresh` have been seen by earlier calls, and need not be looked at again:
    /// a parser that does look at them again is quadratic.
    ///
    /// The answer must depend on the bytes alone, never on where they were cut: the parser decides
    /// at the first byte at which it can.
    fn step(&mut self, buffer: &str, fresh: usize) -> Step;

    /// No more of the text will be seen: it has ended, or the limit for held-back bytes is reached.
    /// A parser that has waited for bytes which would have changed what it has read gives the place
    /// from which [`step`](Self::step) is to read again. Otherwise the block is text.
    fn give_up(&mut self) -> Option<usize> {
        None
    }
}

/// What a [`BlockParser`] knows after a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It could still become a block, or nothing.
    Undecided,
    /// It is a block unless it is never closed. From here on text is held back.
    Opened,
    /// The block is complete.
    Block {
        /// Where the block ends in the buffer. A value outside the buffer, or inside a character,
        /// is no result: the marker is passed on as text.
        end: usize,
        /// The name of the tool.
        name: String,
        /// The arguments as they are to be handed on.
        args_text: String,
    },
    /// The bytes from `from` on are to be read again, after `read` bytes of the buffer were read:
    /// what they were taken for was wrong. Each time `from` must be larger than the time before;
    /// otherwise the marker is passed on as text.
    Again {
        /// How far the parser has read.
        read: usize,
        /// Where it reads on.
        from: usize,
    },
    /// It is not a call: the buffer up to `end` is text, and scanning begins again there.
    Text {
        /// Where the text ends in the buffer.
        end: usize,
        /// Why it is not a call.
        why: NotACall,
    },
}

/// Why something that began like a block is text after all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotACall {
    /// It only began like one; [`Step::Opened`] was never answered.
    NoBlock,
    /// Another block begins inside it.
    Nested,
    /// It is a whole block that names no tool.
    Unnamed,
}
