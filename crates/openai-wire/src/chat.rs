//! `/v1/chat/completions`.

pub mod completion;
mod request;
pub mod stream;

/// Its path.
pub const PATH: &str = "/v1/chat/completions";

pub use request::{CalledTool, ChatRequest, FIELDS, Message, ToolCall, ToolDialect};
