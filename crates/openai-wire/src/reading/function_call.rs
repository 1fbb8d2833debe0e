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

/// A custom tool that was called, and with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomCall {
    /// Name of the tool.
    pub name: String,
    /// Exact input.
    pub input: String,
}

/// The namespace of a call, if the client sends it.
pub(crate) fn read_namespace(call: &mut Object<'_>) -> Result<Option<String>, ApiError> {
    Ok(call.string("namespace")?.filter(|namespace| !namespace.is_empty()))
}

// === impl CustomCall ===

impl CustomCall {
    pub(crate) fn read(call: &mut Object<'_>) -> Result<Self, ApiError> {
        let name = call.required_string("name")?;
        if name.is_empty() {
            return Err(call.path("name").invalid("The name of a tool must not be empty."));
        }
        Ok(Self { name, input: call.string("input")?.unwrap_or_default() })
    }
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
