//! A request to a model and the events of its turn: the vocabulary between callers and runners of turns.
//!
//! Plain data: no I/O, no clock, no policy.

mod event;
mod failure;
mod history;
mod json_schema;
mod request;
mod tool;
mod usage;

pub use event::{ReasoningItem, ReasoningKind, ToolCall, ToolCallKind, TurnEnd, TurnEvent};
pub use failure::{Failure, FailureKind};
pub use history::{
    CallInput, ContentPart, HistoryItem, InvalidHistory, MessagePhase, Role, ToolOutput,
};
pub use json_schema::JsonSchema;
pub use request::{InvalidTurn, TurnRequest, Upstream};
pub use tool::{InputDeviation, Tool, ToolInput, ToolName};
pub use usage::TokenUsage;
