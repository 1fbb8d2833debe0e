//! Token counts.

use serde::{Deserialize, Serialize};

/// Token counts of one response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens of the prompt, including the cached part.
    pub input_tokens: u64,
    /// Tokens of the prompt that came from the cache.
    pub cached_input_tokens: u64,
    /// Tokens of the answer, including reasoning.
    pub output_tokens: u64,
    /// Tokens of the answer that were reasoning.
    pub reasoning_output_tokens: u64,
    /// Total.
    pub total_tokens: u64,
}

// === impl TokenUsage ===

impl TokenUsage {
    /// All counts except the total, named as in metrics and on the page.
    pub fn kinds(&self) -> [(&'static str, u64); 4] {
        [
            ("prompt", self.input_tokens),
            ("cached", self.cached_input_tokens),
            ("completion", self.output_tokens),
            ("reasoning", self.reasoning_output_tokens),
        ]
    }
}
