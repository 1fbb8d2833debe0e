//! What the requests of both APIs have in common.

mod fields;
mod format;
mod function_call;
mod object;
mod options;
mod part;
#[cfg(test)]
pub(crate) mod refusal;
mod tool;
mod tool_choice;

pub use fields::FieldTreatment;
pub use format::ResponseFormat;
pub use function_call::{CustomCall, FunctionCall};
pub use options::{ReasoningSummary, ServiceTier, Verbosity};
pub use part::Part;
pub use tool::{Grammar, HostedTool, Namespace, Tool, ToolKind, Tools};
pub use tool_choice::{AllowedMode, ChosenTool, ToolChoice};

pub(crate) use fields::ignored;
pub(crate) use function_call::read_namespace;
pub(crate) use object::{Excerpt, Object, Path};
pub(crate) use options::{read_model, read_reasoning, read_service_tier, refuse_audio};
pub(crate) use part::read_content;
pub(crate) use tool::ToolForm;
pub(crate) use tool_choice::DeclaredNames;
