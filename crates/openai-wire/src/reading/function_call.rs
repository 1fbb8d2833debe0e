//! A call that the model made earlier.

use serde_json::Value;

use super::Object;
use crate::ApiError;

/// What was called, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCall {
    /// Name of the function.
    pub name: String,
    /// Exact argument text.
    pub arguments: String,
}

// === impl FunctionCall ===

impl FunctionCall {
    pub(crate) fn read(call: &mut Object<'_>) -> Result<Self, ApiError> {
        let name = call.required_string("name")?;
        if name.is_empty() {
            return Err(call.path("name").invalid("The name of a function must not be empty."));
        }
        Ok(Self { name, arguments: Self::read_arguments(call)? })
    }

    /// The text of an object's `arguments`; empty if there are none.
    pub(crate) fn read_arguments(call: &mut Object<'_>) -> Result<String, ApiError> {
        match call.take("arguments") {
            None => Ok(String::new()),
            Some(Value::String(text)) => Ok(text),
            // Some clients send what they have parsed.
            Some(object @ Value::Object(_)) => Ok(object.to_string()),
            Some(other) => Err(call.path("arguments").wrong_type("a string of JSON", &other)),
        }
    }
}
