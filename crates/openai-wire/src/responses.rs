//! `/v1/responses`.

mod item;
mod response;
mod stream;

pub use item::{
    AssistantRole, EncryptedContent, FunctionCall, ItemStatus, MessagePhase, OutputItem,
    OutputMessage, OutputText, Reasoning, SummaryText,
};
pub use response::{
    Echo, IncompleteReason, ResponseError, ResponseHead, ResponseState, ResponseStatus,
    ResponseWriter, ResponsesUsage,
};
pub use stream::EventWriter;
