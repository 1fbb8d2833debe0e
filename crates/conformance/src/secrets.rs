//! What a report must never show, although servers like to say it back.

use std::sync::Arc;

/// A shorter value is no secret, and stands in too many other words.
const SHORTEST: usize = 4;

/// The same for a part of one.
const SHORTEST_PART: usize = 8;

/// The key and the values of headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Secrets(Arc<[String]>);

// === impl Secrets ===

impl Secrets {
    pub(crate) fn new<'a>(values: impl Iterator<Item = &'a str>) -> Self {
        // `Bearer sk-…` is said back without its first word, too.
        let last_word = |value: &'a str| value.rsplit(' ').next().unwrap_or_default();
        let parts = |value: &'a str| [(value, SHORTEST), (last_word(value), SHORTEST_PART)];
        let values = values.flat_map(parts).filter(|(value, shortest)| value.len() >= *shortest);
        let mut values: Vec<String> = values.map(|(value, _)| value.to_owned()).collect();
        // One may be the beginning of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values.into())
    }

    /// The text with `…` for each of them.
    pub(crate) fn hide(&self, text: &str) -> String {
        let hidden = |text: String, secret: &String| text.replace(secret.as_str(), "…");
        self.0.iter().fold(text.to_owned(), hidden)
    }
}
