//! `/v1/chat/completions`.

mod request;

pub use request::{
    AllowedMode, ChatRequest, FIELDS, FieldTreatment, FunctionCall, FunctionTool, Message, Part,
    ReasoningSummary, ResponseFormat, ToolCall, ToolChoice, ToolDialect,
};
