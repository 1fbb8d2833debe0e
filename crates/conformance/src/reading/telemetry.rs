//! What our own server says about the calls of an answer, at the end of a stream.

use serde::Deserialize;

use super::Mismatch;

/// The comment at the end of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Telemetry {
    /// Calls of all choices.
    pub tool_call_count: usize,
    /// Whether any choice is not all that the model said.
    pub tool_call_truncated: bool,
    /// When a turn is stopped after its calls.
    pub stop_after_tools_mode: String,
    /// The same for each choice, where there are several.
    #[serde(default)]
    pub per_choice: Vec<CallTelemetry>,
}

/// The calls of one choice.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallTelemetry {
    /// How many.
    pub tool_call_count: usize,
    /// Whether the choice is not all that the model said.
    pub tool_call_truncated: bool,
}

// === impl Telemetry ===

impl Telemetry {
    /// Reads the text of a comment.
    ///
    /// # Errors
    /// If it has not exactly these members.
    pub fn read(comment: &str) -> Result<Self, Mismatch> {
        let fault = |_| Mismatch::new("stream", "the telemetry comment after the end", comment);
        serde_json::from_str(comment).map_err(fault)
    }
}
