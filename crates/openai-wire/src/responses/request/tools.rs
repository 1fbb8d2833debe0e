//! The tools of a request.
//!
//! OpenAI makes a tool strict here that does not say whether it is. We do not: its schema need not be
//! of the kind that strictness wants, and we would have to change it.

use super::InputItem;
use crate::ApiError;
use crate::reading::{DeclaredNames, Object, ToolChoice, ToolForm, Tools};

pub(super) fn read_tools(request: &mut Object<'_>) -> Result<Tools, ApiError> {
    let tools = request.array("tools")?.unwrap_or_default();
    Tools::read(tools, request.path("tools"), ToolForm::Flat)
}

/// Tools are also declared by items of the input.
pub(super) fn read_tool_choice(
    request: &mut Object<'_>,
    tools: &Tools,
    input: &[InputItem],
) -> Result<ToolChoice, ApiError> {
    let Some(choice) = request.take("tool_choice") else { return Ok(ToolChoice::default()) };
    let additional: Vec<_> =
        input.iter().flat_map(|item| item.additional_tools("input").declared).collect();
    let declared = DeclaredNames::of(tools.declared.iter().chain(&additional));
    ToolChoice::read(choice, request.path("tool_choice"), &declared)
}
