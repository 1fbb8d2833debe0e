//! A chat completion that was not streamed.

use serde_json::Value;

use super::is_usage;
use crate::answer::{Answer, Call};
use crate::notes::Notes;
use crate::rule::RuleId;

/// Reads the body.
pub(crate) fn read(body: &str, notes: &mut Notes) -> Answer {
    let Ok(body) = serde_json::from_str::<Value>(body) else {
        notes.broken(RuleId::ChatWholeShape, format!("the body is not JSON: {body}"));
        return Answer::default();
    };
    let choice = &body["choices"][0];
    let message = &choice["message"];
    notes.check(RuleId::ChatWholeShape, fault(&body).is_none(), || {
        format!("{}: {body}", fault(&body).unwrap_or_default())
    });
    notes.check(RuleId::ChatWholeUsage, is_usage(&body["usage"]), || {
        format!("usage must have counts that add up: {}", body["usage"])
    });
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    for call in calls.iter().filter(|call| is_custom(call)) {
        let custom = &call["custom"];
        let is_whole =
            call["id"].is_string() && custom["name"].is_string() && custom["input"].is_string();
        notes.check(RuleId::ChatCustomWhole, is_whole, || {
            format!("a call of a custom tool has no id, name or input: {call}")
        });
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Answer {
        text: text(&message["content"]),
        calls: calls
            .iter()
            .map(|call| {
                let (kind, members) = super::members(call);
                Call {
                    kind,
                    id: text(&call["id"]),
                    name: text(&members["name"]),
                    arguments: super::said_in(call),
                }
            })
            .collect(),
        finish: choice["finish_reason"].as_str().map(str::to_owned),
        has_failed: !body["error"].is_null(),
    }
}

/// The first thing that is wrong with its shape.
fn fault(body: &Value) -> Option<&'static str> {
    let choice = &body["choices"][0];
    let message = &choice["message"];
    let calls = message.get("tool_calls");
    let checks = [
        (body["id"].as_str().is_some_and(|id| !id.is_empty()), "it has no id"),
        (body["object"] == "chat.completion", "its object is not chat.completion"),
        (body["created"].is_u64() && body["model"].is_string(), "created or model is missing"),
        (choice["index"] == 0, "the choice has no index"),
        (choice["finish_reason"].is_string(), "there is no finish_reason"),
        (message["role"] == "assistant", "the message has no role"),
        (
            message.get("content").is_some_and(|text| text.is_null() || text.is_string()),
            "content is neither a text nor null",
        ),
        (
            calls.is_none_or(|calls| {
                calls.is_null()
                    || calls
                        .as_array()
                        .is_some_and(|calls| !calls.is_empty() && calls.iter().all(is_call))
            }),
            "tool_calls is empty, or has a call without id, type, name or arguments as text",
        ),
    ];
    checks.into_iter().find_map(|(holds, fault)| (!holds).then_some(fault))
}

/// A whole call of a function; calls of custom tools have a rule of their own.
fn is_call(call: &Value) -> bool {
    let function = &call["function"];
    let is_function = call["id"].is_string()
        && call["type"] == "function"
        && function["name"].is_string()
        && function["arguments"].is_string();
    is_function || is_custom(call)
}

fn is_custom(call: &Value) -> bool {
    call["type"] == "custom"
}
