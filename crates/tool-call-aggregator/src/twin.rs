//! Whether a block in the text and a structured call are the same call.
//!
//! The only place where arguments are parsed, and only to be compared.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::arguments_value::{ArgumentsValue, Numbers};

/// A digest of what arguments mean: equal for equal values. It is kept with a call, so that many
/// blocks and many calls can be compared without parsing each of them many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meaning(u64);

/// The digests of one text, each worked out when it is needed.
#[derive(Debug, Default)]
pub(crate) struct Meanings {
    written: Option<Meaning>,
    rewritten: Option<Meaning>,
}

// === impl Meanings ===

impl Meanings {
    pub(crate) fn get(&mut self, arguments: &str, numbers: Numbers) -> Meaning {
        let known = match numbers {
            Numbers::Written => &mut self.written,
            Numbers::Rewritten => &mut self.rewritten,
        };
        *known.get_or_insert_with(|| Meaning::of(arguments, numbers))
    }
}

// === impl Meaning ===

impl Meaning {
    fn of(arguments: &str, numbers: Numbers) -> Self {
        let mut hasher = DefaultHasher::new();
        ArgumentsValue::with(arguments, numbers).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Whether two texts are the same, or the same value.
pub(crate) fn mean_the_same(a: &str, b: &str, numbers: Numbers) -> bool {
    a == b || ArgumentsValue::with(a, numbers) == ArgumentsValue::with(b, numbers)
}
