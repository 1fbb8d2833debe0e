//! A chat completion that was not streamed.

use serde_json::Value;

use super::super::{Call, Mismatch, Sink, members, text};
use super::{Choice, Completion, Terms, inexact, is_exact, is_usage};
use crate::rule::RuleId;

/// Reads the body.
pub fn read<S: Sink>(body: &str, terms: &Terms, sink: &mut S) -> Completion {
    let Ok(body) = serde_json::from_str::<Value>(body) else {
        sink.rule(RuleId::ChatWholeShape, false, || Mismatch::new("body", "JSON", body));
        return Completion::default();
    };
    let error = Some(body["error"].clone()).filter(|error| !error.is_null());
    let none = [Value::Null];
    let choices = body["choices"].as_array().map_or(&none[..], Vec::as_slice);
    let choices = if choices.is_empty() { &none } else { choices };
    let fault = fault(&body, choices);
    sink.rule(RuleId::ChatWholeShape, fault.is_none(), || {
        Mismatch::new("body", fault.unwrap_or_default(), &body)
    });
    if S::OURS {
        check_own_shape(&body, terms, sink);
    }
    sink.rule(RuleId::ChatWholeUsage, is_usage(&body["usage"]), || {
        Mismatch::new("usage", "token counts and their sum", &body["usage"])
    });
    Completion {
        choices: choices.iter().map(|choice| read_choice(choice, sink)).collect(),
        usage: body.get("usage").cloned(),
        telemetry: None,
        error,
    }
}

fn read_choice<S: Sink>(choice: &Value, sink: &mut S) -> Choice {
    let message = &choice["message"];
    let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    for call in calls {
        let custom = &call["custom"];
        if is_custom(call) {
            let is_whole =
                call["id"].is_string() && custom["name"].is_string() && custom["input"].is_string();
            sink.rule(RuleId::ChatCustomWhole, is_whole, || {
                Mismatch::new("call", "one of a custom tool with id, name and input", call)
            });
        }
        sink.ours(is_exact(call, &[]), || inexact(call));
    }
    let mut calls: Vec<Call> = calls.iter().map(Call::of_chat).collect();
    if let Some(call) = message.get("function_call") {
        let is_exact = members(call) == ["name", "arguments"]
            && call["name"].is_string()
            && call["arguments"].is_string();
        sink.ours(is_exact, || Mismatch::new("function_call", "name and arguments", call));
        calls.push(Call::legacy(call));
    }
    Choice {
        content: message["content"].as_str().map(str::to_owned),
        refusal: message["refusal"].as_str().map(str::to_owned),
        reasoning: text(&message["reasoning_content"]),
        calls,
        finish: choice["finish_reason"].as_str().map(str::to_owned),
    }
}

/// What our own server's objects have, and nothing else.
fn check_own_shape<S: Sink>(body: &Value, terms: &Terms, sink: &mut S) {
    let names = members(body);
    let is_exact = names == ["id", "object", "created", "model", "choices", "usage"];
    terms.check_object(body, is_exact, sink);
    let choices = body["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
    let wanted = terms.choices.unwrap_or(choices.len().max(1));
    sink.ours(choices.len() == wanted, || {
        Mismatch::new("choices", wanted.to_string(), &body["choices"])
    });
    for choice in choices {
        let is_exact = members(choice) == ["index", "message", "logprobs", "finish_reason"]
            && match members(&choice["message"]).as_slice() {
                ["role", "content", "refusal", rest @ ..] => matches!(
                    rest,
                    [] | ["reasoning_content" | "tool_calls" | "function_call"]
                        | ["reasoning_content", "tool_calls" | "function_call"]
                ),
                _ => false,
            }
            && choice["message"].get("tool_calls").is_none_or(Value::is_array);
        sink.ours(is_exact, || {
            Mismatch::new("choice", "only members that this server has", choice)
        });
    }
}

/// The first thing that is wrong with its shape: what is missing.
fn fault(body: &Value, choices: &[Value]) -> Option<&'static str> {
    let around = [
        (body["id"].as_str().is_some_and(|id| !id.is_empty()), "an id"),
        (body["object"] == "chat.completion", "the object chat.completion"),
        (body["created"].is_u64() && body["model"].is_string(), "created and model"),
    ];
    let choices = choices.iter().enumerate().flat_map(|(index, choice)| {
        let message = &choice["message"];
        let calls = message.get("tool_calls");
        [
            (choice["index"] == index, "choices, each with its index"),
            (choice["finish_reason"].is_string(), "a finish_reason"),
            (message["role"] == "assistant", "a message with the role"),
            (
                message.get("content").is_some_and(|text| text.is_null() || text.is_string()),
                "content that is a text or null",
            ),
            (
                calls.is_none_or(|calls| {
                    calls.is_null()
                        || calls
                            .as_array()
                            .is_some_and(|calls| !calls.is_empty() && calls.iter().all(is_call))
                }),
                "tool_calls that are not empty, each with id, type, name and arguments as text",
            ),
        ]
    });
    around.into_iter().chain(choices).find_map(|(holds, expected)| (!holds).then_some(expected))
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
