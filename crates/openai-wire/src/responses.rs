//! `/v1/responses`.

mod item;
mod request;
mod response;
mod stream;

/// Its path.
pub const PATH: &str = "/v1/responses";

pub use item::{
    CustomToolCall, EncryptedContent, FunctionCall, ItemStatus, OutputContent, OutputItem,
    OutputMessage, OutputRefusal, OutputText, Reasoning, SummaryText,
};
pub use request::{Echo, FIELDS, InputItem, JsonText, MessageRole, ResponsesRequest, Truncation};
pub use response::{
    IncompleteReason, ResponseError, ResponseHead, ResponseState, ResponseStatus, ResponseWriter,
    with_output,
};
pub use stream::EventWriter;
