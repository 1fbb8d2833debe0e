//! What became of a choice, as a record has it.

use bridge::{ChoiceReport, EndReason};
use model_turn::TokenUsage;
use serde::{Deserialize, Serialize};

/// What became of one choice, without what was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Why it ended, as the log has it.
    pub stop_reason: EndReason,
    /// Calls that were forwarded.
    pub call_count: usize,
    /// Whether a call was dropped, or the turn was cut before the response's end.
    pub truncated: bool,
    /// Names of the forwarded calls.
    pub call_names: Vec<String>,
    /// Their ids.
    pub call_ids: Vec<String>,
    /// Where the last call ends, in bytes of content.
    pub last_call_end: Option<usize>,
    /// Bytes of text that were not sent.
    pub suppressed_bytes: usize,
    /// The upstream's figures.
    pub usage: Option<TokenUsage>,
}

// === impl Report ===

impl From<&ChoiceReport> for Report {
    fn from(report: &ChoiceReport) -> Self {
        Self {
            stop_reason: report.end,
            call_count: report.call_count,
            truncated: report.truncated,
            call_names: report.call_names.clone(),
            call_ids: report.call_ids.clone(),
            last_call_end: report.last_call_end,
            suppressed_bytes: report.suppressed_bytes,
            usage: report.usage,
        }
    }
}
