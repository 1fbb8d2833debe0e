//! `/v1/chat/completions`.

pub mod completion;
mod request;
pub mod stream;

pub use request::{
    AllowedMode, ChatRequest, FIELDS, FieldTreatment, FunctionCall, FunctionTool, Message, Part,
    ReasoningSummary, ResponseFormat, ToolCall, ToolChoice, ToolDialect,
};
