//! Whether a block in the text and a structured call are the same call.
//!
//! The only place where arguments are parsed, and only to be compared.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::arguments_value::ArgumentsValue;

/// A digest of what arguments mean: equal for equal values. It is kept with a call, so that many
/// blocks and many calls can be compared without parsing each of them many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meaning(u64);

// === impl Meaning ===

impl Meaning {
    pub(crate) fn of(arguments: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        ArgumentsValue::of(arguments).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Whether two texts are the same, or the same value.
pub(crate) fn mean_the_same(a: &str, b: &str) -> bool {
    a == b || ArgumentsValue::of(a) == ArgumentsValue::of(b)
}
