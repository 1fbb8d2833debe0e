//! A JSON schema that is written already.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// The schema of a tool's parameters. It is written once and sent as it is: a client's tools are the
/// same in every turn, and there can be many of them.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct JsonSchema(Box<RawValue>);

// === impl JsonSchema ===

impl JsonSchema {
    /// Writes a schema; what cannot be written is `null`, which no turn takes.
    pub fn new(schema: &impl Serialize) -> Self {
        Self(to_raw_value(schema).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// Its text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    pub(crate) fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }
}

impl PartialEq for JsonSchema {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl From<Value> for JsonSchema {
    fn from(schema: Value) -> Self {
        Self::new(&schema)
    }
}
