//! The entries of `tool_calls` in the deltas of one choice.

use serde_json::Value;

use crate::answer::{Call, CallKind};
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
    let more = super::said_in(entry);
    let last = calls.len().checked_sub(1);
    match index {
        Some(index) if index == calls.len() => {
            notes.kept(RuleId::ChatCallOrder);
            begin(entry, calls, notes);
        }
        Some(index) if Some(index) == last => {
            notes.kept(RuleId::ChatCallOrder);
            let repeated = ["id", "type"].into_iter().find(|name| entry.get(*name).is_some());
            let has_name = |member: &str| entry[member].get("name").is_some();
            let is_named = has_name("function") || has_name("custom");
            let repeated = repeated.or(is_named.then_some("name"));
            notes.check(form_rule(calls[index].kind), repeated.is_none(), || {
                format!("a call that goes on has `{}` again: {entry}", repeated.unwrap_or_default())
            });
            calls[index].arguments.push_str(&more);
        }
        Some(index) if index < calls.len() => {
            let words = format!("call {index} goes on after call {} has begun", calls.len() - 1);
            notes.broken(RuleId::ChatCallOrder, words);
            calls[index].arguments.push_str(&more);
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

/// The rule about the frames of a call.
fn form_rule(kind: CallKind) -> RuleId {
    match kind {
        CallKind::Function => RuleId::ChatCallBeginsOnce,
        CallKind::Custom => RuleId::ChatCustomFrames,
    }
}

fn begin(entry: &Value, calls: &mut Vec<Call>, notes: &mut Notes) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (kind, members) = super::members(entry);
    let call = Call {
        kind,
        id: text(&entry["id"]),
        name: text(&members["name"]),
        arguments: super::said_in(entry),
    };
    let (named, said) = match kind {
        CallKind::Function => ("function", &members["arguments"]),
        CallKind::Custom => ("custom", &members["input"]),
    };
    let is_header = entry["type"] == named && !call.name.is_empty() && said.is_string();
    notes.check(form_rule(kind), is_header, || {
        format!("a call begins without type, name or arguments: {entry}")
    });
    let is_new = !call.id.is_empty() && calls.iter().all(|other| other.id != call.id);
    notes.check(RuleId::ChatCallIds, is_new, || {
        format!("a call begins without an id of its own: {entry}")
    });
    calls.push(call);
}
