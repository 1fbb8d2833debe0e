//! Where in JSON text the strings are.

/// Follows JSON text byte by byte, as far as needed to know whether a place is inside a string.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct JsonStrings {
    inside: bool,
    escaped: bool,
}

impl JsonStrings {
    /// Goes on from `at` to the next byte that is `stop` and outside a string; without one, to the
    /// end.
    pub(super) fn find(&mut self, bytes: &[u8], mut at: usize, stop: u8) -> Option<usize> {
        loop {
            if self.escaped {
                if at >= bytes.len() {
                    return None;
                }
                self.escaped = false;
                at += 1;
            }
            let rest = bytes.get(at..)?;
            let found = if self.inside {
                memchr::memchr2(b'"', b'\\', rest)?
            } else {
                memchr::memchr2(b'"', stop, rest)?
            };
            at += found;
            match bytes[at] {
                b'"' => self.inside = !self.inside,
                b'\\' if self.inside => self.escaped = true,
                _ => return Some(at),
            }
            at += 1;
        }
    }
}
