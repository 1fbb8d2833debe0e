//! Token counts of an answer: the upstream's own, or counted where it gave none.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bridge::ChoiceReport;
use openai_wire::Usage;
use tokio::task::JoinHandle;

use super::incoming::within_span;
use crate::tokens;

/// Counts the tokens of a request's prompt, which is read again for that.
pub(crate) type Prompt = Box<dyn FnOnce() -> u64 + Send>;

/// Token counts that are still being counted.
pub(crate) struct Counting(JoinHandle<Usage>);

/// The sum over all choices, or a count that has to be waited for.
pub(super) fn usage(reports: &[ChoiceReport], prompt: Prompt) -> Result<Usage, Counting> {
    let mut sum = Usage::default();
    let mut uncounted = Vec::new();
    for report in reports {
        match &report.usage {
            Some(usage) => sum += Usage::from(usage),
            None => uncounted.push(report.said.clone()),
        }
    }
    if uncounted.is_empty() {
        return Ok(sum);
    }
    let counting = move || {
        let prompt_tokens = prompt();
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
    Err(Counting(tokio::task::spawn_blocking(within_span(counting))))
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
