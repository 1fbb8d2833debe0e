//! An answer that was not streamed.

use conformance::reading::{Call, CallKind, Choice, Strict, Terms, read_completion};
use serde_json::Value;
use testkit::http::Head;

use crate::expected::{Expected, Mode, start_of};
use crate::stream::{Said, check_usage};

/// Compares a whole answer with what it must be.
pub(crate) fn check(
    head: &Head,
    body: &[u8],
    expected: &Expected,
    mode: Mode,
    terms: &Terms,
) -> Result<Said, String> {
    let body = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    let mut strict = Strict::default();
    let completion = read_completion(body, terms, &mut strict);
    strict.outcome().map_err(|fault| fault.shortened().to_string())?;
    check_usage(completion.usage.as_ref().unwrap_or(&Value::Null))?;
    let truncated = match head.header("x-codex-tool-call-truncated") {
        Some("true") => true,
        Some("false") => false,
        other => return Err(format!("x-codex-tool-call-truncated: {other:?}")),
    };
    let mut calls = 0;
    for (index, choice) in completion.choices.iter().enumerate() {
        check_choice(index, choice, expected, mode, truncated)?;
        calls += choice.calls.len();
    }
    if head.header("x-codex-tool-call-count") != Some(&calls.to_string()) {
        return Err(format!("{calls} calls, and another number in the header"));
    }
    Ok(if truncated { Said::Truncated { calls } } else { Said::Whole { calls } })
}

fn check_choice(
    index: usize,
    choice: &Choice,
    expected: &Expected,
    mode: Mode,
    truncated: bool,
) -> Result<(), String> {
    let Choice { content, refusal, reasoning, calls: tool_calls, finish } = choice;
    let due = if tool_calls.is_empty() { "stop" } else { "tool_calls" };
    if finish.as_deref() != Some(due) || refusal.is_some() {
        return Err(format!("it ends as {finish:?} where {due} is due"));
    }
    let prefix = format!("tool_{index}_");
    let is_strange = |call: &Call| !call.id.starts_with(&prefix) || call.kind != CallKind::Function;
    if tool_calls.iter().any(is_strange) {
        return Err("a call with a strange id or type".to_owned());
    }
    if reasoning != expected.reasoning() {
        return Err(format!("another reasoning: {}", start_of(reasoning)));
    }
    let calls = choice.called();
    let is_whole = calls == expected.calls();
    let is_begun = truncated && !calls.is_empty() && expected.calls().starts_with(&calls);
    if !is_whole && !is_begun {
        return Err(format!("other calls: {}", start_of(&calls)));
    }
    let text = expected.text();
    let is_right = match (content, mode) {
        (content, Mode::Json) if !calls.is_empty() => content.is_none(),
        (Some(content), _) if is_begun => text.starts_with(content.as_str()),
        (content, _) => content.as_deref().unwrap_or_default() == text,
    };
    if is_right {
        return Ok(());
    }
    Err(format!("another text: {}", start_of(content)))
}
