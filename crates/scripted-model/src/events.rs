//! The events of a streamed response, field for field as OpenAI sends them.

use serde_json::{Value, json};

/// `usage` of a response: how many tokens it pretends to have cost.
pub(crate) fn usage(input: u64, cached: u64) -> Value {
    let (output, reasoning) = (45, 7);
    json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": input.saturating_add(output),
    })
}

pub(crate) fn default_usage() -> Value {
    usage(123, 100)
}

pub(crate) fn created(response: &str) -> Value {
    json!({
        "type": "response.created",
        "response": {"id": response, "object": "response", "status": "in_progress"},
    })
}

pub(crate) fn completed(response: &str, usage: &Value) -> Value {
    json!({
        "type": "response.completed",
        "response": {
            "id": response,
            "object": "response",
            "status": "completed",
            "usage": usage,
            "output": [],
        },
    })
}

pub(crate) fn failed(response: &str, code: &str) -> Value {
    json!({
        "type": "response.failed",
        "response": {
            "id": response,
            "object": "response",
            "status": "failed",
            "error": {"code": code, "message": format!("scripted failure: {code}")},
        },
    })
}

pub(crate) fn incomplete(response: &str, reason: &str) -> Value {
    json!({
        "type": "response.incomplete",
        "response": {
            "id": response,
            "object": "response",
            "status": "incomplete",
            "incomplete_details": {"reason": reason},
            "usage": default_usage(),
        },
    })
}

pub(crate) fn item_added(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

pub(crate) fn item_done(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

/// An assistant message; it is in progress as long as it has no content.
pub(crate) fn message_item(id: &str, phase: Option<&str>, content: Option<Value>) -> Value {
    let mut item = json!({
        "type": "message",
        "id": id,
        "role": "assistant",
        "status": status(content.is_some()),
        "content": content.map_or_else(|| json!([]), |part| json!([part])),
    });
    if let Some(phase) = phase {
        item["phase"] = phase.into();
    }
    item
}

pub(crate) fn text_part(text: &str) -> Value {
    json!({"type": "output_text", "text": text, "annotations": []})
}

pub(crate) fn refusal_part(text: &str) -> Value {
    json!({"type": "refusal", "refusal": text})
}

/// The part is empty: its text follows in deltas.
pub(crate) fn part_added(item: &str, index: usize, part: &Value) -> Value {
    json!({
        "type": "response.content_part.added",
        "item_id": item,
        "output_index": index,
        "content_index": 0,
        "part": part,
    })
}

pub(crate) fn text_delta(item: &str, index: usize, delta: &str) -> Value {
    json!({
        "type": "response.output_text.delta",
        "item_id": item,
        "output_index": index,
        "content_index": 0,
        "delta": delta,
    })
}

pub(crate) fn text_done(item: &str, index: usize, text: &str) -> Value {
    json!({
        "type": "response.output_text.done",
        "item_id": item,
        "output_index": index,
        "content_index": 0,
        "text": text,
    })
}

pub(crate) fn refusal_delta(item: &str, index: usize, delta: &str) -> Value {
    json!({
        "type": "response.refusal.delta",
        "item_id": item,
        "output_index": index,
        "content_index": 0,
        "delta": delta,
    })
}

pub(crate) fn refusal_done(item: &str, index: usize, refusal: &str) -> Value {
    json!({
        "type": "response.refusal.done",
        "item_id": item,
        "output_index": index,
        "content_index": 0,
        "refusal": refusal,
    })
}

/// A function call; it is in progress as long as its arguments are not known.
pub(crate) fn function_call_item(
    id: &str,
    call_id: &str,
    name: &str,
    namespace: Option<&str>,
    arguments: Option<&str>,
) -> Value {
    let mut item = json!({
        "type": "function_call",
        "id": id,
        "call_id": call_id,
        "name": name,
        "arguments": arguments.unwrap_or_default(),
        "status": status(arguments.is_some()),
    });
    if let Some(namespace) = namespace {
        item["namespace"] = namespace.into();
    }
    item
}

pub(crate) fn arguments_delta(item: &str, index: usize, delta: &str) -> Value {
    json!({
        "type": "response.function_call_arguments.delta",
        "item_id": item,
        "output_index": index,
        "delta": delta,
    })
}

pub(crate) fn arguments_done(item: &str, index: usize, arguments: &str) -> Value {
    json!({
        "type": "response.function_call_arguments.done",
        "item_id": item,
        "output_index": index,
        "arguments": arguments,
    })
}

pub(crate) fn custom_call_item(id: &str, call_id: &str, name: &str, input: Option<&str>) -> Value {
    json!({
        "type": "custom_tool_call",
        "id": id,
        "call_id": call_id,
        "name": name,
        "input": input.unwrap_or_default(),
        "status": status(input.is_some()),
    })
}

pub(crate) fn custom_input_delta(item: &str, index: usize, delta: &str) -> Value {
    json!({
        "type": "response.custom_tool_call_input.delta",
        "item_id": item,
        "output_index": index,
        "delta": delta,
    })
}

pub(crate) fn custom_input_done(item: &str, index: usize, input: &str) -> Value {
    json!({
        "type": "response.custom_tool_call_input.done",
        "item_id": item,
        "output_index": index,
        "input": input,
    })
}

pub(crate) fn local_shell_item(id: &str, call_id: &str, command: &[&str], done: bool) -> Value {
    json!({
        "type": "local_shell_call",
        "id": id,
        "call_id": call_id,
        "status": status(done),
        "action": {"type": "exec", "command": command},
    })
}

pub(crate) fn tool_search_item(id: &str, call_id: &str, done: bool) -> Value {
    json!({
        "type": "tool_search_call",
        "id": id,
        "call_id": call_id,
        "status": status(done),
        "execution": "client",
        "arguments": {"q": "x"},
    })
}

/// Every event of a reasoning item: summary parts, raw text, or both.
pub(crate) fn reasoning(id: &str, index: usize, summary: &[&str], raw: Option<&str>) -> Vec<Value> {
    let opened = json!({
        "type": "reasoning", "id": id, "summary": [], "encrypted_content": null,
    });
    let mut closed = json!({
        "type": "reasoning",
        "id": id,
        "summary": summary.iter().copied().map(summary_part).collect::<Vec<_>>(),
        "encrypted_content": "ENCRYPTED_BLOB",
    });
    let mut events = vec![item_added(index, &opened)];
    for (part, text) in summary.iter().enumerate() {
        events.extend(summary_events(id, index, part, text));
    }
    if let Some(raw) = raw {
        events.extend(halves(raw).map(|delta| {
            json!({
                "type": "response.reasoning_text.delta",
                "item_id": id,
                "output_index": index,
                "content_index": 0,
                "delta": delta,
            })
        }));
        closed["content"] = json!([{"type": "reasoning_text", "text": raw}]);
    }
    events.push(item_done(index, &closed));
    events
}

fn summary_events(id: &str, index: usize, part: usize, text: &str) -> Vec<Value> {
    let event = |kind: &str, field: &str, value: Value| {
        json!({
            "type": format!("response.{kind}"),
            "item_id": id,
            "output_index": index,
            "summary_index": part,
            field: value,
        })
    };
    let mut events = vec![event("reasoning_summary_part.added", "part", summary_part(""))];
    events.extend(
        halves(text).map(|half| event("reasoning_summary_text.delta", "delta", half.into())),
    );
    events.push(event("reasoning_summary_text.done", "text", text.into()));
    events.push(event("reasoning_summary_part.done", "part", summary_part(text)));
    events
}

fn summary_part(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

fn halves(text: &str) -> impl Iterator<Item = &str> {
    let (first, second) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [first, second].into_iter()
}

fn status(done: bool) -> &'static str {
    if done { "completed" } else { "in_progress" }
}
