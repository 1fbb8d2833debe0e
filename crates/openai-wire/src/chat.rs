//! `/v1/chat/completions`.

pub mod completion;
mod request;
pub mod stream;

pub use request::{CalledTool, ChatRequest, FIELDS, Message, ToolCall, ToolDialect};
