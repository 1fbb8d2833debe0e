//! What came out of a whole turn.

use codex_app_server::Turn;
use model_turn::{
    Failure, FailureKind, ReasoningKind, TokenUsage, ToolCall, ToolName, TurnEnd, TurnEvent,
};

/// A turn, collected.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// All visible text.
    pub text: String,
    /// All reasoning, part by part.
    pub reasoning: Vec<(ReasoningKind, u32, String)>,
    /// All calls.
    pub calls: Vec<ToolCall>,
    /// What came of calls before they were whole, the last of which may never have become so.
    pub streamed: Vec<StreamedCall>,
    /// What the model refused with.
    pub refusal: Option<String>,
    /// How many events brought text.
    pub text_events: usize,
    /// Token counts, if the response ended and told them.
    pub usage: Option<TokenUsage>,
    /// How it ended.
    pub end: Result<TurnEnd, Failure>,
}

/// A call that was streamed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamedCall {
    /// The upstream's id.
    pub call_id: String,
    /// Name of the tool.
    pub name: ToolName,
    /// Arguments that came before the whole call.
    pub arguments: String,
    /// In how many events they came.
    pub events: usize,
    /// Whether the whole call came.
    pub is_whole: bool,
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
    #[allow(clippy::panic, clippy::expect_used, reason = "a broken contract fails the test")]
    pub async fn read(turn: &mut Turn) -> Self {
        let mut outcome = Self {
            text: String::new(),
            reasoning: Vec::new(),
            calls: Vec::new(),
            streamed: Vec::new(),
            refusal: None,
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
            let open = outcome.streamed.last_mut().filter(|call| !call.is_whole);
            match event {
                TurnEvent::ToolCallArguments(text) => {
                    let call = open.expect("arguments of no call");
                    call.arguments += &text;
                    call.events += 1;
                }
                TurnEvent::ToolCall(call) => {
                    if let Some(open) = open {
                        assert_eq!((&open.call_id, &open.name), (&call.call_id, &call.name));
                        assert!(call.arguments.starts_with(&open.arguments), "{open:?} {call:?}");
                        open.is_whole = true;
                    }
                    outcome.calls.push(call);
                }
                TurnEvent::Failed(failure) => {
                    outcome.end = Err(failure);
                    return outcome;
                }
                event if open.is_some() => panic!("{event:?} came within a call"),
                TurnEvent::ToolCallStart { call_id, name, .. } => {
                    outcome.streamed.push(StreamedCall {
                        call_id,
                        name,
                        ..StreamedCall::default()
                    });
                }
                TurnEvent::Refusal(text) => outcome.refusal = Some(text),
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
                TurnEvent::ResponseEnd { usage, .. } => {
                    response_ended = true;
                    outcome.usage = usage;
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
        self.calls.iter().map(|call| (call.name.name.as_str(), call.arguments.as_str())).collect()
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
