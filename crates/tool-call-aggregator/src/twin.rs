//! Whether a block in the text and a structured call are the same call.
//!
//! The only module where arguments are parsed, and only to be compared.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::arguments_value::{ArgumentsValue, Numbers};

/// Digests of the value of arguments: equal for equal values. They are kept with a call, so that many
/// blocks and many calls can be compared without parsing each of them many times.
#[derive(Debug, Default)]
pub(crate) struct ValueDigests {
    written: Option<u64>,
    rewritten: Option<u64>,
}

// === impl ValueDigests ===

impl ValueDigests {
    pub(crate) fn get(&mut self, arguments: &str, numbers: Numbers) -> u64 {
        let known = match numbers {
            Numbers::Written => &mut self.written,
            Numbers::Rewritten => &mut self.rewritten,
        };
        *known.get_or_insert_with(|| {
            let mut hasher = DefaultHasher::new();
            ArgumentsValue::with(arguments, numbers).hash(&mut hasher);
            hasher.finish()
        })
    }
}

/// Whether two texts are the same, or the same value.
pub(crate) fn have_equal_value(a: &str, b: &str, numbers: Numbers) -> bool {
    a == b || ArgumentsValue::with(a, numbers) == ArgumentsValue::with(b, numbers)
}
