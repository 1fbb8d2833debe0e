//! Tool calls in plain text.

mod extract;
mod fences;
mod json_body;
mod json_text;
mod markers;
mod open_tag;
mod pattern;
mod patterns;
mod registration;
mod scan_event;
mod scanner;
mod tool_call_json;
mod use_tool;
mod utf8;
mod whole;

pub(crate) use extract::extract;
pub use extract::{Extracted, extract_use_tool_blocks};
pub(crate) use markers::Rest;
pub(crate) use open_tag::{begins_name, continues_name};
pub use pattern::{BlockParser, NotACall, Step, TextPattern};
pub use patterns::{PatternError, TextPatterns};
pub use registration::Registration;
pub use scan_event::{ParsedTextBlock, ScanEvent, ScanEvents};
pub use scanner::{ScanCounts, TextScanner};
pub use tool_call_json::ToolCallJson;
pub use use_tool::UseTool;
