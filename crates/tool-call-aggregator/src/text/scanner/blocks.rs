//! Where blocks begin and end in the text that is held back.

use std::mem;

use super::{State, TextScanner, find, first_char, last_boundary};
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
    pub(super) fn read_block(&mut self, rest: Rest) -> bool {
        let State::Reading { pattern, parser, opened, seen, again } = &mut self.state else {
            return false;
        };
        let pattern = *pattern;
        let buffer = &self.held[self.head..];
        let view = &buffer[..last_boundary(buffer, self.held_limit)];
        let is_cut = view.len() < buffer.len();
        let is_all = is_cut || rest == Rest::Ended;
        if view.len() == *seen && !is_all {
            return false;
        }
        let before = mem::replace(seen, view.len());
        let has_more = before < view.len();
        let step = if has_more { parser.step(view, before) } else { Step::Undecided };
        let read_to = match step {
            Step::Undecided | Step::Opened => view.len(),
            Step::Block { end, .. } | Step::Text { end, .. } => end.min(view.len()),
            Step::Again { read, .. } => read.min(view.len()),
        };
        self.counts.scanned += read_to.saturating_sub(before) as u64;
        let opens = matches!(
            step,
            Step::Opened
                | Step::Block { .. }
                | Step::Text { why: NotACall::Nested | NotACall::Unnamed, .. }
        );
        if opens && !mem::replace(opened, true) {
            self.events.push(Stored::Opened(self.offset + self.head));
        }
        match step {
            Step::Undecided | Step::Opened if is_all => {
                if let Some(from) =
                    parser.give_up().filter(|from| (*again + 1..=view.len()).contains(from))
                {
                    (*seen, *again) = (from, from);
                    return true;
                }
                if is_cut {
                    // A marker may have begun right before the limit.
                    let tail = self.markers.longest().saturating_sub(1);
                    let end = last_boundary(view, view.len().saturating_sub(tail));
                    let end = end.max(first_char(buffer));
                    self.counts.oversized += 1;
                    self.pass_read(end);
                } else {
                    self.counts.unclosed += u64::from(*opened);
                    self.state = State::Declined { end: view.len(), next_pattern: pattern + 1 };
                }
            }
            Step::Undecided | Step::Opened => return false,
            Step::Again { from, .. } if (*again + 1..=view.len()).contains(&from) => {
                (*seen, *again) = (from, from);
            }
            Step::Block { end, ref name, .. }
                if is_inside(view, end) && name.len() > self.name_limit =>
            {
                self.counts.unnamed += 1;
                self.state = State::Declined { end, next_pattern: pattern + 1 };
            }
            Step::Block { end, name, args_text } if is_inside(view, end) => {
                let start = self.offset + self.head;
                let raw = view[..end].to_owned();
                self.accept(ParsedTextBlock { start, end: start + end, name, args_text, raw });
            }
            Step::Text { end, why } if is_inside(view, end) => {
                self.counts.nested += u64::from(why == NotACall::Nested);
                self.counts.unnamed += u64::from(why == NotACall::Unnamed);
                self.state = State::Declined { end, next_pattern: pattern + 1 };
            }
            Step::Block { .. } | Step::Text { .. } | Step::Again { .. } => {
                let end = first_char(buffer);
                self.state = State::Declined { end, next_pattern: pattern + 1 };
            }
        }
        true
    }

    /// Looks for a later format whose block stands at the declined place; false if that cannot be
    /// known yet.
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
    pub(super) fn read_fence_line(&mut self, pattern: usize, seen: usize, rest: Rest) -> bool {
        let buffer = &self.held[self.head..];
        let view = &buffer[..last_boundary(buffer, self.held_limit)];
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

/// Whether a block or text can end there.
fn is_inside(view: &str, end: usize) -> bool {
    end > 0 && view.is_char_boundary(end)
}
