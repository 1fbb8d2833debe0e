//! From an OpenAI request to a turn of Codex, and from the turn's events to an OpenAI answer.
//!
//! Pure: no sockets, no clock, no randomness. Time and ids are passed in, so that every burst, grace
//! and cap is exact.

mod answer;
mod declared_tools;
mod failure;
mod finish;
mod output;
mod policy;
mod reasoning;
mod reply;
mod request;

pub use answer::{
    Answer, AnswerOptions, ChatHead, ChatMessage, ChatStream, Collected, Input, Milestones,
    Release, ResponseItems, Want, call_count, is_truncated,
};
pub use declared_tools::{DeclaredTools, OtherTool};
pub use failure::{AskedUpstream, api_error, api_error_of, invalid_turn};
pub use finish::{BlockCounts, ChoiceReport, EndReason, InputDeviations};
pub use output::{AnswerEnd, Output, Piece};
pub use policy::{
    CallShape, OutputMode, OutputModeSetting, Preamble, RemoteImages, StopAfterTools,
    StreamArguments, TextBlocks, TextTools, TurnPolicy, TurnSettings, UnsupportedTools,
};
pub use reasoning::{CallReasoning, Question, ReasoningBefore};
pub use reply::{Ended, Reply, Tokenizer};
pub use request::{
    ImageToFetch, Prepared, Recall, RequestOptions, Target, adopt_prompt, prepare, prepare_response,
};
