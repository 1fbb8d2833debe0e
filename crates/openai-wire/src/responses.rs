//! `/v1/responses`.

mod request;

pub use crate::reading::{
    AllowedMode, FieldTreatment, FunctionTool, Part, ReasoningSummary, ResponseFormat, ToolChoice,
};
pub use request::{
    Echo, FIELDS, InputItem, JsonText, MessagePhase, MessageRole, ResponsesRequest, Truncation,
};
