//! Text in chunks in, text and blocks out.

mod blocks;

use std::mem;

use super::fences::Fences;
use super::markers::{Finding, Markers, Rest};
use super::scan_event::Stored;
use super::utf8::Utf8Decoder;
use super::whole::{Format, Found};
use super::{BlockParser, ParsedTextBlock, ScanEvents, TextPatterns};
use crate::Limits;

/// Finds the blocks of a text that arrives in chunks.
///
/// What comes out does not depend on how the text was cut. Text is passed on at once, but for what
/// could still become a block. Feed it what the user is meant to see: nothing inside a model's
/// reasoning is a call.
///
/// ```
/// use tool_call_aggregator::{ScanEvent, TextPatterns, TextScanner};
///
/// let mut scanner = TextScanner::new(&TextPatterns::default());
/// let mut seen = String::new();
/// for chunk in ["Let me look. <use", "_tool><name>getFileTree</na", "me></use_tool> Done."] {
///     for event in scanner.push(chunk) {
///         match event {
///             ScanEvent::Text(text) => seen.push_str(text),
///             ScanEvent::BlockOpened { .. } => {}
///             ScanEvent::Block(block) => seen.push_str(&format!("[{}]", block.name)),
///         }
///     }
/// }
/// assert_eq!(scanner.finish().count(), 0);
/// assert_eq!(seen, "Let me look. [getFileTree] Done.");
/// ```
#[derive(Debug)]
pub struct TextScanner {
    formats: Vec<Format>,
    markers: Markers,
    held_limit: usize,
    name_limit: usize,
    /// Everything that cannot be passed on yet, after what was passed on with the last chunk.
    held: String,
    /// Where in `held` that begins.
    head: usize,
    /// Where in the text `held` begins.
    offset: usize,
    state: State,
    /// Whether a format looks at whole texts, so that everything is held back.
    needs_whole_text: bool,
    /// Where code fences are, if blocks inside them are text.
    fences: Option<Fences>,
    /// Blocks that formats have found in the whole text.
    found: Found,
    decoder: Utf8Decoder,
    decoded: String,
    finished: bool,
    /// Whether the text has ended inside a block.
    ends_in_block: bool,
    events: Vec<Stored>,
    blocks: Vec<ParsedTextBlock>,
    counts: ScanCounts,
}

#[derive(Debug)]
enum State {
    /// Outside any block.
    Text,
    /// A marker stands at `head`, and its format is reading. It has seen so many bytes, and has last
    /// begun again after `again` of them.
    Reading {
        pattern: usize,
        parser: Box<dyn BlockParser>,
        opened: bool,
        seen: usize,
        again: usize,
    },
    /// A format has declined the place at `head`: text up to `end`, unless one of the later
    /// formats claims it.
    Declined { end: usize, next_pattern: usize },
    /// A marker stands at `head` in a line that may open a code fence. So many bytes of the line were
    /// looked at.
    FenceLine { pattern: usize, seen: usize },
}

/// What a scanner has met so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanCounts {
    /// Complete blocks.
    pub blocks: u64,
    /// Blocks that named no tool, or with a longer name than allowed, and so were text.
    pub unnamed: u64,
    /// Blocks that were text because another one began inside them.
    pub nested: u64,
    /// Blocks that were text because they were not closed at the end of the text.
    pub unclosed: u64,
    /// Blocks that were text because they were longer than the limit for held-back bytes.
    pub oversized: u64,
    /// Bytes that were looked at, those looked at twice counted twice: the measure of the work.
    pub scanned: u64,
}

/// What a buffer may keep for the next text.
const KEPT_CAPACITY: usize = 64 * 1024;

// === impl TextScanner ===

impl TextScanner {
    /// A scanner for these formats.
    pub fn new(patterns: &TextPatterns) -> Self {
        Self::with_limits(patterns, Limits::default())
    }

    /// A scanner that holds back no more than [`Limits::held_bytes`].
    pub fn with_limits(patterns: &TextPatterns, limits: Limits) -> Self {
        let formats = patterns.formats();
        let markers = Markers::new(&formats);
        let needs_whole_text = formats.iter().any(Format::is_whole);
        // A parser is promised to see the whole marker.
        let held_limit = limits.held_bytes.max(markers.longest());
        Self {
            formats,
            markers,
            held_limit,
            name_limit: limits.name_bytes,
            held: String::new(),
            head: 0,
            offset: 0,
            state: State::Text,
            needs_whole_text,
            fences: None,
            found: Found::default(),
            decoder: Utf8Decoder::default(),
            decoded: String::new(),
            finished: false,
            ends_in_block: false,
            events: Vec::new(),
            blocks: Vec::new(),
            counts: ScanCounts::default(),
        }
    }

    /// The same scanner, for which blocks in fenced code of Markdown are text: a fence is three or more
    /// backticks or tildes at the beginning of a line, after at most three spaces. Not for formats of
    /// [`TextPatterns::register_fn`], which see the fences themselves.
    ///
    /// ```
    /// use tool_call_aggregator::TextPatterns;
    ///
    /// let example = "```xml\n<use_tool><name>f</name></use_tool>\n```\n";
    /// let mut scanner = TextPatterns::default().scanner().with_fences_as_text();
    /// scanner.push(example);
    /// scanner.finish();
    /// assert_eq!(scanner.counts().blocks, 0);
    /// ```
    #[must_use]
    pub fn with_fences_as_text(mut self) -> Self {
        self.fences = Some(Fences::default());
        self
    }

    /// Takes the next chunk, and gives what is known now.
    pub fn push<'a>(&'a mut self, chunk: &'a str) -> ScanEvents<'a> {
        self.begin();
        if self.decoder.is_pending() {
            return self.push_decoded(chunk.as_bytes());
        }
        self.feed(chunk);
        self.events_of(chunk)
    }

    /// Takes the next chunk as bytes, which may be cut inside a character. What is not UTF-8
    /// becomes U+FFFD.
    pub fn push_bytes<'a>(&'a mut self, chunk: &'a [u8]) -> ScanEvents<'a> {
        self.begin();
        match self.decoder.borrow(chunk) {
            Some(chunk) => {
                self.feed(chunk);
                self.events_of(chunk)
            }
            None => self.push_decoded(chunk),
        }
    }

    /// Ends the text: what is still held back is text. The scanner is then ready for another one.
    pub fn finish(&mut self) -> ScanEvents<'_> {
        self.begin();
        let mut rest = mem::take(&mut self.decoded);
        rest.clear();
        self.decoder.finish(&mut rest);
        if !rest.is_empty() {
            self.feed(&rest);
        }
        self.decoded = rest;
        if self.held_back() > 0 {
            self.read_to_end();
        }
        self.finished = true;
        self.events_of(&self.decoded)
    }

    /// What the scanner has met so far, over all texts.
    pub fn counts(&self) -> ScanCounts {
        self.counts
    }

    /// How many bytes are held back now.
    pub fn held_back(&self) -> usize {
        self.held.len() - self.head
    }

    /// Whether a format looks at whole texts, so that everything is held back.
    pub(super) fn needs_whole_text(&self) -> bool {
        self.needs_whole_text
    }

    /// Forgets what the events of the last chunk were borrowed from.
    fn begin(&mut self) {
        self.events.clear();
        self.blocks.clear();
        if self.head > 0 {
            self.held.drain(..self.head);
            self.offset += self.head;
            self.head = 0;
        }
        if self.finished {
            self.finished = false;
            self.ends_in_block = false;
            self.offset = 0;
            self.fences = self.fences.map(|_| Fences::default());
            // One long block must not cost its memory for ever.
            self.held.shrink_to(KEPT_CAPACITY);
        }
    }

    #[cold]
    fn push_decoded(&mut self, chunk: &[u8]) -> ScanEvents<'_> {
        let mut text = mem::take(&mut self.decoded);
        text.clear();
        self.decoder.decode(chunk, &mut text);
        self.feed(&text);
        self.decoded = text;
        self.events_of(&self.decoded)
    }

    fn events_of<'a>(&'a self, chunk: &'a str) -> ScanEvents<'a> {
        ScanEvents {
            stored: self.events.iter(),
            chunk,
            held: &self.held,
            blocks: &self.blocks,
            ends_in_block: self.ends_in_block,
        }
    }

    fn feed(&mut self, chunk: &str) {
        if self.needs_whole_text {
            return self.feed_whole(chunk);
        }
        if self.held.is_empty() {
            let rest = self.pass_plain(chunk);
            if rest.is_empty() {
                return;
            }
            self.held.push_str(rest);
        } else {
            self.held.push_str(chunk);
        }
        self.read_held(Rest::MayCome);
    }

    /// Holds everything back, up to the limit.
    #[cold]
    fn feed_whole(&mut self, chunk: &str) {
        self.held.push_str(chunk);
        while self.held_back() > self.held_limit {
            let part = self.held[self.head..].floor_char_boundary(self.held_limit);
            let part = part.max(first_char(&self.held[self.head..]));
            let rest = self.held.split_off(self.head + part);
            self.read_to_end();
            self.held.push_str(&rest);
        }
    }

    /// Reads what is held as the end of a text.
    fn read_to_end(&mut self) {
        if self.needs_whole_text {
            let text = &self.held[self.head..];
            let offset = self.offset + self.head;
            self.found = Found::of(&self.formats, text, offset, self.name_limit);
        }
        self.read_held(Rest::Ended);
    }

    /// Passes on the text before the first marker without copying it; gives the rest.
    fn pass_plain<'a>(&mut self, chunk: &'a str) -> &'a str {
        let finding = find(&mut self.fences, &self.markers, chunk.as_bytes(), Rest::MayCome);
        let (plain, rest) = match finding {
            Finding::Nothing => (chunk.len(), ""),
            Finding::Perhaps { at } | Finding::Marker { at, .. } => (at, &chunk[at..]),
        };
        if plain > 0 {
            self.events.push(Stored::ChunkText(0..plain));
            self.offset += plain;
            self.counts.scanned += plain as u64;
        }
        rest
    }

    fn read_held(&mut self, rest: Rest) {
        loop {
            let progress = match self.state {
                State::Text => self.find_marker(rest),
                State::Reading { .. } => self.read_block(rest),
                State::Declined { end, next_pattern } => self.ask_others(end, next_pattern, rest),
                State::FenceLine { pattern, seen } => self.read_fence_line(pattern, seen, rest),
            };
            if !progress {
                return;
            }
        }
    }
}

/// The first marker where a block may begin.
#[inline]
fn find(fences: &mut Option<Fences>, markers: &Markers, text: &[u8], rest: Rest) -> Finding {
    match fences {
        None => markers.find(text, rest),
        // The usual case, at a glance.
        Some(fences) if fences.is_in_plain_line() && !markers.or_line_may_begin(text) => {
            Finding::Nothing
        }
        Some(fences) => fences.find(markers, text, rest),
    }
}

/// The length of the first character.
fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}
