//! Responses, read as strictly as the strictest client does.

mod item;
mod stream;
mod whole;

use serde_json::Value;

use super::{Answer, Call, CallKind, Mismatch, text};
use crate::answer::AnswerRules;
use crate::rule::RuleId;

pub(crate) use stream::KEEP_ALIVE;
pub use stream::ResponseStream;
pub use whole::read as read_whole;

/// What a stream says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadResponse {
    /// The items, as their last events have them.
    pub items: Vec<Value>,
    /// The response object of the last event; null if there was none.
    pub response: Value,
    /// The `error` event, if there was one.
    pub error: Option<Value>,
    /// The comment of our own server at the end.
    pub telemetry: Option<Value>,
    /// Why it ended, by the type of the last event.
    finish: Option<String>,
    has_failed: bool,
}

pub(crate) const RULES: AnswerRules = AnswerRules {
    text: RuleId::ResponsesTextExact,
    calls: RuleId::ResponsesCallsComplete,
    arguments: RuleId::ResponsesArgumentsExact,
    no_arguments: RuleId::ResponsesNoArguments,
    custom_form: RuleId::ResponsesCustomEvents,
};

/// The type of an item that is a call of a custom tool.
const CUSTOM_CALL: &str = "custom_tool_call";

/// What the ids of our own server's responses begin with.
const ID_PREFIX: &str = "resp_";

/// What a response says.
pub fn answer(response: &Value) -> Answer {
    let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
    Answer { has_failed: response["status"] == "failed", ..said(output).finished(finish(response)) }
}

/// What items say.
fn said(items: &[Value]) -> Answer {
    let mut answer = Answer::default();
    for item in items {
        match item["type"].as_str() {
            Some("message") => answer.text.push_str(&text_of(item)),
            Some("function_call" | CUSTOM_CALL) => answer.calls.push(call_of(item)),
            _ => {}
        }
    }
    answer
}

/// In the words of chat completions, so that both can be expected alike.
fn finish(response: &Value) -> Option<&str> {
    match response["status"].as_str()? {
        "completed" => Some("stop"),
        "incomplete" => match response["incomplete_details"]["reason"].as_str()? {
            "max_output_tokens" => Some("length"),
            other => Some(other),
        },
        _ => None,
    }
}

fn text_of(message: &Value) -> String {
    let parts = message["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

/// Its text, and what it says where it refuses.
fn words_of(message: &Value) -> String {
    let parts = message["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str())).collect()
}

/// The call that an item is.
pub fn call_of(item: &Value) -> Call {
    let (kind, arguments) = match item["type"].as_str() {
        Some(CUSTOM_CALL) => (CallKind::Custom, &item["input"]),
        _ => (CallKind::Function, &item["arguments"]),
    };
    Call {
        kind,
        id: text(&item["call_id"]),
        namespace: item["namespace"].as_str().map(str::to_owned),
        name: text(&item["name"]),
        arguments: text(arguments),
    }
}

fn usage_fault(usage: &Value) -> Mismatch {
    Mismatch::new("usage", "token counts, their sum and details", usage)
}

/// Token counts that add up, with their details.
fn is_usage(usage: &Value) -> bool {
    let count = |name: &str| usage[name].as_u64();
    let sum = match (count("input_tokens"), count("output_tokens")) {
        (Some(asked), Some(said)) => asked.checked_add(said),
        _ => None,
    };
    sum.is_some()
        && sum == count("total_tokens")
        && usage["input_tokens_details"].is_object()
        && usage["output_tokens_details"].is_object()
}

// === impl ReadResponse ===

impl ReadResponse {
    /// What was said, by the increments.
    pub fn answer(&self) -> Answer {
        let said = said(&self.items).finished(self.finish.as_deref());
        Answer { has_failed: self.has_failed, ..said }
    }
}

// === impl Answer ===

impl Answer {
    /// Chat completions have a word of their own for an end with calls.
    fn finished(self, finish: Option<&str>) -> Self {
        let finish = match finish {
            Some("stop") if !self.calls.is_empty() => Some("tool_calls"),
            other => other,
        };
        Self { finish: finish.map(str::to_owned), ..self }
    }
}

#[cfg(test)]
mod tests;
