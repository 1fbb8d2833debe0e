//! The text that a message shows to the user: the assistant's, and nothing else. What a user, a tool
//! or a model's reasoning says is never a call.

use serde_json::Value;

use super::fields::{Object, array, choice_of, field, is_echo, number, object, text};
use super::{ChoiceOf, DEEPEST_ENVELOPE};

/// The kinds of parts that are shown.
const SHOWN_PARTS: [&str; 2] = ["text", "output_text"];
/// The kinds of items and events that are messages.
const MESSAGES: [&str; 3] = ["message", "agentMessage", "agent_message"];
/// What may hold a message.
const ENVELOPES: [&str; 4] = ["params", "msg", "response", "item"];

/// Collects the texts of a message of any known shape, each with its choice.
pub(crate) fn texts<'a>(message: &'a Value, choice: ChoiceOf, found: &mut Vec<(u32, &'a str)>) {
    match message {
        Value::String(text) => found.push((choice.number(), text)),
        Value::Array(messages) => {
            for message in messages.iter().filter_map(Value::as_object) {
                collect(message, choice, 0, found);
            }
        }
        Value::Object(message) => collect(message, choice, 0, found),
        _ => {}
    }
}

fn collect<'a>(
    message: &'a Object,
    choice: ChoiceOf,
    depth: usize,
    found: &mut Vec<(u32, &'a str)>,
) {
    if depth > DEEPEST_ENVELOPE || is_echo(message) {
        return;
    }
    let choice = choice.or_named(choice_of(message));
    if let Some(inner) = ENVELOPES.iter().find_map(|name| object(message, &[name])) {
        return collect(inner, choice, depth + 1, found);
    }
    let kind = text(message, &["type"]);
    let is_assistant = text(message, &["role"]).is_none_or(|role| role == "assistant");
    if !is_assistant || kind.is_some_and(|kind| !MESSAGES.contains(&kind)) {
        return;
    }
    for entry in
        array(message, &["choices"]).unwrap_or_default().iter().filter_map(Value::as_object)
    {
        let index = number(entry, &["index"]).and_then(|index| u32::try_from(index).ok());
        collect(entry, choice.or_named(index), depth + 1, found);
    }
    for item in array(message, &["output"]).unwrap_or_default().iter().filter_map(Value::as_object)
    {
        collect(item, choice, depth + 1, found);
    }
    match field(message, &["message"]) {
        Some(Value::Object(inner)) => collect(inner, choice, depth + 1, found),
        Some(Value::String(text)) if kind.is_some() => found.push((choice.number(), text)),
        _ => {}
    }
    match field(message, &["content"]) {
        Some(Value::String(text)) => found.push((choice.number(), text)),
        Some(Value::Array(parts)) => found.extend(shown(parts).map(|text| (choice.number(), text))),
        _ => {}
    }
    if kind == Some("agentMessage") {
        found.extend(text(message, &["text"]).map(|text| (choice.number(), text)));
    }
}

fn shown(parts: &[Value]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(Value::as_object).filter_map(|part| {
        let is_shown = text(part, &["type"]).is_some_and(|kind| SHOWN_PARTS.contains(&kind));
        if is_shown { text(part, &["text"]) } else { None }
    })
}
