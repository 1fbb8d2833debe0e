//! Whether a block in the text and a structured call are the same call.
//!
//! The only place where arguments are parsed, and only to be compared.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use serde_json::Value;

/// A digest of what arguments mean: equal for equal JSON values. It is kept with a call, so that many
/// blocks and many calls can be compared without parsing each of them many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Meaning(u64);

// === impl Meaning ===

impl Meaning {
    pub(crate) fn of(arguments: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        match parse(arguments) {
            Some(value) => digest(&value, &mut hasher),
            None => arguments.hash(&mut hasher),
        }
        Self(hasher.finish())
    }
}

/// Whether two texts are the same, or the same JSON value. No arguments are as good as `{}`.
pub(crate) fn mean_the_same(a: &str, b: &str) -> bool {
    a == b || parse(a).is_some_and(|value| Some(value) == parse(b))
}

fn parse(arguments: &str) -> Option<Value> {
    if arguments.trim().is_empty() {
        return Some(Value::Object(serde_json::Map::new()));
    }
    serde_json::from_str(arguments).ok()
}

fn digest(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => 0_u8.hash(hasher),
        Value::Bool(bool) => (1_u8, bool).hash(hasher),
        Value::Number(number) => (2_u8, number).hash(hasher),
        Value::String(text) => (3_u8, text).hash(hasher),
        Value::Array(items) => {
            (4_u8, items.len()).hash(hasher);
            for item in items {
                digest(item, hasher);
            }
        }
        Value::Object(members) => {
            // The sum does not depend on the order of the members.
            let sum = members.iter().fold(0_u64, |sum, (key, value)| {
                let mut member = DefaultHasher::new();
                key.hash(&mut member);
                digest(value, &mut member);
                sum.wrapping_add(member.finish())
            });
            (5_u8, members.len(), sum).hash(hasher);
        }
    }
}
