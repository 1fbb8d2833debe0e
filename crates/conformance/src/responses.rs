//! Responses, read as strictly as the strictest client does.

mod item;
mod stream;
mod whole;

use serde_json::Value;

use crate::answer::{Answer, AnswerRules, Call, CallKind};
use crate::rule::RuleId;

pub(crate) use stream::{KEEP_ALIVE, read as read_stream};
pub(crate) use whole::read as read_whole;

pub(crate) const RULES: AnswerRules = AnswerRules {
    text: RuleId::ResponsesTextExact,
    calls: RuleId::ResponsesCallsComplete,
    arguments: RuleId::ResponsesArgumentsExact,
    no_arguments: RuleId::ResponsesNoArguments,
    custom_form: RuleId::ResponsesCustomEvents,
};

/// The type of an item that is a call of a custom tool.
const CUSTOM_CALL: &str = "custom_tool_call";

/// What a response says.
fn answer(response: &Value) -> Answer {
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

fn call_of(item: &Value) -> Call {
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let (kind, arguments) = match item["type"].as_str() {
        Some(CUSTOM_CALL) => (CallKind::Custom, text("input")),
        _ => (CallKind::Function, text("arguments")),
    };
    Call { kind, id: text("call_id"), name: text("name"), arguments }
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
