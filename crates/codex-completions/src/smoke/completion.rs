//! A chat completion as the checks look at it, streamed or not.

use conformance::reading::{
    Call, ChatStream, Choice, Mismatch, Piece, Strict, Telemetry, Terms, UsageWish, read_completion,
};
use serde_json::Value;

use super::http::Answer;

/// What was said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// In the pieces in which it came; `None` is null.
    pub(super) content: Option<Vec<String>>,
    pub(super) calls: Vec<Call>,
    pub(super) finish_reason: String,
    pub(super) telemetry: Telemetry,
}

// === impl Completion ===

impl Completion {
    /// Reads a stream.
    pub(super) fn of_stream(answer: &Answer, model: &str) -> Result<Self, Mismatch> {
        let mut stream = ChatStream::new(terms(model), Strict::default());
        let (mut content, mut calls) = (Vec::new(), Telemetry::default());
        for piece in stream.take(answer.body.as_bytes()) {
            match piece {
                Piece::Text(_, text) => content.push(text),
                Piece::Error(error) => check_error(&error)?,
                Piece::Telemetry(telemetry) => calls = telemetry,
                _ => {}
            }
        }
        let completion = stream.finish()?;
        check_usage(completion.usage.as_ref())?;
        Ok(Self::new(completion.choices, Some(content), calls))
    }

    /// Reads an answer that was not streamed.
    pub(super) fn of_body(answer: &Answer, model: &str) -> Result<Self, Mismatch> {
        let mut strict = Strict::default();
        let completion = read_completion(&answer.body, &terms(model), &mut strict);
        check_error(completion.error.as_ref().unwrap_or(&Value::Null))?;
        strict.outcome()?;
        check_usage(completion.usage.as_ref())?;
        let content = completion.choices.first().and_then(|choice| choice.content.clone());
        let content = content.map(|text| vec![text]);
        Ok(Self::new(completion.choices, content, telemetry_of_headers(answer)?))
    }

    fn new(choices: Vec<Choice>, content: Option<Vec<String>>, telemetry: Telemetry) -> Self {
        let Choice { calls, finish, .. } = choices.into_iter().next().unwrap_or_default();
        Self { content, calls, finish_reason: finish.unwrap_or_default(), telemetry }
    }

    /// Everything that was said.
    pub(super) fn text(&self) -> String {
        self.content.as_deref().unwrap_or_default().concat()
    }
}

/// What is asked for: one choice, and a usage frame where it is streamed.
fn terms(model: &str) -> Terms {
    Terms { model: Some(model.to_owned()), choices: Some(1), usage: UsageWish::Asked }
}

/// An error in the place of an answer is reported in the server's own words.
fn check_error(error: &Value) -> Result<(), Mismatch> {
    let fault = |message| Mismatch::new("answer", "a completion", &format!("an error: {message}"));
    error["message"].as_str().map_or(Ok(()), |message| Err(fault(message)))
}

/// Something was asked, and something was said.
fn check_usage(usage: Option<&Value>) -> Result<(), Mismatch> {
    let usage = usage.unwrap_or(&Value::Null);
    let is_counted = |name: &&str| usage[*name].as_u64().is_some_and(|count| count > 0);
    if ["prompt_tokens", "completion_tokens"].iter().all(is_counted) {
        return Ok(());
    }
    Err(Mismatch::new("usage", "token counts and their sum", usage))
}

fn telemetry_of_headers(answer: &Answer) -> Result<Telemetry, Mismatch> {
    let (count, truncated) = ("x-codex-tool-call-count", "x-codex-tool-call-truncated");
    let unreadable =
        |name: &str, expected: &str| Mismatch::new(name, expected, answer.header(name));
    Ok(Telemetry {
        tool_call_count: answer.header(count).parse().map_err(|_| unreadable(count, "a number"))?,
        tool_call_truncated: answer
            .header(truncated)
            .parse()
            .map_err(|_| unreadable(truncated, "true or false"))?,
        stop_after_tools_mode: answer.header("x-codex-stop-after-tools-mode").to_owned(),
        per_choice: Vec::new(),
    })
}
