//! Token counts of an answer: the upstream's own, or counted where it gave none.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bridge::ChoiceReport;
use codex_app_server::TokenUsage;
use openai_wire::{CompletionTokensDetails, PromptTokensDetails, Usage};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::incoming::within_span;
use crate::tokens;

/// What was asked, for counting it. It is kept as it came, and read again if it has to be counted.
pub(crate) struct Prompt {
    pub(crate) count: CountedPrompt,
    pub(crate) tasks: TaskTracker,
}

/// Counts the tokens of what was asked.
pub(crate) type CountedPrompt = Box<dyn FnOnce() -> u64 + Send>;

/// Token counts that are still being counted.
pub(crate) struct Counting(JoinHandle<Usage>);

// === impl Prompt ===

impl Prompt {
    /// The sum over all choices, or a count that has to be waited for.
    pub(crate) fn usage(self, reports: &[ChoiceReport]) -> Result<Usage, Counting> {
        let mut sum = Usage::default();
        let mut uncounted = Vec::new();
        for report in reports {
            match &report.usage {
                Some(usage) => sum += in_openai_shape(usage),
                None => uncounted.push(report.said.clone()),
            }
        }
        if uncounted.is_empty() {
            return Ok(sum);
        }
        let Self { count, tasks } = self;
        let counting = move || {
            let prompt_tokens = count();
            for said in uncounted {
                let completion_tokens = tokens::count(&said);
                sum += Usage {
                    prompt_tokens,
                    completion_tokens,
                    total_tokens: prompt_tokens + completion_tokens,
                    ..Usage::default()
                };
            }
            sum
        };
        Err(Counting(tasks.spawn_blocking(within_span(counting))))
    }
}

// === impl Counting ===

impl Counting {
    pub(crate) fn poll_usage(&mut self, context: &mut Context<'_>) -> Poll<Usage> {
        let counted = ready!(Pin::new(&mut self.0).poll(context));
        Poll::Ready(counted.unwrap_or_else(|error| {
            tracing::error!(%error, "tokens could not be counted");
            Usage::default()
        }))
    }
}

fn in_openai_shape(usage: &TokenUsage) -> Usage {
    Usage {
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        total_tokens: usage.total_tokens,
        prompt_tokens_details: PromptTokensDetails { cached_tokens: usage.cached_input_tokens },
        completion_tokens_details: CompletionTokensDetails {
            reasoning_tokens: usage.reasoning_output_tokens,
        },
    }
}
