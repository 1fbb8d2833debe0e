//! Which of its tools the model may or must call, in the two forms of chat completions.

use serde_json::Value;

use crate::ApiError;
use crate::reading::{DeclaredNames, Object, Path, Tool, ToolChoice};

/// Reads `tool_choice` and the legacy `function_call`.
pub(super) fn read_tool_choice(
    request: &mut Object<'_>,
    tools: &[Tool],
) -> Result<ToolChoice, ApiError> {
    let (choice, legacy) = (request.take("tool_choice"), request.take("function_call"));
    let tools = || DeclaredNames::of(tools);
    match (choice, legacy) {
        (None, None) => Ok(ToolChoice::Auto),
        (Some(choice), None) => ToolChoice::read(choice, request.path("tool_choice"), &tools()),
        (None, Some(legacy)) => read_legacy(legacy, request.path("function_call"), &tools()),
        (Some(_), Some(_)) => {
            let problem = "'function_call' cannot be given together with 'tool_choice'.";
            Err(request.path("function_call").invalid(problem))
        }
    }
}

fn read_legacy(
    choice: Value,
    path: Path<'_>,
    tools: &DeclaredNames<'_>,
) -> Result<ToolChoice, ApiError> {
    match choice {
        Value::String(name) => match name.as_str() {
            "none" => Ok(ToolChoice::None),
            "auto" => Ok(ToolChoice::Auto),
            _ => Err(path.unsupported(&name, &["none", "auto"])),
        },
        object @ Value::Object(_) => ToolChoice::read_named(Object::read(object, path)?, tools),
        other => Err(path.wrong_type("a string or an object", &other)),
    }
}
