//! The tools of a turn, and their names.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::json_schema::JsonSchema;

/// The name of a tool, with its namespace if it has one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ToolName {
    /// The namespace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

/// A tool that the client offers to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name, which may be any text.
    pub name: ToolName,
    /// Description of its namespace, if it has one.
    pub namespace_description: Arc<str>,
    /// Description for the model.
    pub description: String,
    /// Form of its input.
    pub input: ToolInput,
}

/// Form of a tool's input.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// A JSON object that follows this schema.
    Json(JsonSchema),
    /// Free text: a custom tool.
    Text,
}

/// How arguments of a custom tool deviate from `{"input":"…"}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputDeviation {
    /// They do not begin like it: all of them are the input, verbatim.
    Raw,
    /// They begin like it but are not JSON, or hold more: the input is the text of the string, in which
    /// an escape that JSON does not have is kept verbatim.
    Malformed,
}

// === impl ToolName ===

impl ToolName {
    /// A name without a namespace.
    pub fn plain(name: impl Into<String>) -> Self {
        Self { namespace: None, name: name.into() }
    }

    /// `namespace.name`, or the name alone.
    pub fn qualified(&self) -> String {
        match &self.namespace {
            Some(namespace) => [namespace.as_str(), &self.name].join("."),
            None => self.name.clone(),
        }
    }

    /// Length of its text in bytes.
    pub fn bytes(&self) -> usize {
        self.name.len() + self.namespace.as_ref().map_or(0, String::len)
    }
}

impl From<&str> for ToolName {
    fn from(name: &str) -> Self {
        Self::plain(name)
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.qualified())
    }
}

// === impl Tool ===

impl Tool {
    /// A function outside any namespace.
    pub fn function(name: &str, description: &str, parameters: impl Into<JsonSchema>) -> Self {
        Self {
            name: name.into(),
            namespace_description: Arc::default(),
            description: description.to_owned(),
            input: ToolInput::Json(parameters.into()),
        }
    }
}
