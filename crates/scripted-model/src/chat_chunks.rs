//! The events of a response, told as the chunks of a chat completion.

use std::collections::HashMap;

use serde_json::{Value, json};

/// Whether usage was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsageWish {
    Asked,
    Unasked,
}

/// Makes the chunks of one answer.
#[derive(Debug)]
pub(crate) struct ChatChunks {
    id: String,
    model: String,
    created: u64,
    wish: UsageWish,
    /// The index of each call among the calls, by its index among all items.
    calls: HashMap<u64, usize>,
    /// Whether the open message has been told by deltas.
    has_deltas: bool,
}

// === impl ChatChunks ===

impl ChatChunks {
    pub(crate) fn new(model: &str, created: u64, wish: UsageWish) -> Self {
        Self {
            id: String::new(),
            model: model.to_owned(),
            created,
            wish,
            calls: HashMap::new(),
            has_deltas: false,
        }
    }

    /// The data of the frames that an event becomes.
    pub(crate) fn frames(&mut self, event: &Value) -> Vec<String> {
        match event["type"].as_str().unwrap_or_default() {
            "response.created" => {
                self.id = chat_id(&event["response"]);
                self.delta(&json!({"role": "assistant", "content": "", "refusal": null}))
            }
            "response.output_item.added" if is_call(&event["item"]) => {
                let index = self.calls.len();
                self.calls.insert(output_index(event), index);
                let mut call = call(&event["item"]);
                call["index"] = index.into();
                self.delta(&json!({ "tool_calls": [call] }))
            }
            "response.function_call_arguments.delta" => {
                self.more(event, "function", &json!({"arguments": event["delta"]}))
            }
            "response.custom_tool_call_input.delta" => {
                self.more(event, "custom", &json!({"input": event["delta"]}))
            }
            "response.output_text.delta" => {
                self.has_deltas = true;
                self.delta(&json!({"content": event["delta"]}))
            }
            "response.refusal.delta" => self.delta(&json!({"refusal": event["delta"]})),
            "response.output_item.done" if event["item"]["type"] == "message" => {
                let is_told = std::mem::take(&mut self.has_deltas);
                match parts_of(&event["item"], "text") {
                    text if is_told || text.is_empty() => Vec::new(),
                    text => self.delta(&json!({ "content": text })),
                }
            }
            "response.completed" | "response.incomplete" => self.end(&event["response"]),
            "response.failed" => vec![json!({"error": error(&event["response"])}).to_string()],
            _ => Vec::new(),
        }
    }

    /// An increment of a call that has begun.
    fn more(&self, event: &Value, kind: &str, members: &Value) -> Vec<String> {
        match self.calls.get(&output_index(event)) {
            Some(index) => self.delta(&json!({ "tool_calls": [{"index": index, kind: members}] })),
            None => Vec::new(),
        }
    }

    fn end(&self, response: &Value) -> Vec<String> {
        let reason = finish_reason(response, self.calls.len());
        let mut frames = vec![self.chunk(&json!({}), &reason.into())];
        if self.wish == UsageWish::Asked {
            let mut chunk = self.envelope();
            chunk["choices"] = json!([]);
            chunk["usage"] = usage(&response["usage"]);
            frames.push(chunk.to_string());
        }
        frames.push("[DONE]".to_owned());
        frames
    }

    fn delta(&self, delta: &Value) -> Vec<String> {
        vec![self.chunk(delta, &Value::Null)]
    }

    fn chunk(&self, delta: &Value, finish_reason: &Value) -> String {
        let mut chunk = self.envelope();
        chunk["choices"] = json!([{
            "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason,
        }]);
        if self.wish == UsageWish::Asked {
            chunk["usage"] = Value::Null;
        }
        chunk.to_string()
    }

    fn envelope(&self) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
        })
    }
}

/// A whole response, told as a chat completion.
pub(crate) fn completion(response: &Value) -> Value {
    let items = response["output"].as_array().map_or(&[][..], Vec::as_slice);
    let joined = |field| items.iter().map(|item| parts_of(item, field)).collect::<String>();
    let (text, refusal) = (joined("text"), joined("refusal"));
    let calls: Vec<Value> = items.iter().filter(|item| is_call(item)).map(call).collect();
    let has_others = !calls.is_empty() || !refusal.is_empty();
    let content = if text.is_empty() && has_others { Value::Null } else { text.into() };
    let refusal = if refusal.is_empty() { Value::Null } else { refusal.into() };
    let mut message = json!({"role": "assistant", "content": content, "refusal": refusal});
    let reason = finish_reason(response, calls.len());
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    json!({
        "id": chat_id(response),
        "object": "chat.completion",
        "created": response["created_at"],
        "model": response["model"],
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
        "usage": usage(&response["usage"]),
    })
}

/// What went wrong, in the form of OpenAI's errors.
pub(crate) fn error(response: &Value) -> Value {
    let told = &response["error"];
    json!({"message": told["message"], "type": "server_error", "param": null, "code": told["code"]})
}

fn chat_id(response: &Value) -> String {
    response["id"].as_str().unwrap_or_default().replace("resp_", "chatcmpl-")
}

fn finish_reason(response: &Value, calls: usize) -> &'static str {
    match response["incomplete_details"]["reason"].as_str() {
        Some("content_filter") => "content_filter",
        Some(_) => "length",
        None if calls > 0 => "tool_calls",
        None => "stop",
    }
}

fn output_index(event: &Value) -> u64 {
    event["output_index"].as_u64().unwrap_or_default()
}

fn is_call(item: &Value) -> bool {
    item["type"] == "function_call" || item["type"] == "custom_tool_call"
}

fn call(item: &Value) -> Value {
    if item["type"] == "custom_tool_call" {
        let custom = json!({"name": item["name"], "input": item["input"]});
        return json!({"id": item["call_id"], "type": "custom", "custom": custom});
    }
    json!({
        "id": item["call_id"],
        "type": "function",
        "function": {"name": item["name"], "arguments": item["arguments"]},
    })
}

/// The texts or the refusals of a message, joined.
fn parts_of(item: &Value, field: &str) -> String {
    let parts = item["content"].as_array().into_iter().flatten();
    parts.filter_map(|part| part[field].as_str()).collect()
}

fn usage(told: &Value) -> Value {
    json!({
        "prompt_tokens": told["input_tokens"],
        "completion_tokens": told["output_tokens"],
        "total_tokens": told["total_tokens"],
        "prompt_tokens_details": told["input_tokens_details"],
        "completion_tokens_details": told["output_tokens_details"],
    })
}

#[cfg(test)]
mod tests;
