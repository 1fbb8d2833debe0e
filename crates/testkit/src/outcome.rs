//! What came out of a whole turn.

use codex_app_server::turn::event::{ReasoningKind, ToolCall, TurnEnd, TurnEvent};
use codex_app_server::{Failure, FailureKind, TokenUsage, Turn};

/// A turn, collected.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// All visible text.
    pub text: String,
    /// All reasoning, part by part.
    pub reasoning: Vec<(ReasoningKind, u32, String)>,
    /// All calls.
    pub calls: Vec<ToolCall>,
    /// How many events brought text.
    pub text_events: usize,
    /// Token counts, if the response ended and told them.
    pub usage: Option<TokenUsage>,
    /// How it ended.
    pub end: Result<TurnEnd, Failure>,
}

/// The turn once it has said its first words.
///
/// # Panics
/// If it says anything else first.
#[allow(clippy::panic, reason = "a broken contract fails the test")]
pub(crate) async fn speaking(mut turn: Turn) -> Turn {
    match turn.next().await {
        Some(TurnEvent::Text(_)) => turn,
        other => panic!("no text came first, but {other:?}"),
    }
}

// === impl Outcome ===

impl Outcome {
    /// Reads a turn to its end.
    ///
    /// # Panics
    /// If the turn breaks the contract: one last event, nothing after the response's end.
    pub async fn of(mut turn: Turn) -> Self {
        Self::read(&mut turn).await
    }

    /// The same for somebody who still needs the turn.
    ///
    /// # Panics
    /// As for [`Self::of`].
    #[allow(clippy::panic, reason = "a broken contract fails the test")]
    pub async fn read(turn: &mut Turn) -> Self {
        let mut outcome = Self {
            text: String::new(),
            reasoning: Vec::new(),
            calls: Vec::new(),
            text_events: 0,
            usage: None,
            end: Ok(TurnEnd::Completed),
        };
        let mut response_ended = false;
        while let Some(event) = turn.next().await {
            assert!(
                !response_ended || event.is_last(),
                "{event:?} came after the end of the response"
            );
            match event {
                TurnEvent::Text(text) => {
                    outcome.text += &text;
                    outcome.text_events += 1;
                }
                TurnEvent::Reasoning { kind, part, text } => match outcome.reasoning.last_mut() {
                    Some((last_kind, last_part, so_far))
                        if (*last_kind, *last_part) == (kind, part) =>
                    {
                        *so_far += &text;
                    }
                    _ => outcome.reasoning.push((kind, part, text)),
                },
                TurnEvent::MessageStart { .. } | TurnEvent::ReasoningItem(_) => {}
                TurnEvent::ToolCall(call) => outcome.calls.push(call),
                TurnEvent::ResponseEnd { usage, .. } => {
                    response_ended = true;
                    outcome.usage = usage;
                }
                TurnEvent::Failed(failure) => {
                    outcome.end = Err(failure);
                    return outcome;
                }
                TurnEvent::End(end) => {
                    outcome.end = Ok(end);
                    return outcome;
                }
            }
        }
        panic!("the turn ended without a last event: {outcome:?}")
    }

    /// Name and argument text of each call.
    pub fn call_texts(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }

    /// Why it failed.
    ///
    /// # Panics
    /// If it did not fail.
    #[allow(clippy::panic, reason = "a broken contract fails the test")]
    pub fn failure(&self) -> FailureKind {
        match &self.end {
            Err(failure) => failure.kind,
            Ok(end) => panic!("the turn did not fail but ended: {end:?}"),
        }
    }
}
