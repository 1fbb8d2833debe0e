//! The items and events that a client should get.

use serde_json::{Value, json};

pub(super) fn completed(output: &Value) -> Value {
    let usage = json!({
        "input_tokens": 2,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 3,
    });
    json!({"type": "response.completed", "response": {
        "status": "completed", "completed_at": 9, "output": output, "usage": usage,
    }})
}

fn added(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: usize, item: &Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn part(text: &str) -> Value {
    json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text})
}

pub(super) fn message(id: &str, status: &str, text: &str) -> Value {
    json!({
        "type": "message", "id": id, "status": status, "content": [part(text)],
        "role": "assistant",
    })
}

/// All events of a message that is told in these pieces.
pub(super) fn message_events(index: usize, item: &Value, pieces: &[&str]) -> Vec<Value> {
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    begun["content"] = json!([]);
    let id = &item["id"];
    let event = |event: &str, member: &str, value: Value| {
        let mut event = json!({
            "type": event, "item_id": id, "output_index": index, "content_index": 0,
        });
        event[member] = value;
        event
    };
    let with_logprobs = |mut event: Value| {
        event["logprobs"] = json!([]);
        event
    };
    let text = pieces.concat();
    let mut events =
        vec![added(index, &begun), event("response.content_part.added", "part", part(""))];
    events.extend(
        pieces
            .iter()
            .map(|piece| with_logprobs(event("response.output_text.delta", "delta", json!(piece)))),
    );
    events.extend([
        with_logprobs(event("response.output_text.done", "text", json!(text))),
        event("response.content_part.done", "part", part(&text)),
        done(index, item),
    ]);
    events
}

pub(super) fn call(id: &str, call_id: &str, arguments: &str) -> Value {
    json!({
        "type": "function_call", "id": id, "status": "completed", "arguments": arguments,
        "call_id": call_id, "name": "f",
    })
}

/// All events of a call whose arguments are told in these pieces.
pub(super) fn call_events(index: usize, item: &Value, pieces: &[&str]) -> Vec<Value> {
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    begun["arguments"] = json!("");
    let id = &item["id"];
    let mut events = vec![added(index, &begun)];
    events.extend(pieces.iter().map(|piece| {
        json!({
            "type": "response.function_call_arguments.delta",
            "item_id": id, "output_index": index, "delta": piece,
        })
    }));
    events.extend([
        json!({
            "type": "response.function_call_arguments.done",
            "item_id": id, "output_index": index, "name": "f", "arguments": pieces.concat(),
        }),
        done(index, item),
    ]);
    events
}

pub(super) fn custom_call(id: &str, call_id: &str, input: &str) -> Value {
    json!({
        "type": "custom_tool_call", "id": id, "status": "completed", "input": input,
        "call_id": call_id, "name": "f",
    })
}

/// All events of a call of a custom tool whose input is emitted in these pieces.
pub(super) fn custom_call_events(index: usize, item: &Value, pieces: &[&str]) -> Vec<Value> {
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    begun["input"] = json!("");
    let event = |event: &str, member: &str, text: &str| {
        let event = format!("response.custom_tool_call_input.{event}");
        json!({"type": event, "item_id": item["id"], "output_index": index, member: text})
    };
    let mut events = vec![added(index, &begun)];
    events.extend(pieces.iter().map(|piece| event("delta", "delta", piece)));
    events.extend([event("done", "input", &pieces.concat()), done(index, item)]);
    events
}

pub(super) fn reasoning(id: &str, parts: &[&[&str]]) -> Value {
    let summary =
        parts.iter().map(|pieces| json!({"type": "summary_text", "text": pieces.concat()}));
    json!({"type": "reasoning", "id": id, "summary": summary.collect::<Vec<_>>()})
}

/// All events of reasoning that is told in these pieces of parts.
pub(super) fn reasoning_events(index: usize, item: &Value, parts: &[&[&str]]) -> Vec<Value> {
    let id = &item["id"];
    let mut events = vec![added(index, &json!({"type": "reasoning", "id": id, "summary": []}))];
    for (number, pieces) in parts.iter().enumerate() {
        let event = |event: &str, member: &str, value: Value| {
            let mut event = json!({
                "type": event, "item_id": id, "output_index": index, "summary_index": number,
            });
            event[member] = value;
            event
        };
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        let text = pieces.concat();
        events.push(event("response.reasoning_summary_part.added", "part", part("")));
        events.extend(
            pieces
                .iter()
                .map(|piece| event("response.reasoning_summary_text.delta", "delta", json!(piece))),
        );
        events.push(event("response.reasoning_summary_text.done", "text", json!(text)));
        events.push(event("response.reasoning_summary_part.done", "part", part(&text)));
    }
    events.push(done(index, item));
    events
}
