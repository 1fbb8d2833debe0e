//! The tools of a request.

use crate::ApiError;
use crate::reading::{Object, ToolForm, Tools};

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
pub(super) fn read_tools(request: &mut Object<'_>) -> Result<(Tools, ToolDialect), ApiError> {
    let tools = request.array("tools")?.unwrap_or_default();
    let functions = request.array("functions")?.unwrap_or_default();
    if !tools.is_empty() && !functions.is_empty() {
        let problem =
            "'functions' cannot be given together with 'tools': declare all of them in 'tools'.";
        return Err(request.path("functions").invalid(problem));
    }
    if functions.is_empty() {
        let tools = Tools::read(tools, request.path("tools"), ToolForm::Nested)?;
        Ok((tools, ToolDialect::Tools))
    } else {
        let functions = Tools::read(functions, request.path("functions"), ToolForm::Bare)?;
        Ok((functions, ToolDialect::Functions))
    }
}
