//! The entries of `tool_calls` in the deltas of one choice.

use serde_json::Value;

use crate::answer::Call;
use crate::notes::Notes;
use crate::rule::RuleId;

/// What `delta.tool_calls` of one frame does to the calls so far.
pub(super) fn take(entries: &[Value], calls: &mut Vec<Call>, notes: &mut Notes) {
    notes.check(RuleId::ChatOneCallAFrame, entries.len() == 1, || {
        format!("{} calls are in one frame", entries.len())
    });
    for entry in entries {
        take_entry(entry, calls, notes);
    }
}

fn take_entry(entry: &Value, calls: &mut Vec<Call>, notes: &mut Notes) {
    let index = entry["index"].as_u64().and_then(|index| usize::try_from(index).ok());
    let arguments = entry["function"]["arguments"].as_str().unwrap_or_default();
    let last = calls.len().checked_sub(1);
    match index {
        Some(index) if index == calls.len() => {
            notes.kept(RuleId::ChatCallOrder);
            begin(entry, calls, notes);
        }
        Some(index) if Some(index) == last => {
            notes.kept(RuleId::ChatCallOrder);
            let repeated = ["id", "type"].into_iter().find(|name| entry.get(*name).is_some());
            let repeated = repeated.or_else(|| entry["function"].get("name").map(|_| "name"));
            notes.check(RuleId::ChatCallBeginsOnce, repeated.is_none(), || {
                format!("a call that goes on has `{}` again: {entry}", repeated.unwrap_or_default())
            });
            calls[index].arguments.push_str(arguments);
        }
        Some(index) if index < calls.len() => {
            let words = format!("call {index} goes on after call {} has begun", calls.len() - 1);
            notes.broken(RuleId::ChatCallOrder, words);
            calls[index].arguments.push_str(arguments);
        }
        _ => {
            let wanted = calls.len();
            notes.broken(
                RuleId::ChatCallOrder,
                format!("a call must have the index {wanted}: {entry}"),
            );
            begin(entry, calls, notes);
        }
    }
}

fn begin(entry: &Value, calls: &mut Vec<Call>, notes: &mut Notes) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let function = &entry["function"];
    let call = Call {
        id: text(&entry["id"]),
        name: text(&function["name"]),
        arguments: text(&function["arguments"]),
    };
    let is_header = entry["type"] == "function" && !call.name.is_empty();
    notes.check(RuleId::ChatCallBeginsOnce, is_header && function["arguments"].is_string(), || {
        format!("a call begins without type, name or arguments: {entry}")
    });
    let is_new = !call.id.is_empty() && calls.iter().all(|other| other.id != call.id);
    notes.check(RuleId::ChatCallIds, is_new, || {
        format!("a call begins without an id of its own: {entry}")
    });
    calls.push(call);
}
