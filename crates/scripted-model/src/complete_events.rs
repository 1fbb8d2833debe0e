//! The events of a response with everything that OpenAI's have, for gateways that pass them on.
//! Codex needs none of it, so that it is spared them.

use serde_json::{Value, json};

/// Completes the events of one response.
#[derive(Debug)]
pub(crate) struct CompleteEvents {
    model: String,
    created: u64,
    id: Value,
    items: Vec<Value>,
    sent: u64,
}

// === impl CompleteEvents ===

impl CompleteEvents {
    pub(crate) fn new(model: &str, created: u64) -> Self {
        Self { model: model.to_owned(), created, id: Value::Null, items: Vec::new(), sent: 0 }
    }

    /// What OpenAI would send in the place of this event.
    pub(crate) fn complete(&mut self, mut event: Value) -> Vec<Value> {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let mut behind = None;
        match kind.as_str() {
            "response.created" => {
                self.id = event["response"]["id"].clone();
                event["response"] = self.response(&event["response"]);
                let mut started = event.clone();
                started["type"] = "response.in_progress".into();
                behind = Some(started);
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                event["response"] = self.response(&event["response"]);
            }
            "response.output_text.delta" => event["logprobs"] = json!([]),
            "response.output_text.done" => {
                event["logprobs"] = json!([]);
                behind = Some(part_done(&event, text_part(&event["text"])));
            }
            "response.refusal.done" => {
                let part = json!({"type": "refusal", "refusal": event["refusal"]});
                behind = Some(part_done(&event, part));
            }
            "response.output_item.done" => self.items.push(event["item"].clone()),
            _ => {}
        }
        let mut events: Vec<Value> = [event].into_iter().chain(behind).collect();
        for event in &mut events {
            event["sequence_number"] = self.sent.into();
            self.sent += 1;
        }
        events
    }

    /// A whole response object: what is told, and OpenAI's defaults.
    fn response(&self, told: &Value) -> Value {
        let mut response = json!({
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": told["status"],
            "background": false,
            "error": told["error"],
            "incomplete_details": told["incomplete_details"],
            "instructions": null,
            "max_output_tokens": null,
            "model": self.model,
            "output": self.items,
            "parallel_tool_calls": true,
            "previous_response_id": null,
            "reasoning": {"effort": null, "summary": null},
            "store": true,
            "temperature": 1.0,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "truncation": "disabled",
            "usage": told["usage"],
            "user": null,
            "metadata": {},
        });
        if response["id"].is_null() {
            response["id"] = told["id"].clone();
        }
        response
    }
}

/// The end of a part, at the position of the event that ends its text.
fn part_done(event: &Value, part: Value) -> Value {
    let mut done = event.clone();
    done["type"] = "response.content_part.done".into();
    done["part"] = part;
    if let Some(done) = done.as_object_mut() {
        for field in ["text", "refusal", "logprobs"] {
            done.remove(field);
        }
    }
    done
}

fn text_part(text: &Value) -> Value {
    json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []})
}

#[cfg(test)]
mod tests;
