//! An answer as a client understands it, read by the contract: whatever breaks it fails the test.

use conformance::reading::{ChatStream, Completion, Strict, Terms, read_completion};
use serde_json::Value;

use crate::http::Answer;

pub(crate) use conformance::reading::{Call, CallKind, Choice};

/// What came of a request, streamed or not.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Reply {
    pub(crate) choices: Vec<Choice>,
    pub(crate) usage: Option<Value>,
    /// The telemetry at a stream's end.
    pub(crate) telemetry: Option<Value>,
    /// What a failed request was answered with, or a stream ended with.
    pub(crate) error: Option<Value>,
}

// === impl Reply ===

impl Reply {
    pub(crate) fn of(answer: &Answer) -> Self {
        if answer.status != 200 {
            answer.error();
            return Self { error: Some(answer.json()["error"].take()), ..Self::default() };
        }
        let terms = Terms::default();
        let completion = if answer.header("content-type") == Some("text/event-stream") {
            ChatStream::read(&answer.body, terms)
        } else {
            let mut strict = Strict::default();
            let completion = read_completion(&answer.body, &terms, &mut strict);
            strict.outcome().map(|()| completion)
        };
        let completion = completion.unwrap_or_else(|fault| panic!("{fault}\n{answer:?}"));
        let Completion { choices, usage, telemetry, error } = completion;
        Self { choices, usage, telemetry, error }
    }

    /// The only choice.
    pub(crate) fn choice(&self) -> &Choice {
        assert_eq!(self.choices.len(), 1, "{self:?}");
        &self.choices[0]
    }
}
