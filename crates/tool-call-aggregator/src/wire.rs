//! The shapes in which backends send calls, reduced to [`CallEvent`](crate::event::CallEvent)s.
//!
//! A shape is recognised by its `type`, its `method` or its fields, and shows what an event is: the next
//! part of the arguments, or all of them. The content of arguments is never used for that.

mod chat;
mod delta_text;
mod fields;
mod item;
mod responses;
mod texts;

use serde_json::Value;

use crate::aggregator::ToolCallAggregator;
pub(crate) use delta_text::DeltaText;
use fields::{Object, choice_of, object};
pub(crate) use texts::texts;

/// What tells an event from its repetition.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamp<'a> {
    pub(crate) response_id: Option<&'a str>,
    pub(crate) sequence: Option<u64>,
}

impl Stamp<'_> {
    pub(crate) fn is_blank(&self) -> bool {
        self.response_id.is_none() && self.sequence.is_none()
    }
}

/// The choice that a payload, or a part of one, belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ChoiceOf {
    /// The one that the caller has named, whatever the payload has.
    Caller(u32),
    /// The one that the payload has named last, or the default.
    Payload(u32),
}

// === impl ChoiceOf ===

impl ChoiceOf {
    pub(crate) fn number(self) -> u32 {
        match self {
            Self::Caller(choice) | Self::Payload(choice) => choice,
        }
    }

    /// The choice of a part that may name one.
    fn or_named(self, named: Option<u32>) -> Self {
        match (self, named) {
            (Self::Payload(_), Some(choice)) => Self::Payload(choice),
            _ => self,
        }
    }
}

impl From<Option<u32>> for ChoiceOf {
    fn from(choice: Option<u32>) -> Self {
        choice.map_or(Self::Payload(0), Self::Caller)
    }
}

/// Whether calls without any other sign are whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whole {
    /// They are parts of a stream.
    No,
    /// They are parts of a message.
    Yes,
}

/// How many envelopes are opened; no known backend uses more than three.
const DEEPEST_ENVELOPE: usize = 8;

/// Reads a payload of any known shape.
pub(crate) fn read(
    payload: &Value,
    choice: ChoiceOf,
    whole: Whole,
    calls: &mut ToolCallAggregator,
) {
    read_within(payload, choice, whole, 0, calls);
}

fn read_within(
    payload: &Value,
    choice: ChoiceOf,
    whole: Whole,
    depth: usize,
    calls: &mut ToolCallAggregator,
) {
    match payload {
        Value::Object(event) => read_event(event, choice, whole, depth, calls),
        Value::Array(entries) if depth == 0 => read_list(entries, choice, whole, calls),
        _ => {}
    }
}

/// Calls of a list without ids are distinguished by their indices.
fn read_list(entries: &[Value], choice: ChoiceOf, whole: Whole, calls: &mut ToolCallAggregator) {
    let mut index = 0;
    for entry in entries {
        match entry {
            Value::Object(call) if item::is_call(call) => {
                if whole == Whole::No && item::is_chat_entry(call) {
                    chat::read_entry(call, None, choice, calls);
                } else {
                    item::read_listed(call, index, choice, calls);
                }
                index += 1;
            }
            _ => read_within(entry, choice, whole, 1, calls),
        }
    }
}

fn read_event(
    event: &Object,
    choice: ChoiceOf,
    whole: Whole,
    depth: usize,
    calls: &mut ToolCallAggregator,
) {
    let choice = choice.or_named(choice_of(event));
    if fields::is_echo(event) {
        return;
    }
    if fields::flag(event, &["parallel_tool_calls", "parallelToolCalls"]) == Some(false) {
        calls.on_no_parallel_calls();
    }
    let envelope = object(event, &["params"]).or_else(|| object(event, &["msg"]));
    if let Some(inner) = envelope {
        if depth < DEEPEST_ENVELOPE {
            read_event(inner, choice, whole, depth + 1, calls);
        }
        return;
    }
    if !calls.admit(choice.number(), responses::stamp(event)) {
        return;
    }
    if responses::read(event, choice, calls) {
        return;
    }
    if item::is_call(event) {
        item::read(event, choice, whole, calls);
        return;
    }
    if let Some(item) = object(event, &["item"]).filter(|item| item::is_call(item)) {
        item::read(item, choice, whole, calls);
    }
    chat::read(event, choice, whole, calls);
}
