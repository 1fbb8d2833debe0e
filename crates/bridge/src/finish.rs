//! How an answer ends, and what is told about it.

use model_turn::{FailureKind, TokenUsage};
use openai_wire::FinishReason;
use serde::{Deserialize, Serialize};

use crate::policy::CallShape;
use crate::reasoning::CallReasoning;

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndReason {
    /// The response ended by itself, without calls.
    Completed,
    /// The response ended by itself, with calls.
    ToolCalls,
    /// Cut after the first call.
    FirstCall,
    /// Cut because no other call came in time.
    Grace,
    /// Cut because there were more calls than allowed, or larger ones.
    CallCap,
    /// Cut because more text followed a call than may be held back.
    HeldText,
    /// Cut at a stop sequence.
    StopSequence,
    /// Cut at the limit of tokens.
    MaxTokens,
    /// The upstream's own limit of tokens.
    UpstreamLength,
    /// The upstream withheld the rest.
    ContentFilter,
    /// It failed after calls had been forwarded.
    FailedAfterCalls,
    /// It failed.
    Failed,
    /// It was cancelled, by another request than its own.
    Cancelled,
    /// The client has gone.
    ClientGone,
    /// The client did not read what it had asked for.
    SlowClient,
}

/// What became of one choice.
#[derive(Debug, Clone, PartialEq)]
pub struct ChoiceReport {
    /// Why it ended.
    pub end: EndReason,
    /// What failed, if something did.
    pub failure: Option<FailureKind>,
    /// Calls that were forwarded.
    pub call_count: usize,
    /// Whether a call was dropped, or the turn was cut before the response's end.
    pub truncated: bool,
    /// How many of them stood in the text.
    pub text_calls: usize,
    /// How many calls were forwarded as the model wrote them.
    pub streamed_calls: usize,
    /// Blocks in the text.
    pub blocks: BlockCounts,
    /// Inputs of custom tools that were not as they were asked for.
    pub input_deviations: InputDeviations,
    /// Values that could not be written into a block as the model wrote them.
    pub altered_values: usize,
    /// Names of the forwarded calls.
    pub call_names: Vec<String>,
    /// Ids of the forwarded calls.
    pub call_ids: Vec<String>,
    /// Where the last call ends, in bytes of what was sent as content.
    pub last_call_end: Option<usize>,
    /// Bytes of text that were not sent.
    pub suppressed_bytes: usize,
    /// The upstream's figures.
    pub usage: Option<TokenUsage>,
    /// What it thought before its calls, for those who go on from there.
    pub reasoning: Vec<CallReasoning>,
    /// What the model has said, for counting where the upstream gave no figures.
    pub said: String,
}

/// What became of blocks in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BlockCounts {
    /// They have begun.
    pub started: usize,
    /// They were complete, and calls.
    pub flushed: usize,
}

/// Inputs of custom tools that the model wrote otherwise than it was asked to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InputDeviations {
    /// All of the arguments are the input.
    pub raw: usize,
    /// The input is what could be read of the arguments.
    pub malformed: usize,
}

// === impl BlockCounts ===

impl BlockCounts {
    /// They have begun and were no calls in the end: passed on as text, or cut.
    pub fn aborted(self) -> usize {
        self.started.saturating_sub(self.flushed)
    }
}

// === impl EndReason ===

impl EndReason {
    /// Every reason.
    pub const ALL: [Self; 15] = [
        Self::Completed,
        Self::ToolCalls,
        Self::FirstCall,
        Self::Grace,
        Self::CallCap,
        Self::HeldText,
        Self::StopSequence,
        Self::MaxTokens,
        Self::UpstreamLength,
        Self::ContentFilter,
        Self::FailedAfterCalls,
        Self::Failed,
        Self::Cancelled,
        Self::ClientGone,
        Self::SlowClient,
    ];

    /// As logs and metrics write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::ToolCalls => "tool_calls",
            Self::FirstCall => "first_call",
            Self::Grace => "grace",
            Self::CallCap => "call_cap",
            Self::HeldText => "held_text",
            Self::StopSequence => "stop_sequence",
            Self::MaxTokens => "max_tokens",
            Self::UpstreamLength => "upstream_length",
            Self::ContentFilter => "content_filter",
            Self::FailedAfterCalls => "failed_after_calls",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::ClientGone => "client_gone",
            Self::SlowClient => "slow_client",
        }
    }

    /// Whether we cut the turn, and it has to be interrupted.
    pub fn is_cut(self) -> bool {
        match self {
            Self::FirstCall
            | Self::Grace
            | Self::CallCap
            | Self::HeldText
            | Self::StopSequence
            | Self::MaxTokens
            | Self::Cancelled
            | Self::ClientGone
            | Self::SlowClient => true,
            Self::Completed
            | Self::ToolCalls
            | Self::UpstreamLength
            | Self::ContentFilter
            | Self::FailedAfterCalls
            | Self::Failed => false,
        }
    }

    /// Whether the client did not take the rest.
    pub fn is_left(self) -> bool {
        matches!(self, Self::ClientGone | Self::SlowClient)
    }

    /// Whether it failed here or upstream, and not for its client.
    pub fn is_failure(self) -> bool {
        match self {
            Self::Failed | Self::FailedAfterCalls => true,
            Self::Completed
            | Self::ToolCalls
            | Self::FirstCall
            | Self::Grace
            | Self::CallCap
            | Self::HeldText
            | Self::StopSequence
            | Self::MaxTokens
            | Self::UpstreamLength
            | Self::ContentFilter
            | Self::Cancelled
            | Self::ClientGone
            | Self::SlowClient => false,
        }
    }

    /// What the client is told, where it is told an end.
    pub(crate) fn finish_reason(self, has_calls: bool, shape: CallShape) -> FinishReason {
        match self {
            _ if has_calls => match shape {
                CallShape::ToolCalls => FinishReason::ToolCalls,
                CallShape::FunctionCall => FinishReason::FunctionCall,
            },
            Self::MaxTokens | Self::UpstreamLength => FinishReason::Length,
            Self::ContentFilter => FinishReason::ContentFilter,
            Self::Completed
            | Self::ToolCalls
            | Self::FirstCall
            | Self::Grace
            | Self::CallCap
            | Self::HeldText
            | Self::StopSequence
            | Self::FailedAfterCalls
            | Self::Failed
            | Self::Cancelled
            | Self::ClientGone
            | Self::SlowClient => FinishReason::Stop,
        }
    }
}
