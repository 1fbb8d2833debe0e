//! The entries of `tool_calls` in the deltas of one choice.

use serde_json::Value;

use super::super::{Call, CallKind, Mismatch, Piece, Sink, members, text};
use super::{called, inexact, is_exact, said_in};
use crate::rule::RuleId;

/// What clients add text to without looking at it.
const MORE: &str = "arguments of the call that was begun last";

/// What `delta.tool_calls` of one frame does to the calls of a choice so far.
pub(super) fn take<S: Sink>(
    entries: &[Value],
    choice: u64,
    calls: &mut Vec<Call>,
    sink: &mut S,
) -> Vec<Piece> {
    sink.rule(RuleId::ChatOneCallAFrame, entries.len() == 1, || {
        Mismatch::new("calls in one frame", "1", &entries.len())
    });
    let mut pieces = Vec::new();
    for entry in entries {
        let (index, begun) = take_entry(entry, calls, sink);
        let arguments = said_in(entry);
        if begun.is_none()
            && let Some(call) = calls.get_mut(index)
        {
            call.arguments.push_str(&arguments);
        }
        calls.extend(begun.clone());
        pieces.push(Piece::Call { choice, index, begun, arguments });
    }
    pieces
}

/// The place of the call that an entry is about, and the call if it begins.
fn take_entry<S: Sink>(entry: &Value, calls: &[Call], sink: &mut S) -> (usize, Option<Call>) {
    let index = entry["index"].as_u64().and_then(|index| usize::try_from(index).ok());
    let next = calls.len();
    match index {
        Some(index) if index < next => {
            sink.rule(RuleId::ChatCallOrder, index + 1 == next, || {
                Mismatch::new("call", MORE, entry)
            });
            if index + 1 == next {
                continue_call(entry, calls[index].kind, sink);
            }
            (index, None)
        }
        _ => {
            sink.rule(RuleId::ChatCallOrder, index == Some(next), || {
                Mismatch::new("index of a new call", next.to_string(), &entry["index"])
            });
            (next, Some(begin(entry, calls, sink)))
        }
    }
}

fn continue_call<S: Sink>(entry: &Value, kind: CallKind, sink: &mut S) {
    let repeated = ["id", "type"].into_iter().find(|name| entry.get(*name).is_some());
    let has_name = |member: &str| entry[member].get("name").is_some();
    let is_named = has_name("function") || has_name("custom");
    let repeated = repeated.or(is_named.then_some("name"));
    sink.rule(form_rule(kind), repeated.is_none(), || {
        let repeated = repeated.unwrap_or_default();
        Mismatch::new("call", format!("{MORE}, without `{repeated}` again"), entry)
    });
    let (member, text) = match kind {
        CallKind::Custom => ("custom", "input"),
        _ => ("function", "arguments"),
    };
    let is_exact = members(entry) == ["index", member]
        && members(&entry[member]) == [text]
        && entry[member][text].is_string();
    sink.ours(is_exact, || Mismatch::new("call", format!("{MORE}, and nothing else"), entry));
}

/// The rule about the frames of a call.
fn form_rule(kind: CallKind) -> RuleId {
    match kind {
        CallKind::Custom => RuleId::ChatCustomFrames,
        _ => RuleId::ChatCallBeginsOnce,
    }
}

fn begin<S: Sink>(entry: &Value, calls: &[Call], sink: &mut S) -> Call {
    let call = Call::of_chat(entry);
    let called = called(entry).1;
    let (named, said) = match call.kind {
        CallKind::Custom => ("custom", &called["input"]),
        _ => ("function", &called["arguments"]),
    };
    let is_header = entry["type"] == named && !call.name.is_empty() && said.is_string();
    sink.rule(form_rule(call.kind), is_header, || {
        let expected = format!("{MORE}, or a new one with type, name and arguments as text");
        Mismatch::new("call", expected, entry)
    });
    let is_new = !call.id.is_empty() && calls.iter().all(|other| other.id != call.id);
    sink.rule(RuleId::ChatCallIds, is_new, || {
        Mismatch::new("call", "one with an id of its own", entry)
    });
    sink.ours(is_exact(entry, &["index"]), || inexact(entry));
    call
}

/// What `delta.function_call` of one frame does to the call that the old form has.
pub(super) fn take_legacy<S: Sink>(
    entry: &Value,
    choice: u64,
    call: &mut Option<Call>,
    sink: &mut S,
) -> Piece {
    let (wanted, begun): (&[&str], _) = match call {
        None => (&["name", "arguments"], Some(Call::legacy(entry))),
        Some(_) => (&["arguments"], None),
    };
    let is_fit = members(entry) == wanted && entry["arguments"].is_string();
    sink.ours(is_fit, || Mismatch::new("function_call", format!("one with {wanted:?}"), entry));
    let arguments = text(&entry["arguments"]);
    match call {
        None => call.clone_from(&begun),
        Some(call) => call.arguments.push_str(&arguments),
    }
    Piece::Call { choice, index: 0, begun, arguments }
}
