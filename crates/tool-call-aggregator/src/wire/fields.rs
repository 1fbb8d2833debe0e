//! Fields of JSON objects, under any of the names that they go by.

use serde_json::{Map, Value};

pub(super) type Object = Map<String, Value>;

/// The turn under which Codex echoes injected history.
const ECHO_TURN: &str = "auto-compact-0";

/// The first field of these names that is not null.
pub(super) fn field<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Value> {
    names.iter().filter_map(|name| object.get(*name)).find(|value| !value.is_null())
}

pub(super) fn text<'a>(object: &'a Object, names: &[&str]) -> Option<&'a str> {
    field(object, names).and_then(Value::as_str)
}

pub(super) fn number(object: &Object, names: &[&str]) -> Option<u64> {
    field(object, names).and_then(Value::as_u64)
}

pub(super) fn flag(object: &Object, names: &[&str]) -> Option<bool> {
    field(object, names).and_then(Value::as_bool)
}

pub(super) fn object<'a>(object: &'a Object, names: &[&str]) -> Option<&'a Object> {
    field(object, names).and_then(Value::as_object)
}

pub(super) fn array<'a>(object: &'a Object, names: &[&str]) -> Option<&'a [Value]> {
    field(object, names).and_then(Value::as_array).map(Vec::as_slice)
}

/// The choice that a payload itself names.
pub(super) fn choice_of(object: &Object) -> Option<u32> {
    number(object, &["choice_index", "choiceIndex"]).and_then(|choice| u32::try_from(choice).ok())
}

/// The id of a call.
pub(super) fn call_id(object: &Object) -> Option<&str> {
    text(object, &["call_id", "callId", "tool_call_id", "toolCallId"]).filter(|id| !id.is_empty())
}

/// The id of an item.
pub(super) fn item_id(object: &Object) -> Option<&str> {
    text(object, &["item_id", "itemId"])
}

/// Whether it is Codex's echo of history that was injected into a thread.
pub(super) fn is_echo(object: &Object) -> bool {
    text(object, &["turnId", "turn_id"]) == Some(ECHO_TURN)
}
