//! Fenced code of Markdown, by the rules of `CommonMark`: three or more backticks or tildes at the
//! beginning of a line. Fences inside quotes and lists are not looked for.

use super::markers::{Finding, Markers, Rest};

/// Follows text line by line, as far as needed to know whether a place is in fenced code.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fences {
    line: Line,
    open: Option<Fence>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fence {
    mark: u8,
    length: usize,
}

/// What has been read of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Nothing but so many spaces.
    Indent(u8),
    /// Then so many equal marks.
    Marks(Fence),
    /// Then what may follow the marks of a fence.
    Behind(Fence),
    /// What belongs to no fence.
    Other,
}

/// Whether text is in fenced code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fenced {
    No,
    /// In the code, or in the line that opens the fence.
    Yes,
    /// In a line that opens a fence unless another backtick follows in it.
    Undecided,
}

/// The most spaces before a fence.
const DEEPEST_INDENT: u8 = 3;
const SHORTEST_FENCE: usize = 3;

// === impl Line ===

impl Default for Line {
    fn default() -> Self {
        Self::Indent(0)
    }
}

// === impl Fences ===

impl Fences {
    /// The first marker in `text` that is not in fenced code, or not known to be. Everything before it
    /// has been followed then.
    #[inline(never)]
    pub(super) fn find(&mut self, markers: &Markers, text: &[u8], rest: Rest) -> Finding {
        let mut from = 0;
        loop {
            let finding = markers.find(&text[from..], rest).shifted(from);
            let (Finding::Marker { at, .. } | Finding::Perhaps { at }) = finding else {
                self.follow(&text[from..]);
                return finding;
            };
            self.follow(&text[from..at]);
            if self.next_byte() != Fenced::Yes {
                return finding;
            }
            self.follow(&text[at..=at]);
            from = at + 1;
        }
    }

    /// Whether nothing but another line could begin a fence.
    #[inline]
    pub(super) fn is_in_plain_line(&self) -> bool {
        self.open.is_none() && self.line == Line::Other
    }

    /// Whether the byte that comes next is in fenced code.
    pub(super) fn next_byte(&self) -> Fenced {
        match (self.open, self.line) {
            (Some(_), _) => Fenced::Yes,
            (None, Line::Marks(fence) | Line::Behind(fence)) if fence.length >= SHORTEST_FENCE => {
                if fence.mark == b'~' {
                    Fenced::Yes
                } else {
                    Fenced::Undecided
                }
            }
            (None, _) => Fenced::No,
        }
    }

    /// The line is no fence: it was undecided, or a block stands in it.
    pub(super) fn leave_line(&mut self) {
        self.line = Line::Other;
    }

    /// Follows text to its end.
    pub(super) fn follow(&mut self, text: &[u8]) {
        let mut at = 0;
        while at < text.len() {
            if self.line == Line::Other {
                let Some(end) = memchr::memchr2(b'\n', b'\r', &text[at..]) else { return };
                at += end;
            }
            self.step(text[at]);
            at += 1;
        }
    }

    fn step(&mut self, byte: u8) {
        if matches!(byte, b'\n' | b'\r') {
            if let Line::Marks(fence) | Line::Behind(fence) = self.line
                && fence.length >= self.shortest()
            {
                self.open = if self.open.is_some() { None } else { Some(fence) };
            }
            self.line = Line::default();
            return;
        }
        self.line = match self.line {
            Line::Indent(spaces @ ..DEEPEST_INDENT) if byte == b' ' => Line::Indent(spaces + 1),
            Line::Indent(_) if self.is_mark(byte) => Line::Marks(Fence { mark: byte, length: 1 }),
            Line::Marks(Fence { mark, length }) if byte == mark => {
                Line::Marks(Fence { mark, length: length + 1 })
            }
            Line::Marks(fence) | Line::Behind(fence)
                if fence.length >= self.shortest() && self.may_follow(fence.mark, byte) =>
            {
                Line::Behind(fence)
            }
            _ => Line::Other,
        };
    }

    /// Whether a fence that opens or closes here can be made of this byte.
    fn is_mark(&self, byte: u8) -> bool {
        self.open.map_or(matches!(byte, b'`' | b'~'), |open| open.mark == byte)
    }

    /// How long it must be.
    fn shortest(&self) -> usize {
        self.open.map_or(SHORTEST_FENCE, |open| open.length)
    }

    /// Whether a byte may stand behind the marks in its line.
    fn may_follow(&self, mark: u8, byte: u8) -> bool {
        match self.open {
            Some(_) => matches!(byte, b' ' | b'\t'),
            None => mark == b'~' || byte != b'`',
        }
    }
}
