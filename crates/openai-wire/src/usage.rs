//! Token counts in OpenAI's shape.

use std::ops::AddAssign;

use model_turn::TokenUsage;
use serde::{Deserialize, Serialize};

/// `usage` of a chat completion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: u64,
    /// Tokens of the answer, reasoning included.
    pub completion_tokens: u64,
    /// Sum.
    pub total_tokens: u64,
    /// More about the request.
    pub prompt_tokens_details: PromptTokensDetails,
    /// More about the answer.
    pub completion_tokens_details: CompletionTokensDetails,
}

/// More about the tokens of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptTokensDetails {
    /// What came from the upstream's cache.
    pub cached_tokens: u64,
}

/// More about the tokens of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletionTokensDetails {
    /// What was reasoning.
    pub reasoning_tokens: u64,
}

// === impl Usage ===

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.total_tokens += other.total_tokens;
        self.prompt_tokens_details.cached_tokens += other.prompt_tokens_details.cached_tokens;
        self.completion_tokens_details.reasoning_tokens +=
            other.completion_tokens_details.reasoning_tokens;
    }
}

impl From<&TokenUsage> for Usage {
    fn from(usage: &TokenUsage) -> Self {
        Self {
            prompt_tokens: usage.input_tokens,
            completion_tokens: usage.output_tokens,
            total_tokens: usage.total_tokens,
            prompt_tokens_details: PromptTokensDetails { cached_tokens: usage.cached_input_tokens },
            completion_tokens_details: CompletionTokensDetails {
                reasoning_tokens: usage.reasoning_output_tokens,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn token_counts_have_openais_names() {
        let counts = TokenUsage {
            input_tokens: 1,
            cached_input_tokens: 2,
            output_tokens: 3,
            reasoning_output_tokens: 4,
            total_tokens: 5,
        };
        assert_eq!(
            json!(Usage::from(&counts)),
            json!({
                "prompt_tokens": 1,
                "completion_tokens": 3,
                "total_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 4},
            })
        );
    }
}
