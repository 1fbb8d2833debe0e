//! A value in a block that begins like JSON.

use super::json_text::{JsonStop, JsonText};

/// How such a value is read.
#[derive(Debug, Clone)]
pub(super) enum JsonBody {
    /// As JSON, for as long as it can become JSON: tags in its strings are part of it.
    Json(JsonText),
    /// As text, because it is not JSON. Before `json_end`, the byte that showed it, only close tags
    /// count: they would have ended the value if it had been read as text from its beginning.
    Text { json_end: usize },
}

/// What stands next in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing of interest in what has arrived.
    Nothing,
    /// A `<` that may begin a tag: behind the value if it is JSON.
    Tag(usize),
    /// The byte that makes it no JSON.
    NotJson(usize),
}

// === impl JsonBody ===

impl Default for JsonBody {
    fn default() -> Self {
        Self::Json(JsonText::default())
    }
}

impl JsonBody {
    /// Reads on from `at`.
    pub(super) fn find_tag(&mut self, bytes: &[u8], at: usize) -> Next {
        match self {
            Self::Json(json) => match json.read(bytes, at) {
                JsonStop::End => Next::Nothing,
                JsonStop::After(at) if bytes[at] == b'<' => Next::Tag(at),
                JsonStop::After(at) | JsonStop::Broken(at) => Next::NotJson(at),
            },
            Self::Text { .. } => next_angle(bytes, at),
        }
    }

    pub(super) fn is_json(&self) -> bool {
        matches!(self, Self::Json(_))
    }

    /// Whether only close tags count at this place.
    pub(super) fn protects(&self, at: usize) -> bool {
        matches!(self, Self::Text { json_end } if at < *json_end)
    }
}

/// The next `<` in text.
#[inline]
pub(super) fn next_angle(bytes: &[u8], at: usize) -> Next {
    let rest = bytes.get(at..).unwrap_or_default();
    memchr::memchr(b'<', rest).map_or(Next::Nothing, |found| Next::Tag(at + found))
}
