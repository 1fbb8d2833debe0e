//! Streamed tool calls put together right: structured deltas, whole items, final messages and text
//! blocks in, OpenAI calls out.
//!
//! # While streaming
//!
//! [`ToolCallAggregator::ingest_delta`] takes one event of any known shape, and gives the deltas to send
//! on. A delta serialises as an entry of `delta.tool_calls[]`. Those who hold JSON text, or borrowed
//! parts of it, need not build a `Value`: [`ToolCallAggregator::ingest_json`],
//! [`ToolCallAggregator::ingest`].
//!
//! ```
//! use serde_json::json;
//! use tool_call_aggregator::ToolCallAggregator;
//!
//! let mut calls = ToolCallAggregator::new();
//! let started = json!({"method": "item/tool/call", "params":
//!     {"callId": "call_1", "tool": "get_time", "arguments": {"zone": "UTC"}}});
//! for delta in calls.ingest_delta(&started, None).deltas {
//!     let frame = serde_json::to_value(delta)?; // an error if it takes back what was sent
//!     assert_eq!(frame["function"], json!({"name": "get_time", "arguments": r#"{"zone":"UTC"}"#}));
//! }
//! assert!(!calls.ingest_delta(&started, None).updated);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # When the message is there as a whole
//!
//! ```
//! use serde_json::json;
//! use tool_call_aggregator::{TextCalls, ToolCallAggregator};
//!
//! let mut calls = ToolCallAggregator::new();
//! let message = json!({"content": "<use_tool><name>readNote</name><notePath>a.md</notePath></use_tool>"});
//! calls.ingest_message(&message, None, TextCalls::EmitIfMissing);
//! assert_eq!(json!(calls.snapshot(0)[0])["function"]["arguments"], r#"{"notePath":"a.md"}"#);
//! ```
//!
//! # Calls in streamed text
//!
//! A [`TextScanner`] splits text in chunks into text to pass on and blocks; a block becomes a call only
//! by [`ToolCallAggregator::ingest_block`].
//!
//! # What holds
//!
//! 1. However the input is cut into chunks, also inside a tag or a character, the outcome is the same.
//! 2. Text and blocks that come out are, in order, the bytes that went in.
//! 3. A call that is reported in several ways appears once.
//! 4. Half a tag is never passed on and then completed.
//! 5. Calls and choices never mix.
//! 6. A chunk costs the same, however much came before it.
//! 7. Memory is bounded by [`Limits`]; reaching one is an outcome, not a failure.
//! 8. No input panics.
#![forbid(unsafe_code)]

mod aggregator;
mod arguments_value;
mod call;
mod choice;
mod delta;
mod event;
mod ids;
mod json_members;
mod limits;
mod matching;
pub mod obsidian;
mod options;
mod record;
mod sequence;
mod text;
mod twin;
mod wire;

pub use aggregator::{Builder, ToolCallAggregator};
pub use arguments_value::ArgumentsValue;
pub use delta::{Deltas, FunctionCallDelta, Ingest, Replaced, ToolCallDelta};
pub use event::{Arguments, CallEvent, Position};
pub use ids::{IdContext, IdFactory, IdPolicy, SuffixSource, backend_call_id};
pub use limits::{Limit, Limits};
pub use options::{FragmentMode, RepeatPolicy, TextCalls};
pub use record::{FunctionCall, ToolCallRecord};
pub use text::{
    BlockParser, Extracted, NotACall, ParsedTextBlock, PatternError, ScanCounts, ScanEvent,
    ScanEvents, Step, TextPattern, TextPatterns, TextScanner, ToolCallJson, UseTool,
    extract_use_tool_blocks,
};

/// The examples of the README and of the guide run with the other examples.
#[cfg(doctest)]
mod examples {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/tool-calls.md")]
    struct Guide;
}
