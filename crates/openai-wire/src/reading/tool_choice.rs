//! Which of its tools the model may or must call.

use std::collections::HashSet;

use serde_json::Value;

use super::{Excerpt, FunctionTool, Object, Path};
use crate::ApiError;

/// Which tools the model may or must call. The names are those of declared tools.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ToolChoice {
    /// Any or none.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Required,
    /// This one.
    Named(String),
    /// Some of them.
    Allowed {
        /// Their names.
        names: Vec<String>,
        /// Whether one must be called.
        mode: AllowedMode,
    },
}

/// How the allowed ones of the tools are to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AllowedMode {
    /// Any or none of them.
    Auto,
    /// At least one of them.
    Required,
}

const CHOICES: [&str; 3] = ["none", "auto", "required"];

// === impl ToolChoice ===

impl ToolChoice {
    pub(crate) fn read(
        choice: Value,
        path: Path<'_>,
        tools: &[FunctionTool],
    ) -> Result<Self, ApiError> {
        match choice {
            Value::String(name) => match name.as_str() {
                "none" => Ok(Self::None),
                "auto" => Ok(Self::Auto),
                "required" if tools.is_empty() => {
                    Err(path.invalid("'tool_choice' may be 'required' only if 'tools' are given."))
                }
                "required" => Ok(Self::Required),
                _ => Err(path.unsupported(&name, &CHOICES)),
            },
            object @ Value::Object(_) => {
                let mut choice = Object::read(object, path)?;
                let r#type = choice.required_string("type")?;
                match r#type.as_str() {
                    "function" => read_tool_name(choice, &names(tools)).map(Self::Named),
                    "allowed_tools" => Self::read_allowed(choice, tools),
                    _ => Err(choice
                        .path("type")
                        .unsupported(&r#type, &["function", "allowed_tools"])),
                }
            }
            other => Err(path.wrong_type("a string or an object", &other)),
        }
    }

    /// The Responses API has its members one level higher.
    fn read_allowed(mut choice: Object<'_>, tools: &[FunctionTool]) -> Result<Self, ApiError> {
        match choice.take("allowed_tools") {
            Some(allowed) => {
                let path = choice.path("allowed_tools");
                Self::read_allowed_members(Object::read(allowed, path)?, tools)
            }
            None => Self::read_allowed_members(choice, tools),
        }
    }

    fn read_allowed_members(
        mut allowed: Object<'_>,
        tools: &[FunctionTool],
    ) -> Result<Self, ApiError> {
        let mode = allowed.required_string("mode")?;
        let mode = match mode.as_str() {
            "auto" => AllowedMode::Auto,
            "required" => AllowedMode::Required,
            _ => return Err(allowed.path("mode").unsupported(&mode, &["auto", "required"])),
        };
        let entries = allowed.array("tools")?.unwrap_or_default();
        let path = allowed.path("tools");
        if entries.is_empty() {
            return Err(path.missing());
        }
        let declared = names(tools);
        let names = entries.into_iter().enumerate().map(|(index, entry)| {
            read_tool_name(Object::read(entry, path.item(index))?, &declared)
        });
        Ok(Self::Allowed { names: names.collect::<Result<_, _>>()?, mode })
    }

    /// Reads the `name` of a declared tool.
    pub(crate) fn read_named(
        mut choice: Object<'_>,
        tools: &[FunctionTool],
    ) -> Result<Self, ApiError> {
        read_declared_name(&mut choice, &names(tools)).map(Self::Named)
    }
}

fn names(tools: &[FunctionTool]) -> HashSet<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// The Responses API has the name one level higher.
fn read_tool_name(mut tool: Object<'_>, declared: &HashSet<&str>) -> Result<String, ApiError> {
    if let Some(r#type) = tool.string("type")?.filter(|name| name != "function") {
        return Err(tool.path("type").unsupported(&r#type, &["function"]));
    }
    match tool.take("function") {
        Some(function) => {
            let path = tool.path("function");
            read_declared_name(&mut Object::read(function, path)?, declared)
        }
        None => read_declared_name(&mut tool, declared),
    }
}

fn read_declared_name(
    object: &mut Object<'_>,
    declared: &HashSet<&str>,
) -> Result<String, ApiError> {
    let name = object.required_string("name")?;
    if declared.contains(name.as_str()) {
        return Ok(name);
    }
    let problem = format!("The request declares no tool that is named {}.", Excerpt(&name));
    Err(object.path("name").invalid(problem))
}
