//! A function that the model may call.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{Excerpt, Object};
use crate::ApiError;

/// A function that the model may call.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionTool {
    /// Its name.
    pub name: String,
    /// What it is for; may be empty.
    pub description: String,
    /// JSON schema of its parameters.
    pub parameters: Map<String, Value>,
    /// Whether the model is to be held to the schema.
    pub strict: bool,
}

/// Longest name of a tool, in bytes.
const LONGEST_NAME: usize = 512;

// === impl FunctionTool ===

impl FunctionTool {
    /// `names` are those of the tools before it.
    pub(crate) fn read(
        mut function: Object<'_>,
        names: &mut HashSet<String>,
    ) -> Result<Self, ApiError> {
        let name = function.required_string("name")?;
        if !(1..=LONGEST_NAME).contains(&name.len()) {
            let problem = format!("The name of a function must have 1 to {LONGEST_NAME} bytes.");
            return Err(function.path("name").invalid(problem));
        }
        if !names.insert(name.clone()) {
            let problem = format!("Two tools are named {}: names must differ.", Excerpt(&name));
            return Err(function.path("name").invalid(problem));
        }
        let parameters = function.object("parameters")?.unwrap_or_else(no_parameters);
        let r#type = parameters.get("type").and_then(Value::as_str);
        if let Some(r#type) = r#type.filter(|name| *name != "object") {
            let problem = format!(
                "Invalid schema for function {}: its 'type' must be 'object', but is {}.",
                Excerpt(&name),
                Excerpt(r#type)
            );
            let error = function.path("parameters").invalid(problem);
            return Err(error.with_code("invalid_function_parameters"));
        }
        Ok(Self {
            name,
            description: function.string("description")?.unwrap_or_default(),
            parameters,
            strict: function.boolean("strict")?.unwrap_or(false),
        })
    }
}

/// The error for a tool that is no function.
pub(crate) fn unsupported_tool(tool: &Object<'_>, r#type: &str) -> ApiError {
    let path = tool.path("type");
    let problem = format!(
        "Invalid value for '{path}': {}. Codex takes no such tool from a client: only tools of type \
         'function' can be used.",
        Excerpt(r#type)
    );
    path.invalid(problem)
}

fn no_parameters() -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Map::new().into()),
    ])
}
