//! The agent message that is being streamed.

use std::hash::Hasher as _;

use siphasher::sip::SipHasher13;

/// How much of a message was streamed, and what it was, without keeping it.
#[derive(Debug)]
pub(crate) struct OpenMessage {
    bytes: usize,
    hash: SipHasher13,
}

/// The whole message does not begin with what was streamed of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contradiction;

// === impl OpenMessage ===

impl OpenMessage {
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

    /// What is left to stream of the whole message.
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
        let mut message = OpenMessage::new();
        assert_eq!(message.rest("whole"), Ok("whole"));
        message.stream("pä");
        message.stream("r");
        assert_eq!(message.rest("pärt"), Ok("t"));
        assert_eq!(message.rest("pär"), Ok(""));
        for other in ["pä", "pört", "p", "", "PART"] {
            assert_eq!(message.rest(other), Err(Contradiction), "{other}");
        }
    }
}
