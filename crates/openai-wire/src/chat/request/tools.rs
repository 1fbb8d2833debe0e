//! The tools of a request.

use std::collections::HashSet;

use crate::ApiError;
use crate::reading::{FunctionTool, Object, unsupported_tool};

/// In which of the two forms a request declares its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolDialect {
    /// `tools`
    #[default]
    Tools,
    /// `functions`, the legacy one.
    Functions,
}

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
            ToolDialect::Tools => read_tool(tool, &mut names),
            ToolDialect::Functions => FunctionTool::read(tool, &mut names),
        }
    };
    let tools = values.into_iter().enumerate().map(read).collect::<Result<_, _>>()?;
    Ok((tools, dialect))
}

fn read_tool(mut tool: Object<'_>, names: &mut HashSet<String>) -> Result<FunctionTool, ApiError> {
    if let Some(r#type) = tool.string("type")?.filter(|name| name != "function") {
        return Err(unsupported_tool(&tool, &r#type));
    }
    match tool.take("function") {
        Some(function) => {
            let path = tool.path("function");
            FunctionTool::read(Object::read(function, path)?, names)
        }
        None => Err(tool.path("function").missing()),
    }
}
