//! The tools of a request.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::object::{Excerpt, Object};
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
            "'functions' cannot be given together with 'tools': declare all of them in 'tools'.";
        return Err(request.path("functions").invalid(problem));
    }
    let (name, values, dialect) = if functions.is_empty() {
        ("tools", tools, ToolDialect::Tools)
    } else {
        ("functions", functions, ToolDialect::Functions)
    };
    let path = request.path(name);
    let mut names = HashSet::with_capacity(values.len());
    let read = |(index, value)| {
        let tool = Object::read(value, path.item(index))?;
        match dialect {
            ToolDialect::Tools => FunctionTool::read(tool, &mut names),
            ToolDialect::Functions => FunctionTool::read_function(tool, &mut names),
        }
    };
    let tools = values.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    Ok((tools, dialect))
}

// === impl FunctionTool ===

impl FunctionTool {
    fn read(mut tool: Object<'_>, names: &mut HashSet<String>) -> Result<Self, ApiError> {
        if let Some(r#type) = tool.string("type")?.filter(|name| name != "function") {
            return Err(tool.path("type").unsupported(&r#type, &["function"]));
        }
        match tool.take("function") {
            Some(function) => {
                let path = tool.path("function");
                Self::read_function(Object::read(function, path)?, names)
            }
            None => Err(tool.path("function").missing()),
        }
    }

    /// `names` are those of the tools before it.
    fn read_function(
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

fn no_parameters() -> Map<String, Value> {
    Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Map::new().into()),
    ])
}
