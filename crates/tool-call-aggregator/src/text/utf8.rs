//! Bytes to text, however the bytes are cut.

use std::str;

/// Decodes a stream of bytes. What is not UTF-8 becomes U+FFFD, in the same places in which
/// [`String::from_utf8_lossy`] would put them into the whole.
#[derive(Debug, Clone, Default)]
pub(super) struct Utf8Decoder {
    /// The beginning of a character whose end has not come: at most three bytes.
    begun: Vec<u8>,
}

impl Utf8Decoder {
    /// `chunk` itself where it needs no decoding: the usual case, without a copy.
    pub(super) fn borrow<'a>(&self, chunk: &'a [u8]) -> Option<&'a str> {
        if self.begun.is_empty() { str::from_utf8(chunk).ok() } else { None }
    }

    /// Appends what `chunk` completes to `text`.
    pub(super) fn decode(&mut self, chunk: &[u8], text: &mut String) {
        self.begun.extend_from_slice(chunk);
        let mut rest = self.begun.as_slice();
        loop {
            let error = match str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    self.begun.clear();
                    return;
                }
                Err(error) => error,
            };
            let (valid, after) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(valid));
            let Some(wrong) = error.error_len() else {
                let keep = self.begun.len() - after.len();
                self.begun.drain(..keep);
                return;
            };
            text.push(char::REPLACEMENT_CHARACTER);
            rest = &after[wrong..];
        }
    }

    /// Appends what stands for a character that was never completed.
    pub(super) fn finish(&mut self, text: &mut String) {
        if !self.begun.is_empty() {
            self.begun.clear();
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }

    /// Whether a character has begun that is not complete.
    pub(super) fn is_pending(&self) -> bool {
        !self.begun.is_empty()
    }
}
