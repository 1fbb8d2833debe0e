//! A request for a chat completion, told as one for a response: the scenarios know only those.

use serde_json::{Map, Value, json};

/// The same request in the other API's words.
pub(crate) fn as_response_request(body: &Value) -> Value {
    let input: Vec<Value> = list(body, "messages").iter().flat_map(items).collect();
    let tools: Vec<Value> = list(body, "tools").iter().map(tool).collect();
    json!({"input": input, "tools": tools, "stream": body["stream"]})
}

fn items(message: &Value) -> Vec<Value> {
    let content = &message["content"];
    if message["role"] == "tool" {
        let call = &message["tool_call_id"];
        return vec![json!({"type": "function_call_output", "call_id": call, "output": content})];
    }
    let mut items = Vec::new();
    if !content.is_null() {
        items.push(json!({"type": "message", "role": message["role"], "content": content}));
    }
    items.extend(list(message, "tool_calls").iter().map(|call| {
        json!({
            "type": "function_call",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        })
    }));
    items
}

/// What a response's tool has in itself, a chat's has in `function`.
fn tool(tool: &Value) -> Value {
    let mut flat = Map::from_iter([("type".to_owned(), Value::from("function"))]);
    flat.extend(tool["function"].as_object().cloned().unwrap_or_default());
    flat.into()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}
