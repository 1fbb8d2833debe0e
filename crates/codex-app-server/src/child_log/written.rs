//! Lines of the log as Codex writes them, for tests.

use serde_json::{Value, json};

/// The line of an upstream's event.
pub(crate) fn event(event: &Value) -> String {
    event_text(&event.to_string())
}

/// The same for an event in a form of its own.
pub(crate) fn event_text(event: &str) -> String {
    let fields = json!({"message": format!("SSE event: {event}")});
    entry("TRACE", &fields, "codex_api::sse::responses", None)
}

/// A call is added to a response.
pub(crate) fn added(number: Option<u64>, index: u64, item_id: &str, call: [&str; 2]) -> String {
    let [call_id, name] = call;
    let item = json!({
        "type": "function_call", "id": item_id, "call_id": call_id, "name": name,
        "arguments": "", "status": "in_progress",
    });
    let added = json!({"type": "response.output_item.added", "output_index": index, "item": item});
    event(&numbered(added, number))
}

/// A fragment of a call's arguments.
pub(crate) fn delta(number: Option<u64>, index: u64, item_id: &str, text: &str) -> String {
    let delta = json!({
        "type": "response.function_call_arguments.delta", "item_id": item_id,
        "output_index": index, "delta": text,
    });
    event(&numbered(delta, number))
}

/// An item belongs to a turn.
pub(crate) fn owner(item_type: &str, item_id: &str, thread_id: &str, turn_id: &str) -> String {
    let fields = json!({"message": "Output item", "item_type": item_type, "item_id": item_id});
    let span = turn_span(thread_id, turn_id);
    entry("DEBUG", &fields, "codex_core::stream_events_utils", Some(&span))
}

/// The span of a turn.
pub(crate) fn turn_span(thread_id: &str, turn_id: &str) -> Value {
    json!({
        "codex.turn.reasoning_effort": "medium", "model": "gpt-5.5",
        "otel.name": "session_task.turn", "thread.id": thread_id, "turn.id": turn_id,
        "name": "turn",
    })
}

/// Any line.
pub(crate) fn entry(level: &str, fields: &Value, target: &str, span: Option<&Value>) -> String {
    let mut entry = json!({
        "timestamp": "2026-11-18T01:31:25.169280Z", "level": level, "fields": fields,
        "target": target,
    });
    if let Some(span) = span {
        entry["span"] = span.clone();
        entry["spans"] = json!([span]);
    }
    entry.to_string()
}

fn numbered(mut event: Value, number: Option<u64>) -> Value {
    if let Some(number) = number {
        event["sequence_number"] = json!(number);
    }
    event
}
