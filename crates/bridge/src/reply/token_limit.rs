//! A limit of visible text in tokens.

use std::ops::Range;
use std::sync::Arc;

/// A tokenizer.
pub trait Tokenizer: Send + Sync {
    /// The number of tokens that `text` is made of.
    fn count(&self, text: &str) -> usize;

    /// How many bytes the first `tokens` tokens of `text` have, without half a character.
    fn head(&self, text: &str, tokens: usize) -> usize;
}

/// Passes on the first tokens of a text, and says when there are more.
///
/// Where the text is cut, and what is passed on by then, depends on the text alone, never on its
/// chunks. Near the limit a word is held back until it is whole, because only then its tokens are
/// known.
pub(super) struct TokenLimit {
    tokenizer: Arc<dyn Tokenizer>,
    limit: usize,
    /// Tokens of the words that are complete.
    settled: usize,
    /// What follows them.
    open: String,
    /// How much of that was passed on.
    passed: usize,
}

/// The limit is met; the text up to it was passed on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LimitMet;

/// Longest text that is counted at once. Words are far shorter; a longer run without a border is
/// counted in parts, which may give a token more than the whole.
const LONGEST_WORD: usize = 256;

// === impl TokenLimit ===

impl TokenLimit {
    pub(super) fn new(tokenizer: Arc<dyn Tokenizer>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { tokenizer, limit, settled: 0, open: String::new(), passed: 0 }
    }

    /// Passes on what is sure to be within the limit.
    pub(super) fn push(&mut self, chunk: &str, mut visible: impl FnMut(&str)) -> Option<LimitMet> {
        self.open.push_str(chunk);
        // Far from the limit nothing has to be counted.
        if self.settled + self.open.len() > self.limit {
            let mut start = 0;
            while let Some(length) = first_border(&self.open[start..]) {
                if self.settle(start..start + length, &mut visible).is_some() {
                    return Some(LimitMet);
                }
                start += length;
            }
            // Once for all words: a chunk may be a whole answer.
            self.forget(start);
            // Something follows the last border.
            if self.settled == self.limit {
                return Some(LimitMet);
            }
        }
        // No token is shorter than a byte.
        let sure = self.open.floor_char_boundary(self.limit - self.settled);
        self.pass_to(sure, visible);
        None
    }

    /// No more text follows what is held back.
    pub(super) fn flush(&mut self, visible: impl FnMut(&str)) -> Option<LimitMet> {
        let end = self.open.len();
        let met = self.settle(0..end, visible);
        if met.is_none() {
            self.forget(end);
        }
        met
    }

    /// Counts a word of what is open.
    fn settle(&mut self, word: Range<usize>, visible: impl FnMut(&str)) -> Option<LimitMet> {
        let text = &self.open[word.clone()];
        let tokens = self.tokenizer.count(text);
        let left = self.limit - self.settled;
        if tokens > left {
            let head = self.tokenizer.head(text, left);
            self.pass_to(word.start + head, visible);
            self.settled = self.limit;
            return Some(LimitMet);
        }
        self.pass_to(word.end, visible);
        self.settled += tokens;
        None
    }

    /// Forgets words that are counted.
    fn forget(&mut self, end: usize) {
        self.open.drain(..end);
        self.passed -= end;
    }

    fn pass_to(&mut self, end: usize, mut visible: impl FnMut(&str)) {
        if end > self.passed {
            visible(&self.open[self.passed..end]);
            self.passed = end;
        }
    }
}

/// The end of the first word: no token reaches over the place between a letter or digit and a space.
fn first_border(text: &str) -> Option<usize> {
    let mut previous = None;
    for (at, character) in text.char_indices() {
        let at_space = character == ' ' && previous.is_some_and(char::is_alphanumeric);
        if at_space || at >= LONGEST_WORD {
            return Some(at);
        }
        previous = Some(character);
    }
    None
}

impl std::fmt::Debug for TokenLimit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TokenLimit")
            .field("limit", &self.limit)
            .field("settled", &self.settled)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A token for every two characters of a word; a word begins with its space.
    struct Pairs;

    fn tokens(text: &str) -> Vec<usize> {
        let mut ends = Vec::new();
        let mut length = 0;
        for (at, character) in text.char_indices() {
            if at > 0 && (character == ' ' || length == 2) {
                ends.push(at);
                length = 0;
            }
            length += 1;
        }
        if !text.is_empty() {
            ends.push(text.len());
        }
        ends
    }

    impl Tokenizer for Pairs {
        fn count(&self, text: &str) -> usize {
            tokens(text).len()
        }

        fn head(&self, text: &str, count: usize) -> usize {
            count.checked_sub(1).map_or(0, |last| tokens(text)[last])
        }
    }

    fn limited(limit: u32, chunks: &[String]) -> (String, bool) {
        let mut limiter = TokenLimit::new(Arc::new(Pairs), limit);
        let mut text = String::new();
        for chunk in chunks {
            if limiter.push(chunk, |part| text.push_str(part)).is_some() {
                return (text, true);
            }
        }
        let met = limiter.flush(|part| text.push_str(part)).is_some();
        (text, met)
    }

    #[test]
    fn a_text_of_exactly_the_limit_is_whole() {
        assert_eq!(limited(2, &["abcd".to_owned()]), ("abcd".to_owned(), false));
        assert_eq!(limited(2, &["abcde".to_owned()]), ("abcd".to_owned(), true));
        assert_eq!(limited(3, &["ab cd ef".to_owned()]), ("ab cd".to_owned(), true));
    }

    #[test]
    fn far_from_the_limit_nothing_is_held_back() {
        let mut limiter = TokenLimit::new(Arc::new(Pairs), 20);
        let mut seen = Vec::new();
        for chunk in ["one tw", "o si", "x"] {
            limiter.push(chunk, |part| seen.push(part.to_owned()));
        }
        assert_eq!(seen, ["one tw", "o si", "x"]);
    }

    #[test]
    fn near_the_limit_what_is_sure_to_be_within_it_is_passed_on() {
        for chunks in [&["abcdefgh"][..], &["a", "bcd", "efgh"]] {
            let mut limiter = TokenLimit::new(Arc::new(Pairs), 3);
            let mut seen = String::new();
            for chunk in chunks {
                assert_eq!(limiter.push(chunk, |part| seen.push_str(part)), None);
            }
            assert_eq!(seen, "abc");
            assert_eq!(limiter.flush(|part| seen.push_str(part)), Some(LimitMet));
            assert_eq!(seen, "abcdef");
        }
    }

    proptest! {
        #[test]
        fn the_first_tokens_are_passed_on_however_the_text_comes(
            limit in 1_u32..20,
            chunks in prop::collection::vec("[ab ä]{0,9}", 0..12),
        ) {
            let text = chunks.concat();
            let count = Pairs.count(&text);
            let limit_size = usize::try_from(limit).unwrap();
            let whole = if count > limit_size {
                (text[..Pairs.head(&text, limit_size)].to_owned(), true)
            } else {
                (text.clone(), false)
            };
            prop_assert_eq!(limited(limit, &chunks), whole);
        }

        #[test]
        fn long_runs_are_cut_alike(chunks in prop::collection::vec("x{0,300}", 0..8)) {
            prop_assert_eq!(limited(300, &chunks), limited(300, &[chunks.concat()]));
        }
    }
}
