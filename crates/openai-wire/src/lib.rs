//! OpenAI's wire: requests, answers, server-sent frames and errors, as clients really write and
//! read them. No HTTP server and nothing of Codex.

mod call_part;
pub mod chat;
mod error;
mod finish_reason;
mod frame;
mod reading;
pub mod responses;
mod usage;

pub use call_part::{CallHead, CallPart, WholeCall};
pub use error::{ApiError, ErrorType};
pub use finish_reason::FinishReason;
pub use frame::comment;
pub use reading::{
    AllowedMode, ChosenTool, CustomCall, FieldTreatment, FunctionCall, Grammar, HostedTool,
    Namespace, Part, ReasoningSummary, ResponseFormat, ServiceTier, Tool, ToolChoice, ToolKind,
    Tools, Verbosity,
};
pub use usage::{CompletionTokensDetails, PromptTokensDetails, Usage};
