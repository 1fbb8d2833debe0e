//! Why a choice of a chat completion ended.

/// OpenAI's `finish_reason`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinishReason {
    /// The model has finished, or a stop sequence came.
    Stop,
    /// A limit of tokens was met.
    Length,
    /// The rest was withheld.
    ContentFilter,
    /// The model waits for its tools.
    ToolCalls,
    /// The same, in the legacy shape.
    FunctionCall,
}

// === impl FinishReason ===

impl FinishReason {
    /// As OpenAI writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::ToolCalls => "tool_calls",
            Self::FunctionCall => "function_call",
        }
    }
}
