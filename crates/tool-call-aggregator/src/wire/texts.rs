//! The text that a message shows to the user.

use serde_json::Value;

use super::DEEPEST_ENVELOPE;
use super::fields::{Object, array, choice_of, field, object, text};

/// The kinds of parts that are shown. Reasoning is not: nothing in it is a call.
const SHOWN_PARTS: [&str; 2] = ["text", "output_text"];
/// The kinds of items that are messages.
const MESSAGE_ITEMS: [&str; 2] = ["message", "agentMessage"];

/// Collects the texts of a message of any known shape, each with its choice.
pub(crate) fn texts<'a>(message: &'a Value, choice: u32, found: &mut Vec<(u32, &'a str)>) {
    collect(message, choice, 0, found);
}

fn collect<'a>(message: &'a Value, choice: u32, depth: usize, found: &mut Vec<(u32, &'a str)>) {
    match message {
        Value::String(text) => found.push((choice, text)),
        Value::Array(entries) if depth < DEEPEST_ENVELOPE => {
            for entry in entries {
                collect(entry, choice, depth + 1, found);
            }
        }
        Value::Object(message) if depth < DEEPEST_ENVELOPE => {
            collect_object(message, choice, depth + 1, found);
        }
        _ => {}
    }
}

fn collect_object<'a>(
    message: &'a Object,
    choice: u32,
    depth: usize,
    found: &mut Vec<(u32, &'a str)>,
) {
    let choice = choice_of(message).unwrap_or(choice);
    for key in ["params", "msg", "response", "item"] {
        if let Some(inner) = object(message, &[key]) {
            collect_object(inner, choice, depth + 1, found);
            return;
        }
    }
    for entry in array(message, &["choices"]).unwrap_or_default() {
        let index = entry.get("index").and_then(Value::as_u64);
        let choice = index.and_then(|index| u32::try_from(index).ok()).unwrap_or(choice);
        collect(entry, choice, depth + 1, found);
    }
    for item in array(message, &["output"]).unwrap_or_default() {
        if item
            .get("type")
            .and_then(Value::as_str)
            .is_some_and(|kind| MESSAGE_ITEMS.contains(&kind))
        {
            collect(item, choice, depth + 1, found);
        }
    }
    if let Some(inner) = field(message, &["message"]) {
        collect(inner, choice, depth + 1, found);
    }
    match field(message, &["content"]) {
        Some(Value::String(text)) => found.push((choice, text)),
        Some(Value::Array(parts)) => collect_parts(parts, choice, found),
        _ => {}
    }
    if text(message, &["type"]) == Some("agentMessage") {
        found.extend(text(message, &["text"]).map(|text| (choice, text)));
    }
}

fn collect_parts<'a>(parts: &'a [Value], choice: u32, found: &mut Vec<(u32, &'a str)>) {
    for part in parts {
        let shown = match part {
            Value::String(text) => Some(text.as_str()),
            Value::Object(part)
                if text(part, &["type"]).is_some_and(|kind| SHOWN_PARTS.contains(&kind)) =>
            {
                text(part, &["text"])
            }
            _ => None,
        };
        found.extend(shown.map(|text| (choice, text)));
    }
}
