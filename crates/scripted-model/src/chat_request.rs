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
    // A chat's results do not name the kind of their call; readers here go by the id alone.
    if message["role"] == "tool" {
        let call = &message["tool_call_id"];
        return vec![json!({"type": "function_call_output", "call_id": call, "output": content})];
    }
    let mut items = Vec::new();
    if !content.is_null() {
        items.push(json!({"type": "message", "role": message["role"], "content": content}));
    }
    items.extend(list(message, "tool_calls").iter().map(call));
    items
}

fn call(call: &Value) -> Value {
    if call["type"] == "custom" {
        return json!({
            "type": "custom_tool_call",
            "call_id": call["id"],
            "name": call["custom"]["name"],
            "input": call["custom"]["input"],
        });
    }
    json!({
        "type": "function_call",
        "call_id": call["id"],
        "name": call["function"]["name"],
        "arguments": call["function"]["arguments"],
    })
}

/// What a response's tool has in itself, a chat's has in a member named like its type; tools of
/// other kinds have no such member, and stay as they are.
fn tool(tool: &Value) -> Value {
    let kind = tool["type"].as_str().unwrap_or("function");
    let Some(members) = tool[kind].as_object() else { return tool.clone() };
    let mut flat = Map::from_iter([("type".to_owned(), Value::from(kind))]);
    flat.extend(members.clone());
    flat.into()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests;
