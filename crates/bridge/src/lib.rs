//! From an OpenAI request to a turn of Codex, and from the turn's events to an OpenAI answer.
//!
//! Pure: no sockets, no clock, no randomness. Time and ids are passed in, so that every burst, grace
//! and cap is exact.

mod policy;
mod request;

pub use policy::{
    CallShape, DeclaredTools, OutputMode, OutputModeSetting, StopAfterTools, TextBlocks, TextTools,
    TurnPolicy, TurnSettings,
};
pub use request::{Prepared, RequestOptions, prepare};
