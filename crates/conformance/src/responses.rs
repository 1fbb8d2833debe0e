//! Responses, read as strictly as the strictest client does.

mod item;
mod stream;
mod whole;

use serde_json::Value;

use crate::answer::{Answer, AnswerRules, Call, End};
use crate::rule::RuleId;

pub(crate) use stream::read as read_stream;
pub(crate) use whole::read as read_whole;

pub(crate) const RULES: AnswerRules = AnswerRules {
    text: RuleId::ResponsesTextExact,
    calls: RuleId::ResponsesCallsComplete,
    arguments: RuleId::ResponsesArgumentsExact,
    no_arguments: RuleId::ResponsesNoArguments,
};

/// What the output of a response says.
fn answer(response: &Value) -> Answer {
    let mut answer = Answer { end: end(response), ..Answer::default() };
    for item in response["output"].as_array().into_iter().flatten() {
        match item["type"].as_str() {
            Some("message") => answer.text.push_str(&text_of(item)),
            Some("function_call") => answer.calls.push(call_of(item)),
            _ => {}
        }
    }
    if answer.end == End::Finished("stop".to_owned()) && !answer.calls.is_empty() {
        answer.end = End::Finished("tool_calls".to_owned());
    }
    answer
}

/// In the words of chat completions, so that both can be expected alike.
fn end(response: &Value) -> End {
    match response["status"].as_str() {
        Some("completed") => End::Finished("stop".to_owned()),
        Some("incomplete") => match response["incomplete_details"]["reason"].as_str() {
            Some("max_output_tokens") => End::Finished("length".to_owned()),
            Some(other) => End::Finished(other.to_owned()),
            None => End::Untold,
        },
        Some("failed") => End::Failed,
        _ => End::Untold,
    }
}

fn text_of(message: &Value) -> String {
    let parts = message["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["text"].as_str()).collect()
}

fn call_of(item: &Value) -> Call {
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    Call { id: text("call_id"), name: text("name"), arguments: text("arguments") }
}

/// Token counts that add up, with their details.
fn is_usage(usage: &Value) -> bool {
    let count = |name: &str| usage[name].as_u64();
    let sum = match (count("input_tokens"), count("output_tokens")) {
        (Some(asked), Some(said)) => Some(asked + said),
        _ => None,
    };
    sum.is_some()
        && sum == count("total_tokens")
        && usage["input_tokens_details"].is_object()
        && usage["output_tokens_details"].is_object()
}
