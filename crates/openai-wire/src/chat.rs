//! `/v1/chat/completions`.

pub mod completion;
mod request;
pub mod stream;

pub use crate::reading::{
    AllowedMode, CustomCall, FieldTreatment, FunctionCall, Part, ReasoningSummary, ResponseFormat,
    ToolChoice,
};
pub use request::{CalledTool, ChatRequest, FIELDS, Message, ToolCall, ToolDialect};
