//! Streamed tool calls put together right.
#![forbid(unsafe_code)]

mod aggregator;
mod call;
mod choice;
mod delta;
mod event;
mod ids;
mod json_members;
mod limits;
pub mod obsidian;
mod options;
mod record;
mod text;
mod twin;
mod wire;

pub use aggregator::{Builder, ToolCallAggregator};
pub use delta::{Deltas, Ingest, Replaced, ToolCallDelta};
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
