//! An answer that was not streamed.

use serde::Deserialize;
use serde_json::Value;
use testkit::http::Head;

use crate::expected::{Expected, Mode, start_of};
use crate::stream::{Said, Terms, Usage};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Completion {
    id: String,
    object: String,
    #[serde(rename = "created")]
    _created: u64,
    model: String,
    choices: Vec<Choice>,
    usage: Usage,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    index: usize,
    message: Message,
    #[serde(rename = "logprobs")]
    _logprobs: Value,
    finish_reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    role: String,
    content: Option<String>,
    #[serde(rename = "refusal")]
    _refusal: Value,
    #[serde(default)]
    reasoning_content: String,
    #[serde(default)]
    tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    id: String,
    r#type: String,
    function: Function,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Function {
    name: String,
    arguments: String,
}

/// Compares a whole answer with what it must be.
pub(crate) fn check(
    head: &Head,
    body: &[u8],
    expected: &Expected,
    mode: Mode,
    terms: Terms<'_>,
) -> Result<Said, String> {
    let completion: Completion =
        serde_json::from_slice(body).map_err(|error| format!("no completion: {error}"))?;
    let Completion { id, object, model, choices, usage, .. } = completion;
    if object != "chat.completion" || !id.starts_with("chatcmpl-") || model != terms.model {
        return Err(format!("another envelope: {id} {object} {model}"));
    }
    usage.check()?;
    let truncated = match head.header("x-codex-tool-call-truncated") {
        Some("true") => true,
        Some("false") => false,
        other => return Err(format!("x-codex-tool-call-truncated: {other:?}")),
    };
    if choices.len() != terms.choices {
        return Err(format!("{} choices", choices.len()));
    }
    let mut calls = 0;
    for (index, choice) in choices.iter().enumerate() {
        if choice.index != index {
            return Err(format!("choice {} where {index} is due", choice.index));
        }
        choice.check(expected, mode, truncated)?;
        calls += choice.message.tool_calls.len();
    }
    if head.header("x-codex-tool-call-count") != Some(&calls.to_string()) {
        return Err(format!("{calls} calls, and another number in the header"));
    }
    Ok(if truncated { Said::Truncated { calls } } else { Said::Whole { calls } })
}

// === impl Choice ===

impl Choice {
    fn check(&self, expected: &Expected, mode: Mode, truncated: bool) -> Result<(), String> {
        let Message { role, content, reasoning_content, tool_calls, .. } = &self.message;
        let due = if tool_calls.is_empty() { "stop" } else { "tool_calls" };
        if role != "assistant" || self.finish_reason != due {
            return Err(format!("{role} ends as {} where {due} is due", self.finish_reason));
        }
        let calls: Vec<_> = tool_calls
            .iter()
            .map(|call| (call.function.name.as_str(), call.function.arguments.as_str()))
            .collect();
        let prefix = format!("tool_{}_", self.index);
        if tool_calls.iter().any(|call| !call.id.starts_with(&prefix) || call.r#type != "function")
        {
            return Err("a call with a strange id or type".to_owned());
        }
        if reasoning_content != expected.reasoning() {
            return Err(format!("another reasoning: {}", start_of(reasoning_content)));
        }
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
}
