//! Chat chunks and messages.

use serde_json::Value;

use super::fields::{Object, array, call_id, choice_of, number, object, text};
use super::{ChoiceOf, Whole, item};
use crate::aggregator::ToolCallAggregator;
use crate::event::{Arguments, CallEvent, Position};

/// Reads whatever of a chat chunk, message, choice or delta there is.
pub(super) fn read(event: &Object, choice: ChoiceOf, whole: Whole, calls: &mut ToolCallAggregator) {
    for entry in array(event, &["choices"]).unwrap_or_default() {
        if let Value::Object(entry) = entry {
            let index = number(entry, &["index"]).and_then(|index| u32::try_from(index).ok());
            let choice = choice.or_named(choice_of(entry).or(index));
            read_parts(entry, choice, whole, calls);
        }
    }
    read_parts(event, choice, whole, calls);
}

fn read_parts(event: &Object, choice: ChoiceOf, whole: Whole, calls: &mut ToolCallAggregator) {
    if let Some(delta) = object(event, &["delta"]) {
        read_calls(delta, choice.or_named(choice_of(delta)), Whole::No, calls);
    }
    if let Some(message) = object(event, &["message"]) {
        read_calls(message, choice.or_named(choice_of(message)), Whole::Yes, calls);
    }
    read_calls(event, choice, whole, calls);
}

fn read_calls(message: &Object, choice: ChoiceOf, whole: Whole, calls: &mut ToolCallAggregator) {
    let entries = array(message, &["tool_calls", "toolCalls"]).unwrap_or_default();
    for (place, entry) in entries.iter().enumerate() {
        let Value::Object(entry) = entry else { continue };
        match whole {
            Whole::Yes => item::read_listed(entry, place, choice, calls),
            Whole::No => read_entry(entry, (entries.len() > 1).then_some(place), choice, calls),
        }
    }
    // Beside `tool_calls` it only mirrors the first of them.
    let legacy = object(message, &["function_call", "functionCall"]);
    if let Some(function) = legacy.filter(|_| entries.is_empty()) {
        read_function_call(function, choice, whole, calls);
    }
}

/// Reads an entry of `delta.tool_calls[]`. Of several entries without an index, those with a name are
/// new calls; the others are distinguished by their indices.
pub(super) fn read_entry(
    entry: &Object,
    place: Option<usize>,
    choice: ChoiceOf,
    calls: &mut ToolCallAggregator,
) {
    let function = item::function_of(entry);
    let name = text(function, &["name"]).filter(|name| !name.is_empty());
    let index = number(entry, &["index"]).map(Position::ChatIndex);
    let call = CallEvent {
        call_id: text(entry, &["id"]).filter(|id| !id.is_empty()).or_else(|| call_id(entry)),
        position: index.or(place.filter(|_| name.is_none()).map(Position::InMessage)),
        name,
        ..CallEvent::default()
    };
    item::with_arguments(entry, Arguments::Increment, |arguments| {
        calls.on_call(choice.number(), &CallEvent { arguments, ..call });
    });
}

fn read_function_call(
    function: &Object,
    choice: ChoiceOf,
    whole: Whole,
    calls: &mut ToolCallAggregator,
) {
    let call = CallEvent {
        position: Some(Position::FunctionCall),
        name: text(function, &["name"]),
        complete: whole == Whole::Yes,
        ..CallEvent::default()
    };
    let kind = match whole {
        Whole::Yes => Arguments::Snapshot,
        Whole::No => Arguments::Increment,
    };
    item::with_arguments(function, kind, |arguments| {
        calls.on_call(choice.number(), &CallEvent { arguments, ..call });
    });
}
