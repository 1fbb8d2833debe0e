//! Whole calls: items of a response, of Codex, and entries of a message.

use serde_json::Value;

use super::fields::{Object, call_id, field, object, text};
use super::{ChoiceOf, Whole, chat};
use crate::aggregator::ToolCallAggregator;
use crate::event::{Arguments, CallEvent, Position};

/// The kinds of items that are calls.
const CALL_TYPES: [&str; 8] = [
    "function_call",
    "functionCall",
    "custom_tool_call",
    "dynamicToolCall",
    "dynamic_tool_call_request",
    "function",
    "custom",
    "tool_call",
];
/// Those whose `id` is the item's and not the call's.
const ITEM_TYPES: [&str; 3] = ["function_call", "functionCall", "custom_tool_call"];
/// Those that are calls only with a `function` or `custom` inside, or with arguments.
const PARTS: [&str; 2] = ["function", "custom"];
/// The names under which arguments stand.
const ARGUMENTS: [&str; 2] = ["arguments", "input"];

/// Whether an object is a whole call, and neither something that holds one nor a tool's definition.
pub(super) fn is_call(item: &Object) -> bool {
    let kind = text(item, &["type"]);
    if kind.is_some_and(|kind| !CALL_TYPES.contains(&kind)) || item.contains_key("role") {
        return false;
    }
    let nested = nested(item);
    let function = nested.unwrap_or(item);
    let has_name = text(function, &["name", "tool"]).is_some();
    let has_arguments =
        ARGUMENTS.iter().any(|key| function.contains_key(*key) || item.contains_key(*key));
    // Without arguments, what has an id and a name could be anything.
    let is_plainly_call = nested.is_some() || kind.is_some_and(|kind| !PARTS.contains(&kind));
    let has_id = text(item, &["id"]).is_some() || call_id(item).is_some();
    (has_name && (has_arguments || (is_plainly_call && has_id))) || is_chat_entry(item)
}

/// Whether it is an entry of a chat delta, on its own.
pub(super) fn is_chat_entry(item: &Object) -> bool {
    item.get("index").is_some_and(Value::is_u64) && nested(item).is_some()
}

/// Reads a call that stands alone.
pub(super) fn read(item: &Object, choice: ChoiceOf, whole: Whole, calls: &mut ToolCallAggregator) {
    if whole == Whole::No && is_chat_entry(item) {
        chat::read_entry(item, None, choice, calls);
    } else {
        with_call(item, |call| calls.on_call(choice.number(), &call));
    }
}

/// Reads a whole call that has an index in a list.
pub(super) fn read_listed(
    item: &Object,
    index: usize,
    choice: ChoiceOf,
    calls: &mut ToolCallAggregator,
) {
    let position = Some(Position::InMessage(index));
    with_call(item, |call| calls.on_call(choice.number(), &CallEvent { position, ..call }));
}

/// Reads a whole call.
pub(super) fn with_call(item: &Object, emit: impl FnOnce(CallEvent<'_>)) {
    let function = function_of(item);
    let kind = text(item, &["type"]).unwrap_or_default();
    let id = text(item, &["id"]);
    let is_item = ITEM_TYPES.contains(&kind);
    // Codex hands over calls that are "inProgress" because they wait for an answer: these are whole.
    let status = text(item, &["status"]).unwrap_or_default();
    let is_growing = is_item && matches!(status, "in_progress" | "inProgress");
    let call = CallEvent {
        call_id: call_id(item).or(id.filter(|_| !is_item)),
        item_id: id.filter(|_| is_item),
        name: text(function, &["name", "tool"]),
        complete: !is_growing,
        ..CallEvent::default()
    };
    let kind = if is_growing { Arguments::Initial } else { Arguments::Snapshot };
    with_arguments(item, kind, |arguments| emit(CallEvent { arguments, ..call }));
}

/// Arguments as text; some servers send them as a JSON value, which is always whole, and is
/// written anew.
pub(super) fn with_arguments<'a>(
    item: &'a Object,
    kind: fn(&'a str) -> Arguments<'a>,
    emit: impl FnOnce(Arguments<'_>),
) {
    match arguments_of(item) {
        None => emit(Arguments::Absent),
        Some(Value::String(text)) => emit(kind(text)),
        Some(value) => emit(Arguments::Rewritten(&value.to_string())),
    }
}

/// The arguments inside `function`, or else those beside it, where some servers put them.
fn arguments_of(item: &Object) -> Option<&Value> {
    let Some(function) = nested(item) else {
        return field(item, &ARGUMENTS);
    };
    let inner = field(function, &ARGUMENTS);
    inner.filter(|value| value.as_str() != Some("")).or_else(|| field(item, &ARGUMENTS)).or(inner)
}

/// What is called: in a chat entry it is one level down.
pub(super) fn function_of(item: &Object) -> &Object {
    nested(item).unwrap_or(item)
}

/// Where a chat entry has what it calls.
fn nested(item: &Object) -> Option<&Object> {
    object(item, &PARTS)
}
