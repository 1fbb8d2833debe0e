//! Text in chunks in, text and blocks out.

use std::mem;
use std::sync::Arc;

use super::markers::{Finding, Markers, Place, Rest};
use super::scan_event::Stored;
use super::utf8::Utf8Decoder;
use super::{BlockParser, NotACall, ParsedTextBlock, ScanEvents, Step, TextPattern, TextPatterns};
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
    patterns: Vec<Arc<dyn TextPattern>>,
    markers: Markers,
    held_limit: usize,
    /// Everything that cannot be passed on yet, after what was passed on with the last chunk.
    held: String,
    /// Where in `held` that begins.
    head: usize,
    /// Where in the text `held` begins.
    offset: usize,
    state: State,
    decoder: Utf8Decoder,
    decoded: String,
    finished: bool,
    events: Vec<Stored>,
    blocks: Vec<ParsedTextBlock>,
    counts: ScanCounts,
}

#[derive(Debug)]
enum State {
    /// Outside any block.
    Text,
    /// A marker stands at `head`, and its format is reading.
    Reading { pattern: usize, parser: Box<dyn BlockParser>, opened: bool, seen: usize },
    /// A format has declined the place at `head`: text up to `end`, unless one of the later
    /// formats claims it.
    Declined { end: usize, next_pattern: usize },
}

/// What a scanner has met so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanCounts {
    /// Complete blocks.
    pub blocks: u64,
    /// Blocks that named no tool, and so were text.
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
        let markers = Markers::new(patterns.patterns());
        // A parser is promised to see the whole marker.
        let held_limit = limits.held_bytes.max(markers.longest());
        Self {
            patterns: patterns.patterns().cloned().collect(),
            markers,
            held_limit,
            held: String::new(),
            head: 0,
            offset: 0,
            state: State::Text,
            decoder: Utf8Decoder::default(),
            decoded: String::new(),
            finished: false,
            events: Vec::new(),
            blocks: Vec::new(),
            counts: ScanCounts::default(),
        }
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
        self.feed(&rest);
        self.decoded = rest;
        while self.head < self.held.len() {
            if let State::Reading { pattern, opened, .. } = self.state {
                self.counts.unclosed += u64::from(opened);
                let end = self.held.len() - self.head;
                self.state = State::Declined { end, next_pattern: pattern + 1 };
            }
            self.read_held(Rest::Ended);
        }
        self.finished = true;
        ScanEvents {
            stored: self.events.iter(),
            chunk: &self.decoded,
            held: &self.held,
            blocks: &self.blocks,
        }
    }

    /// What the scanner has met so far, over all texts.
    pub fn counts(&self) -> ScanCounts {
        self.counts
    }

    /// How many bytes are held back now.
    pub fn held_back(&self) -> usize {
        self.held.len() - self.head
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
            self.offset = 0;
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
        ScanEvents {
            stored: self.events.iter(),
            chunk: &self.decoded,
            held: &self.held,
            blocks: &self.blocks,
        }
    }

    fn events_of<'a>(&'a self, chunk: &'a str) -> ScanEvents<'a> {
        ScanEvents { stored: self.events.iter(), chunk, held: &self.held, blocks: &self.blocks }
    }

    fn feed(&mut self, chunk: &str) {
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

    /// Passes on the text before the first marker without copying it; gives the rest.
    fn pass_plain<'a>(&mut self, chunk: &'a str) -> &'a str {
        let (plain, rest) = match self.markers.find(chunk.as_bytes(), Rest::MayCome) {
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
                State::Reading { .. } => self.read_block(),
                State::Declined { end, next_pattern } => self.ask_others(end, next_pattern, rest),
            };
            if !progress {
                return;
            }
        }
    }

    /// Passes on the text before the next marker; false if there is none.
    fn find_marker(&mut self, rest: Rest) -> bool {
        let text = &self.held.as_bytes()[self.head..];
        let finding = self.markers.find(text, rest);
        let plain = match finding {
            Finding::Nothing => text.len(),
            Finding::Perhaps { at } | Finding::Marker { at, .. } => at,
        };
        self.counts.scanned += plain as u64;
        if plain > 0 {
            self.pass_held(plain);
        }
        match finding {
            Finding::Marker { pattern, .. } => {
                self.read_with(pattern);
                true
            }
            Finding::Perhaps { .. } | Finding::Nothing => false,
        }
    }

    fn read_with(&mut self, pattern: usize) {
        let parser = self.patterns[pattern].open();
        self.state = State::Reading { pattern, parser, opened: false, seen: 0 };
    }

    /// One step of the format that is reading; false if it needs more text.
    fn read_block(&mut self) -> bool {
        let State::Reading { pattern, parser, opened, seen } = &mut self.state else {
            return false;
        };
        let pattern = *pattern;
        let buffer = &self.held[self.head..];
        let view = &buffer[..last_boundary(buffer, self.held_limit)];
        let is_cut = view.len() < buffer.len();
        if view.len() == *seen && !is_cut {
            return false;
        }
        let before = mem::replace(seen, view.len());
        let step = parser.step(view, before);
        let read_to = match step {
            Step::Undecided | Step::Opened => view.len(),
            Step::Block { end, .. } | Step::Text { end, .. } => end.min(view.len()),
        };
        self.counts.scanned += read_to.saturating_sub(before) as u64;
        let opens = !matches!(step, Step::Undecided | Step::Text { why: NotACall::NoBlock, .. });
        if opens && !mem::replace(opened, true) {
            self.events.push(Stored::Opened(self.offset + self.head));
        }
        match step {
            Step::Undecided | Step::Opened if is_cut => {
                // A marker may have begun right before the limit.
                let tail = self.markers.longest().saturating_sub(1);
                let end = last_boundary(view, view.len().saturating_sub(tail));
                let end = end.max(first_char(buffer));
                self.counts.oversized += 1;
                self.pass_held(end);
            }
            Step::Undecided | Step::Opened => return false,
            Step::Block { end, name, args_text } if is_inside(view, end) => {
                let raw = view[..end].to_owned();
                self.accept(name, args_text, raw);
            }
            Step::Text { end, why } if is_inside(view, end) => {
                self.counts.nested += u64::from(why == NotACall::Nested);
                self.counts.unnamed += u64::from(why == NotACall::Unnamed);
                self.state = State::Declined { end, next_pattern: pattern + 1 };
            }
            Step::Block { .. } | Step::Text { .. } => {
                let end = first_char(buffer);
                self.state = State::Declined { end, next_pattern: pattern + 1 };
            }
        }
        true
    }

    /// Looks for a later format whose marker stands at the declined place; false if that cannot
    /// be known yet.
    fn ask_others(&mut self, end: usize, next_pattern: usize, rest: Rest) -> bool {
        match self.markers.at(&self.held.as_bytes()[self.head..], next_pattern, rest) {
            Place::Marker(pattern) => self.read_with(pattern),
            Place::Perhaps => return false,
            Place::Nothing => self.pass_held(end),
        }
        true
    }

    fn accept(&mut self, name: String, args_text: String, raw: String) {
        let start = self.offset + self.head;
        self.head += raw.len();
        let end = self.offset + self.head;
        self.events.push(Stored::Block(self.blocks.len()));
        self.blocks.push(ParsedTextBlock { start, end, name, args_text, raw });
        self.counts.blocks += 1;
        self.state = State::Text;
    }

    /// Passes on held text.
    fn pass_held(&mut self, length: usize) {
        let from = self.head;
        self.head += length;
        match self.events.last_mut() {
            Some(Stored::HeldText(range)) if range.end == from => range.end = self.head,
            _ => self.events.push(Stored::HeldText(from..self.head)),
        }
        self.state = State::Text;
    }
}

/// Whether a block or text can end there.
fn is_inside(view: &str, end: usize) -> bool {
    end > 0 && view.is_char_boundary(end)
}

/// The last place up to `limit` that is not inside a character.
fn last_boundary(text: &str, limit: usize) -> usize {
    if limit >= text.len() {
        return text.len();
    }
    (0..=limit).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The length of the first character.
fn first_char(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}
