//! JSON without what was said. Every string and every number has a mask of its own, so that whoever
//! knows one of them learns nothing about the others.

use std::sync::Arc;

use serde_json::{Map, Number, Value};

use crate::mask::{Keys, Mask, MaskKey, Names};

/// Masks JSON values.
pub(super) struct JsonMask {
    keys: Keys,
    /// What is left as it is.
    pub(super) names: Arc<Names>,
}

/// A mask of a number may be none, or that of a member's name be taken.
const MOST_TRIES: usize = 16;

// === impl JsonMask ===

impl JsonMask {
    pub(super) fn new(keys: Keys, names: Arc<Names>) -> Self {
        Self { keys, names }
    }

    pub(super) fn text(&mut self, text: &str) -> String {
        Self::masked(&self.keys.fresh(), &self.names, text)
    }

    /// An id refers to its equals, and is not made of words.
    pub(super) fn id(&self, id: &str) -> String {
        Self::masked(&self.keys.of(id), &self.names, id)
    }

    /// Masks everything, names and numbers too.
    pub(super) fn opaque(&mut self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => *number = self.number(number),
            Value::String(text) => *text = self.text(text),
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.opaque(entry)),
            Value::Object(members) => {
                for (name, mut member) in std::mem::take(members) {
                    self.opaque(&mut member);
                    self.insert_masked(members, &name, member);
                }
            }
        }
    }

    /// Another number of the same length.
    pub(super) fn number(&mut self, number: &Number) -> Number {
        let written = number.to_string();
        let masked = (0..MOST_TRIES).find_map(|_| {
            let number: Number = serde_json::from_str(&self.text(&written)).ok()?;
            (number.to_string().len() == written.len()).then_some(number)
        });
        masked.unwrap_or_else(|| Number::from(0))
    }

    /// Adds a member under a name that stands for its own.
    pub(super) fn insert_masked(
        &mut self,
        members: &mut Map<String, Value>,
        name: &str,
        member: Value,
    ) {
        let mut masked = self.text(name);
        for _ in 0..MOST_TRIES {
            if !members.contains_key(&masked) {
                break;
            }
            masked = self.text(name);
        }
        members.insert(masked, member);
    }

    fn masked(key: &MaskKey, names: &Arc<Names>, text: &str) -> String {
        Mask::new(key, names).text(text)
    }
}
