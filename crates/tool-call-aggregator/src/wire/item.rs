//! Whole calls: items of a response, of Codex, and entries of a message.

use serde_json::Value;

use super::Sink;
use super::fields::{Object, call_id, field, object, text};
use crate::event::{Arguments, CallEvent, Position};

/// The kinds of items that are calls.
const CALL_TYPES: [&str; 6] = [
    "function_call",
    "custom_tool_call",
    "dynamicToolCall",
    "functionCall",
    "function",
    "tool_call",
];
/// Those whose `id` is the item's and not the call's.
const ITEM_TYPES: [&str; 3] = ["function_call", "custom_tool_call", "functionCall"];

/// Whether an object is a whole call, and not something that holds one.
pub(super) fn is_call(item: &Object) -> bool {
    if let Some(kind) = text(item, &["type"]) {
        return CALL_TYPES.contains(&kind);
    }
    if item.contains_key("role") {
        return false;
    }
    let has_function = object(item, &["function"]).is_some();
    let has_name = text(item, &["name", "tool"]).is_some();
    has_function || (has_name && ["arguments", "input"].iter().any(|key| item.contains_key(*key)))
}

/// Reads a whole call.
pub(super) fn read_whole(item: &Object, choice: u32, sink: &mut dyn Sink) {
    if !is_call(item) {
        return;
    }
    match item.get("index").and_then(Value::as_u64) {
        // With an index it is an entry of a chat delta.
        Some(_) if object(item, &["function"]).is_some() => {
            super::chat::read_entry(item, None, choice, sink);
        }
        _ => with_call(item, |said| sink.call(choice, &said)),
    }
}

/// Reads a whole call that stands at a place in a list.
pub(super) fn read_listed(item: &Object, place: usize, choice: u32, sink: &mut dyn Sink) {
    let position = Some(Position::InMessage(place));
    with_call(item, |said| sink.call(choice, &CallEvent { position, ..said }));
}

/// What a whole call says of itself. Arguments that are not text are written as JSON.
pub(super) fn with_call(item: &Object, say: impl FnOnce(CallEvent<'_>)) {
    let function = object(item, &["function"]).unwrap_or(item);
    let kind = text(item, &["type"]).unwrap_or_default();
    let id = text(item, &["id"]);
    let is_item = ITEM_TYPES.contains(&kind);
    let said = CallEvent {
        call_id: call_id(item).or(id.filter(|_| !is_item)),
        item_id: id.filter(|_| is_item),
        name: text(function, &["name", "tool"]),
        complete: true,
        ..CallEvent::default()
    };
    match field(function, &["arguments", "input"]) {
        None => say(said),
        Some(Value::String(text)) => {
            say(CallEvent { arguments: Arguments::Snapshot(text), ..said });
        }
        Some(value) => {
            let written = value.to_string();
            say(CallEvent { arguments: Arguments::Rewritten(&written), ..said });
        }
    }
}
