//! The shapes in which backends speak of calls, reduced to [`CallEvent`]s.
//!
//! A shape is told by its `type`, its `method` or its fields, and says what an event is: the next part
//! of the arguments, or all of them. Nothing is told by the content of arguments.

mod chat;
mod delta_text;
mod fields;
mod item;
mod responses;
mod texts;

use serde_json::Value;

use crate::event::CallEvent;
pub(crate) use delta_text::DeltaText;
use fields::{Object, choice_of, object};
pub(crate) use texts::texts;

/// What the reader of a payload reports to.
pub(crate) trait Sink {
    /// Whether an event with this stamp is new; one without any always is.
    fn admit(&mut self, choice: u32, stamp: Stamp<'_>) -> bool;
    /// What is said about one call.
    fn call(&mut self, choice: u32, event: &CallEvent<'_>);
    /// The backend makes one call at a time.
    fn no_parallel_calls(&mut self);
}

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
    /// The one that the caller has named, whatever the payload says.
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

/// How many envelopes are opened; nobody uses more than three.
const DEEPEST_ENVELOPE: usize = 8;

/// Reads a payload of any known shape.
pub(crate) fn read(payload: &Value, choice: ChoiceOf, whole: Whole, sink: &mut dyn Sink) {
    read_within(payload, choice, whole, 0, sink);
}

fn read_within(payload: &Value, choice: ChoiceOf, whole: Whole, depth: usize, sink: &mut dyn Sink) {
    match payload {
        Value::Object(event) => read_event(event, choice, whole, depth, sink),
        Value::Array(entries) if depth == 0 => read_list(entries, choice, whole, sink),
        _ => {}
    }
}

/// A list of calls without ids is told apart by their places.
fn read_list(entries: &[Value], choice: ChoiceOf, whole: Whole, sink: &mut dyn Sink) {
    let mut place = 0;
    for entry in entries {
        match entry {
            Value::Object(call) if item::is_call(call) => {
                if whole == Whole::No && item::is_chat_entry(call) {
                    chat::read_entry(call, None, choice, sink);
                } else {
                    item::read_listed(call, place, choice, sink);
                }
                place += 1;
            }
            _ => read_within(entry, choice, whole, 1, sink),
        }
    }
}

fn read_event(event: &Object, choice: ChoiceOf, whole: Whole, depth: usize, sink: &mut dyn Sink) {
    let choice = choice.or_named(choice_of(event));
    if fields::is_echo(event) {
        return;
    }
    if fields::flag(event, &["parallel_tool_calls", "parallelToolCalls"]) == Some(false) {
        sink.no_parallel_calls();
    }
    let envelope = object(event, &["params"]).or_else(|| object(event, &["msg"]));
    if let Some(inner) = envelope {
        if depth < DEEPEST_ENVELOPE {
            read_event(inner, choice, whole, depth + 1, sink);
        }
        return;
    }
    if !sink.admit(choice.number(), responses::stamp(event)) {
        return;
    }
    if responses::read(event, choice, sink) {
        return;
    }
    if item::is_call(event) {
        item::read(event, choice, whole, sink);
        return;
    }
    if let Some(item) = object(event, &["item"]).filter(|item| item::is_call(item)) {
        item::read(item, choice, whole, sink);
    }
    chat::read(event, choice, whole, sink);
}
