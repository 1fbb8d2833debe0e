//! A JSON schema as its text.

use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// The schema of a tool's parameters, serialized once: a client's tools are the same in every turn, and
/// there can be many of them.
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct JsonSchema(Box<RawValue>);

// === impl JsonSchema ===

impl JsonSchema {
    /// Serializes a schema. If that fails it is `null`, which every turn rejects.
    pub fn new(schema: &impl Serialize) -> Self {
        Self(to_raw_value(schema).unwrap_or_else(|_| RawValue::NULL.to_owned()))
    }

    /// Its text.
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// Whether it is an object, as the parameters of a tool have to be.
    pub fn is_object(&self) -> bool {
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
