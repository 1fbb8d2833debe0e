//! One line of the child's log: what it reports, as far as that is of use here.
//!
//! Lines without use are most of the log. They cost a look at their beginning, and no allocation.

use std::borrow::Cow;

use memchr::memchr;
use memchr::memmem::find;
use serde::Deserialize;
use serde_json::Value;

use super::StartedCall;
use crate::protocol::incoming::Text;
use crate::tool_names::towards_codex;

/// How long the time of a line is, as Codex writes it, and at the most.
const TIME_WIDTH: usize = "2026-11-18T00:45:18.356930Z".len();
const LONGEST_TIME: usize = 64;

const TIME: &[u8] = br#"{"timestamp":""#;
const LEVEL: &[u8] = br#"","level":""#;
const STREAM_EVENT: &[u8] = br#"TRACE","fields":{"message":"SSE event: "#;
/// Follows every event that Codex does not use itself.
const UNHANDLED: &[u8] = br#"TRACE","fields":{"message":"unhandled responses event: "#;
const OUTPUT_ITEM: &[u8] = br#"DEBUG","fields":{"message":"Output item""#;

/// The kinds of events that [`read_event`] reads.
const KINDS: [&[u8]; 4] = [
    b"response.function_call_arguments.delta",
    b"response.output_item.added",
    b"response.refusal.done",
    DONE,
];

/// It repeats all arguments, so that its line may be too long to be read; nothing is lost then.
const DONE: &[u8] = b"response.function_call_arguments.done";

const FUNCTION_CALL: &str = "function_call";

const STREAM_TARGET: &str = "codex_api::sse::responses";
const ITEM_TARGET: &str = "codex_core::stream_events_utils";

/// Targets that write below `ERROR` only because our filter asks for it.
const TARGETS: [&[u8]; 3] = [
    br#""target":"codex_api::sse::responses""#,
    br#""target":"codex_core::stream_events_utils""#,
    br#""target":"codex_core::tasks""#,
];

/// What a line of the log reports.
#[derive(Debug, PartialEq)]
pub(crate) enum LogLine<'a> {
    /// An upstream has added a function call to its response.
    CallAdded { sequence: Option<u64>, call: StartedCall },
    /// More of a call's arguments.
    Arguments { item_id: String, sequence: Option<u64>, text: String },
    /// All arguments of a call have come.
    CallDone { item_id: String },
    /// The whole text of a refusal.
    Refusal { item_id: String, text: String },
    /// An item belongs to a turn.
    Owner {
        item_id: Cow<'a, str>,
        /// Whether the item is a function call.
        is_call: bool,
        thread_id: Cow<'a, str>,
        turn_id: Cow<'a, str>,
    },
    /// Written because of our filter, and of no use.
    Unused,
    /// An upstream's event that cannot be read: it may have been about any item.
    Damaged,
    /// Not written because of our filter.
    Other,
}

#[derive(Deserialize)]
struct Entry<'a> {
    #[serde(borrow)]
    level: Cow<'a, str>,
    #[serde(borrow)]
    target: Cow<'a, str>,
    #[serde(borrow)]
    fields: Fields<'a>,
    #[serde(borrow)]
    span: Option<Span<'a>>,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
    #[serde(borrow)]
    item_type: Option<Text<'a>>,
    #[serde(borrow)]
    item_id: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Span<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow, rename = "thread.id")]
    thread_id: Option<Text<'a>>,
    #[serde(borrow, rename = "turn.id")]
    turn_id: Option<Text<'a>>,
}

/// An event of the Responses API. It stands in a string, so nothing can be borrowed from the line.
#[derive(Deserialize)]
struct StreamEvent {
    r#type: String,
    sequence_number: Option<u64>,
    output_index: Option<u64>,
    item_id: Option<String>,
    delta: Option<String>,
    refusal: Option<String>,
    item: Option<Item>,
}

#[derive(Deserialize)]
struct Item {
    r#type: String,
    id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    namespace: Option<String>,
    arguments: Option<Value>,
}

// === impl LogLine ===

impl<'a> LogLine<'a> {
    pub(crate) fn read(line: &'a [u8]) -> Self {
        let Some(level) = level_of(line) else { return Self::Other };
        if let Some(event) = level.strip_prefix(STREAM_EVENT) {
            if !may_be_used(event) {
                return Self::Unused;
            }
            let unreadable =
                if kind_of(event) == Some(DONE) { Self::Unused } else { Self::Damaged };
            return read_event(line).unwrap_or(unreadable);
        }
        if level.starts_with(UNHANDLED) {
            return Self::Unused;
        }
        if level.starts_with(OUTPUT_ITEM) {
            return read_owner(line).unwrap_or(Self::Unused);
        }
        let is_below_error = [&b"TRACE"[..], b"DEBUG", b"INFO"]
            .iter()
            .any(|below| level.strip_prefix(*below).is_some_and(|rest| rest.starts_with(b"\"")));
        // Inside a string of the line the quotes would be escaped.
        if is_below_error && TARGETS.iter().any(|target| find(level, target).is_some()) {
            return Self::Unused;
        }
        Self::Other
    }

    /// The same for a line of which only the beginning is known.
    pub(crate) fn read_head(head: &[u8]) -> LogLine<'static> {
        match level_of(head).and_then(|level| level.strip_prefix(STREAM_EVENT)) {
            // The kind of an event may be in the part that is missing.
            Some(event)
                if kind_of(event).is_none_or(|kind| kind != DONE && KINDS.contains(&kind)) =>
            {
                LogLine::Damaged
            }
            Some(_) => LogLine::Unused,
            None => LogLine::Other,
        }
    }
}

/// What follows the time of a line of the log.
fn level_of(line: &[u8]) -> Option<&[u8]> {
    let rest = line.strip_prefix(TIME)?;
    // Where it always is, without a search.
    if let Some(level) = rest.get(TIME_WIDTH..).and_then(|rest| rest.strip_prefix(LEVEL)) {
        return Some(level);
    }
    let time = find(&rest[..rest.len().min(LONGEST_TIME)], LEVEL)?;
    rest.get(time + LEVEL.len()..)
}

/// Whether an event, in a string, may be of one of the kinds that [`read_event`] reads.
fn may_be_used(event: &[u8]) -> bool {
    match kind_of(event) {
        Some(kind) => KINDS.contains(&kind),
        // Some upstreams sort the members, so that the text comes before the kind.
        None => KINDS.iter().any(|kind| find(event, kind).is_some()),
    }
}

/// The kind of an event whose first member says it.
fn kind_of(event: &[u8]) -> Option<&[u8]> {
    let kind = event.strip_prefix(b"{")?.trim_ascii_start().strip_prefix(br#"\"type\""#)?;
    let kind = kind.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let kind = kind.strip_prefix(br#"\""#)?;
    // No kind has an escape in it.
    kind.get(..memchr(b'\\', kind)?)
}

/// `None` if the line is damaged.
fn read_event(line: &[u8]) -> Option<LogLine<'static>> {
    let entry: Entry<'_> = serde_json::from_slice(line).ok()?;
    if entry.level != "TRACE" || entry.target != STREAM_TARGET {
        return Some(LogLine::Unused);
    }
    let event: StreamEvent =
        serde_json::from_str(entry.fields.message.strip_prefix("SSE event: ")?).ok()?;
    let StreamEvent { r#type, sequence_number: sequence, output_index, item_id, .. } = event;
    Some(match r#type.as_str() {
        "response.output_item.added" => added(sequence, output_index, event.item?),
        "response.function_call_arguments.delta" => {
            let text = event.delta?;
            // Without an id there is nothing to go by.
            item_id.map_or(LogLine::Unused, |item_id| LogLine::Arguments {
                item_id,
                sequence,
                text,
            })
        }
        "response.function_call_arguments.done" => {
            item_id.map_or(LogLine::Unused, |item_id| LogLine::CallDone { item_id })
        }
        "response.refusal.done" => {
            let text = event.refusal?;
            item_id.map_or(LogLine::Unused, |item_id| LogLine::Refusal { item_id, text })
        }
        _ => LogLine::Unused,
    })
}

/// A call can be streamed if its place, its ids and its name are known, and no argument is there yet.
fn added(sequence: Option<u64>, output_index: Option<u64>, item: Item) -> LogLine<'static> {
    let known = |text: Option<String>| text.filter(|text| !text.is_empty());
    let has_none = item.arguments.is_none_or(|arguments| arguments == "");
    let is_call = item.r#type == FUNCTION_CALL && has_none;
    let call = (output_index, known(item.id), known(item.call_id), known(item.name));
    let (true, (Some(output_index), Some(item_id), Some(call_id), Some(name))) = (is_call, call)
    else {
        return LogLine::Unused;
    };
    let name = towards_codex(item.namespace.as_deref(), name);
    let call = StartedCall { output_index, item_id: item_id.into(), call_id, name };
    LogLine::CallAdded { sequence, call }
}

fn read_owner(line: &[u8]) -> Option<LogLine<'_>> {
    let entry: Entry<'_> = serde_json::from_slice(line).ok()?;
    let span = entry.span.filter(|span| span.name == "turn")?;
    let (Some(item_id), Some(thread_id), Some(turn_id)) =
        (entry.fields.item_id, span.thread_id, span.turn_id)
    else {
        return None;
    };
    if entry.level != "DEBUG" || entry.target != ITEM_TARGET || item_id.0.is_empty() {
        return None;
    }
    let is_call = entry.fields.item_type.is_some_and(|kind| kind.0 == FUNCTION_CALL);
    let (item_id, thread_id, turn_id) = (item_id.0, thread_id.0, turn_id.0);
    Some(LogLine::Owner { item_id, is_call, thread_id, turn_id })
}

#[cfg(test)]
mod tests;
