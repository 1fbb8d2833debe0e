//! Events and responses of the Responses API.

use super::fields::{Object, array, call_id, flag, item_id, number, object, text};
use super::{ChoiceOf, Stamp, item};
use crate::aggregator::ToolCallAggregator;
use crate::event::{Arguments, CallEvent, Position};

/// What tells an event from its repetition.
pub(super) fn stamp(event: &Object) -> Stamp<'_> {
    let id = object(event, &["response"]).and_then(|response| text(response, &["id"]));
    Stamp {
        response_id: id.or_else(|| text(event, &["response_id", "responseId"])),
        sequence: number(event, &["sequence_number", "sequenceNumber"]),
    }
}

/// Reads an event of a response, or a whole response; false if it is neither.
pub(super) fn read(event: &Object, choice: ChoiceOf, calls: &mut ToolCallAggregator) -> bool {
    let kind = text(event, &["type"]).unwrap_or_default();
    match kind {
        "response.output_item.added" => read_item(event, choice, Stage::Added, calls),
        "response.output_item.done" => read_item(event, choice, Stage::Done, calls),
        "response.function_call_arguments.delta" | "response.custom_tool_call_input.delta" => {
            let delta = text(event, &["delta"]).unwrap_or_default();
            calls.on_call(choice.number(), &part(event, Arguments::Increment(delta), false));
        }
        "response.function_call_arguments.done" | "response.custom_tool_call_input.done" => {
            let whole = text(event, &["arguments", "input"]).unwrap_or_default();
            calls.on_call(choice.number(), &part(event, Arguments::Snapshot(whole), true));
        }
        _ => {
            let response = object(event, &["response"]);
            let is_response = text(event, &["object"]) == Some("response");
            let Some(response) = response.or_else(|| is_response.then_some(event)) else {
                return false;
            };
            let is_running = matches!(kind, "response.created" | "response.in_progress");
            let stage = if is_running { Stage::Added } else { Stage::Done };
            read_response(response, choice, stage, calls);
        }
    }
    true
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    Added,
    Done,
}

fn read_item(event: &Object, choice: ChoiceOf, stage: Stage, calls: &mut ToolCallAggregator) {
    let Some(call) = object(event, &["item"]).filter(|item| item::is_call(item)) else {
        return;
    };
    with_stage(call, stage, |call| {
        let item_id = call.item_id.or_else(|| item_id(event));
        calls.on_call(choice.number(), &CallEvent { item_id, position: position(event), ..call });
    });
}

/// Reads an item of an event that shows how far it has come.
fn with_stage(item: &Object, stage: Stage, emit: impl FnOnce(CallEvent<'_>)) {
    item::with_call(item, |call| {
        let arguments = match (stage, call.arguments) {
            (Stage::Added, Arguments::Snapshot(text)) => Arguments::Initial(text),
            (Stage::Done, Arguments::Initial(text)) => Arguments::Snapshot(text),
            (_, arguments) => arguments,
        };
        emit(CallEvent { arguments, complete: matches!(stage, Stage::Done), ..call });
    });
}

fn read_response(
    response: &Object,
    choice: ChoiceOf,
    stage: Stage,
    calls: &mut ToolCallAggregator,
) {
    if flag(response, &["parallel_tool_calls", "parallelToolCalls"]) == Some(false) {
        calls.on_no_parallel_calls();
    }
    for (place, output) in array(response, &["output"]).unwrap_or_default().iter().enumerate() {
        if let Some(call) = output.as_object().filter(|item| item::is_call(item)) {
            with_stage(call, stage, |call| {
                let position = Some(Position::OutputIndex(place as u64));
                calls.on_call(choice.number(), &CallEvent { position, ..call });
            });
        }
    }
}

fn part<'a>(event: &'a Object, arguments: Arguments<'a>, complete: bool) -> CallEvent<'a> {
    CallEvent {
        call_id: call_id(event),
        item_id: item_id(event),
        position: position(event),
        name: text(event, &["name"]),
        arguments,
        complete,
    }
}

fn position(event: &Object) -> Option<Position> {
    number(event, &["output_index", "outputIndex", "index"]).map(Position::OutputIndex)
}
