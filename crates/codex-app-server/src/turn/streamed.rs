//! How much of a text was streamed, to compare it with the whole one.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// How much of a text was streamed, and what it was, without keeping it.
#[derive(Debug)]
pub(crate) struct Streamed {
    bytes: usize,
    hash: SipHasher13,
}

/// The whole text does not begin with what was streamed of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contradiction;

// === impl Streamed ===

impl Streamed {
    pub(crate) fn new() -> Self {
        Self { bytes: 0, hash: SipHasher13::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    pub(crate) fn stream(&mut self, text: &str) {
        self.bytes += text.len();
        self.hash.write(text.as_bytes());
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What is left to stream of the whole text.
    pub(crate) fn rest<'a>(&self, whole: &'a str) -> Result<&'a str, Contradiction> {
        let (streamed, rest) = whole.split_at_checked(self.bytes).ok_or(Contradiction)?;
        let mut hash = SipHasher13::new();
        hash.write(streamed.as_bytes());
        if hash.finish() == self.hash.finish() { Ok(rest) } else { Err(Contradiction) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_what_was_not_streamed() {
        let mut streamed_text = Streamed::new();
        assert_eq!(streamed_text.rest("whole"), Ok("whole"));
        streamed_text.stream("pä");
        streamed_text.stream("r");
        assert_eq!(streamed_text.rest("pärt"), Ok("t"));
        assert_eq!(streamed_text.rest("pär"), Ok(""));
        for other in ["pä", "pört", "p", "", "PART"] {
            assert_eq!(streamed_text.rest(other), Err(Contradiction), "{other}");
        }
    }
}
