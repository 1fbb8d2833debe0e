//! Texts that end the visible text, found wherever the stream is cut.

/// Looks for stop sequences in text that comes in chunks.
///
/// The one that is complete first ends the text; of several that end at the same byte, the longest.
/// Only what could still become one is held back. Each byte is looked at once for each sequence.
#[derive(Debug, Default)]
pub(super) struct StopSequences {
    searches: Vec<Search>,
}

/// The automaton of Knuth, Morris and Pratt for one sequence. Written by hand because crates for
/// searching want a whole text, or do not say what is still open at the end of a chunk.
#[derive(Debug)]
struct Search {
    sequence: String,
    /// For each length of a prefix, the longest shorter prefix that the prefix ends in.
    fallback: Vec<usize>,
    /// How long a prefix of the sequence the text so far ends in.
    matched: usize,
}

/// A stop sequence is there; the text before it was passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found;

// === impl StopSequences ===

impl StopSequences {
    pub(super) fn new(sequences: &[String]) -> Self {
        let sequences = sequences.iter().filter(|sequence| !sequence.is_empty());
        Self { searches: sequences.map(|sequence| Search::new(sequence)).collect() }
    }

    /// Passes on what is sure to be visible.
    pub(super) fn push(&mut self, chunk: &str, mut visible: impl FnMut(&str)) -> Option<Found> {
        if self.searches.is_empty() {
            visible(chunk);
            return None;
        }
        // What is held back is a prefix of a sequence, so nothing of it needs to be kept.
        let before = self.held();
        for (at, byte) in chunk.bytes().enumerate() {
            let longest = self.searches.iter_mut().filter_map(|search| search.step(byte)).max();
            if let Some(length) = longest {
                self.release(before, chunk, at + 1, length, visible);
                return Some(Found);
            }
        }
        self.release(before, chunk, chunk.len(), self.held().1, &mut visible);
        None
    }

    /// Passes on what was held back: nothing more can complete it.
    pub(super) fn flush(&mut self, mut visible: impl FnMut(&str)) {
        let (search, length) = self.held();
        if length > 0 {
            visible(&self.searches[search].sequence[..length]);
        }
        for search in &mut self.searches {
            search.matched = 0;
        }
    }

    /// Which search holds most back, and how much.
    fn held(&self) -> (usize, usize) {
        let held = self.searches.iter().map(|search| search.matched).enumerate();
        held.max_by_key(|(_, length)| *length).unwrap_or_default()
    }

    /// Passes on what was held before and the chunk up to `end`, except for the last `kept` bytes.
    fn release(
        &self,
        (search, held): (usize, usize),
        chunk: &str,
        end: usize,
        kept: usize,
        mut visible: impl FnMut(&str),
    ) {
        let released = held + end - kept;
        if held > 0 && released > 0 {
            visible(&self.searches[search].sequence[..held.min(released)]);
        }
        if released > held {
            visible(&chunk[..released - held]);
        }
    }
}

// === impl Search ===

impl Search {
    fn new(sequence: &str) -> Self {
        let bytes = sequence.as_bytes();
        let mut fallback = vec![0; bytes.len() + 1];
        let mut length = 0;
        for at in 1..bytes.len() {
            while length > 0 && bytes[at] != bytes[length] {
                length = fallback[length];
            }
            length += usize::from(bytes[at] == bytes[length]);
            fallback[at + 1] = length;
        }
        Self { sequence: sequence.to_owned(), fallback, matched: 0 }
    }

    /// Takes the next byte; the sequence's length if it is complete.
    fn step(&mut self, byte: u8) -> Option<usize> {
        let bytes = self.sequence.as_bytes();
        while self.matched > 0 && bytes[self.matched] != byte {
            self.matched = self.fallback[self.matched];
        }
        self.matched += usize::from(bytes[self.matched] == byte);
        (self.matched == bytes.len()).then_some(bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stopped(sequences: &[String], chunks: &[&str]) -> (String, bool) {
        let mut stop = StopSequences::new(sequences);
        let mut text = String::new();
        for chunk in chunks {
            if stop.push(chunk, |part| text.push_str(part)).is_some() {
                return (text, true);
            }
        }
        stop.flush(|part| text.push_str(part));
        (text, false)
    }

    /// The same by looking at every prefix of the whole text.
    fn naive(sequences: &[String], text: &str) -> (String, bool) {
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let complete = sequences.iter().filter(|one| text[..end].ends_with(one.as_str()));
            if let Some(longest) = complete.map(String::len).max() {
                return (text[..end - longest].to_owned(), true);
            }
        }
        (text.to_owned(), false)
    }

    #[test]
    fn nothing_but_a_possible_beginning_is_held_back() {
        let mut stop = StopSequences::new(&["END".to_owned()]);
        let mut seen = Vec::new();
        for chunk in ["one E", "x EN", "D two"] {
            stop.push(chunk, |part| seen.push(part.to_owned()));
        }
        assert_eq!(seen, ["one ", "E", "x "]);
    }

    proptest! {
        #[test]
        fn the_cut_is_exact_however_the_text_comes(
            sequences in prop::collection::vec("[abä]{1,4}", 1..4),
            chunks in prop::collection::vec("[abäc]{0,5}", 0..8),
        ) {
            let parts: Vec<_> = chunks.iter().map(String::as_str).collect();
            prop_assert_eq!(stopped(&sequences, &parts), naive(&sequences, &chunks.concat()));
        }
    }
}
