//! The tools of a request.

use std::collections::HashSet;

use crate::ApiError;
use crate::reading::{FunctionTool, Object, unsupported_tool};

pub(super) fn read_tools(request: &mut Object<'_>) -> Result<Vec<FunctionTool>, ApiError> {
    let tools = request.array("tools")?.unwrap_or_default();
    let path = request.path("tools");
    let mut names = HashSet::with_capacity(tools.len());
    let read = |(index, tool)| read_tool(Object::read(tool, path.item(index))?, &mut names);
    tools.into_iter().enumerate().map(read).collect()
}

/// OpenAI makes a tool strict here that does not say whether it is. We do not: its schema need not be
/// of the kind that strictness wants, and we would have to change it.
fn read_tool(mut tool: Object<'_>, names: &mut HashSet<String>) -> Result<FunctionTool, ApiError> {
    if let Some(r#type) = tool.string("type")?.filter(|name| name != "function") {
        return Err(unsupported_tool(&tool, &r#type));
    }
    match tool.take("function") {
        None => FunctionTool::read(tool, names),
        // As in chat completions.
        Some(function) => {
            let path = tool.path("function");
            FunctionTool::read(Object::read(function, path)?, names)
        }
    }
}
