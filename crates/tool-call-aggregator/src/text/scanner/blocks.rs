//! Where blocks begin and end in the text that is held back.

use std::mem;

use super::{State, TextScanner, find, first_char};
use crate::text::fences::Fenced;
use crate::text::markers::{Finding, Place, Rest};
use crate::text::scan_event::Stored;
use crate::text::whole::Format;
use crate::text::{NotACall, ParsedTextBlock, Step};

// === impl TextScanner ===

impl TextScanner {
    /// Passes on the text before the next block; false if none begins.
    pub(super) fn find_marker(&mut self, rest: Rest) -> bool {
        let text = &self.held.as_bytes()[self.head..];
        let (start, fences) = (self.offset + self.head, self.fences);
        let finding = find(&mut self.fences, &self.markers, text, rest);
        let (plain, marker) = match finding {
            Finding::Nothing => (text.len(), usize::MAX),
            Finding::Perhaps { at } => (at, usize::MAX),
            Finding::Marker { at, pattern } => (at, pattern),
        };
        if let Some(block) = self.found.next(start, (start + plain, marker)) {
            self.fences = fences;
            self.counts.scanned += (block.end - start) as u64;
            self.pass_read(block.start - start);
            self.accept_found(block);
            return true;
        }
        self.counts.scanned += plain as u64;
        if plain > 0 {
            self.pass_held(plain);
        }
        let Finding::Marker { pattern, .. } = finding else {
            return false;
        };
        match self.fences.map(|fences| fences.next_byte()) {
            Some(Fenced::Undecided) => self.state = State::FenceLine { pattern, seen: 0 },
            _ => self.read_with(pattern),
        }
        true
    }

    fn read_with(&mut self, pattern: usize) {
        let Format::Streamed(format) = &self.formats[pattern] else {
            return; // It has no markers.
        };
        let parser = format.open();
        self.state = State::Reading { pattern, parser, opened: false, seen: 0, again: 0 };
    }

    /// One step of the format that is reading; false if it needs more text.
    #[inline]
    pub(super) fn read_block(&mut self, rest: Rest) -> bool {
        let State::Reading { parser, opened, seen, .. } = &mut self.state else {
            return false;
        };
        let buffer = &self.held[self.head..];
        let view = &buffer[..buffer.floor_char_boundary(self.held_limit)];
        let before = mem::replace(seen, view.len());
        let step = if before < view.len() { parser.step(view, before) } else { Step::Undecided };
        let is_all = view.len() < buffer.len() || rest == Rest::Ended;
        // The usual case while a long block arrives.
        if *opened && !is_all && matches!(step, Step::Opened) {
            self.counts.scanned += (view.len() - before) as u64;
            return false;
        }
        let read_to = match step {
            Step::Undecided | Step::Opened => view.len(),
            Step::Block { end, .. } | Step::Text { end, .. } => end.min(view.len()),
            Step::Again { read, .. } => read.min(view.len()),
        };
        self.counts.scanned += read_to.saturating_sub(before) as u64;
        let opens = !matches!(
            step,
            Step::Undecided | Step::Again { .. } | Step::Text { why: NotACall::NoBlock, .. }
        );
        if opens && !mem::replace(opened, true) {
            self.events.push(Stored::Opened(self.offset + self.head));
        }
        match step {
            Step::Undecided | Step::Opened if is_all => self.end_reading(),
            Step::Undecided | Step::Opened => return false,
            Step::Again { from, .. } => self.read_again(from),
            Step::Block { end, name, args_text } => self.end_block(end, name, args_text),
            Step::Text { end, why } => {
                let is_inside = self.is_inside(end);
                self.counts.nested += u64::from(is_inside && why == NotACall::Nested);
                self.counts.unnamed += u64::from(is_inside && why == NotACall::Unnamed);
                self.decline(end);
            }
        }
        true
    }

    /// The format will see no more than it has seen.
    #[cold]
    fn end_reading(&mut self) {
        let State::Reading { parser, opened, seen, .. } = &mut self.state else {
            return;
        };
        let (seen, opened) = (*seen, *opened);
        if let Some(from) = parser.give_up() {
            return self.read_again(from);
        }
        if seen == self.held_back() {
            self.counts.unclosed += u64::from(opened);
            self.ends_in_block = opened;
            return self.decline(seen);
        }
        // A marker may have begun right before the limit.
        let buffer = &self.held[self.head..];
        let tail = self.markers.longest().saturating_sub(1);
        let end = buffer.floor_char_boundary(seen.saturating_sub(tail)).max(first_char(buffer));
        self.counts.oversized += 1;
        self.pass_read(end);
    }

    /// The format reads again from here; it may not do so for ever.
    #[cold]
    fn read_again(&mut self, from: usize) {
        let State::Reading { seen, again, .. } = &mut self.state else {
            return;
        };
        if *again < from && from <= *seen {
            (*seen, *again) = (from, from);
        } else {
            self.decline(0);
        }
    }

    #[inline(never)]
    fn end_block(&mut self, end: usize, name: String, args_text: String) {
        if !self.is_inside(end) {
            return self.decline(end);
        }
        if name.len() > self.name_limit {
            self.counts.unnamed += 1;
            return self.decline(end);
        }
        let start = self.offset + self.head;
        let raw = self.held[self.head..][..end].to_owned();
        self.accept(ParsedTextBlock { start, end: start + end, name, args_text, raw });
    }

    /// What the format has read is text up to `end`, or, if that is nowhere, its first character.
    #[inline(never)]
    fn decline(&mut self, end: usize) {
        let State::Reading { pattern, .. } = self.state else {
            return;
        };
        let end = if self.is_inside(end) { end } else { first_char(&self.held[self.head..]) };
        self.state = State::Declined { end, next_pattern: pattern + 1 };
    }

    /// Whether a block or text can end there: in what the format has seen.
    fn is_inside(&self, end: usize) -> bool {
        let State::Reading { seen, .. } = self.state else {
            return false;
        };
        (1..=seen).contains(&end) && self.held.is_char_boundary(self.head + end)
    }

    /// Looks for a later format whose block stands at the declined place; false if that cannot be
    /// known yet.
    #[inline(never)]
    pub(super) fn ask_others(&mut self, end: usize, next_pattern: usize, rest: Rest) -> bool {
        let start = self.offset + self.head;
        let marker = match self.markers.at(&self.held.as_bytes()[self.head..], next_pattern, rest) {
            Place::Marker(pattern) => Some(pattern),
            Place::Perhaps => return false,
            Place::Nothing => None,
        };
        match (self.found.next(start, (start, marker.unwrap_or(usize::MAX))), marker) {
            (Some(block), _) => self.accept_found(block),
            (None, Some(pattern)) => self.read_with(pattern),
            (None, None) => self.pass_read(end),
        }
        true
    }

    /// Looks for the end of a line that opens a code fence unless another backtick follows in it;
    /// false if that cannot be known yet.
    #[inline(never)]
    pub(super) fn read_fence_line(&mut self, pattern: usize, seen: usize, rest: Rest) -> bool {
        let buffer = &self.held[self.head..];
        let view = &buffer[..buffer.floor_char_boundary(self.held_limit)];
        let end = memchr::memchr3(b'`', b'\n', b'\r', &view.as_bytes()[seen..]);
        self.counts.scanned += end.unwrap_or(view.len() - seen) as u64;
        match end.map(|end| seen + end) {
            Some(end) if view.as_bytes()[end] == b'`' => {
                if let Some(fences) = &mut self.fences {
                    fences.leave_line();
                }
                self.read_with(pattern);
            }
            Some(end) => self.pass_read(end),
            None if view.len() < buffer.len() || rest == Rest::Ended => self.pass_read(view.len()),
            None => {
                self.state = State::FenceLine { pattern, seen: view.len() };
                return false;
            }
        }
        true
    }

    fn accept_found(&mut self, block: ParsedTextBlock) {
        self.events.push(Stored::Opened(block.start));
        self.accept(block);
    }

    fn accept(&mut self, block: ParsedTextBlock) {
        if let Some(fences) = &mut self.fences {
            fences.leave_line();
        }
        self.ends_in_block = false;
        self.head += block.raw.len();
        self.events.push(Stored::Block(self.blocks.len()));
        self.blocks.push(block);
        self.counts.blocks += 1;
        self.state = State::Text;
    }

    /// Passes on text in which no block begins, and follows its lines.
    fn pass_read(&mut self, length: usize) {
        if let Some(fences) = &mut self.fences {
            fences.follow(&self.held.as_bytes()[self.head..self.head + length]);
        }
        self.pass_held(length);
    }

    /// Passes on held text.
    fn pass_held(&mut self, length: usize) {
        let from = self.head;
        self.head += length;
        self.state = State::Text;
        match self.events.last_mut() {
            _ if length == 0 => {}
            Some(Stored::HeldText(range)) if range.end == from => range.end = self.head,
            _ => self.events.push(Stored::HeldText(from..self.head)),
        }
    }
}
