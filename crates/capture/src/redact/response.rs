//! A response without what was said. It repeats the request, and that is masked like a request.

use serde_json::Value;

use super::json::JsonMask;
use crate::mask::Mask;
use crate::response::ResponseHeader;

/// Members of events and of response objects whose text is ours.
const OUR_WORDS: [&str; 10] = [
    "type",
    "object",
    "status",
    "id",
    "item_id",
    "model",
    "role",
    "phase",
    "reason",
    "service_tier",
];

/// Members of response objects that repeat what a client has written.
const REPEATED: [&str; 9] = [
    "instructions",
    "metadata",
    "previous_response_id",
    "prompt_cache_key",
    "reasoning",
    "safety_identifier",
    "tool_choice",
    "tools",
    "user",
];

// === impl JsonMask ===

impl JsonMask {
    /// Masks what a response repeats. Its letters keep their places, so that its length is the same.
    pub(super) fn response(&mut self, response: &mut ResponseHeader) {
        let ResponseHeader {
            include_encrypted: _,
            instructions,
            max_output_tokens: _,
            max_tool_calls: _,
            parallel_tool_calls: _,
            previous_response_id,
            prompt_cache_key,
            reasoning,
            safety_identifier,
            service_tier: _,
            store: _,
            text,
            tool_choice,
            tools,
            truncation: _,
            user,
            metadata,
        } = response;
        let texts = [instructions, prompt_cache_key, safety_identifier, user];
        for text in texts.into_iter().flatten() {
            *text = self.text(text);
        }
        if let Some(id) = previous_response_id {
            *id = self.id(id);
        }
        let values = [
            ("metadata", metadata),
            ("reasoning", reasoning),
            ("text", text),
            ("tool_choice", tool_choice),
            ("tools", tools),
        ];
        for (name, value) in values {
            self.named(name, value);
        }
    }

    /// Masks an event; what the answer says is masked as in the turn's events.
    pub(super) fn response_frame(&mut self, frame: &str, mask: &mut Mask) -> String {
        let parts = frame.strip_suffix("\n\n").and_then(|frame| frame.split_once("\ndata: "));
        match parts {
            Some((event, data)) if event.starts_with("event: ") => {
                format!("{event}\ndata: {}\n\n", self.response_body(data, mask))
            }
            // Comments are ours; they count.
            None if frame.starts_with(':') => frame.to_owned(),
            _ => self.text(frame),
        }
    }

    /// Masks a whole response, or what an event tells.
    pub(super) fn response_body(&mut self, body: &str, mask: &mut Mask) -> String {
        let Ok(Value::Object(members)) = serde_json::from_str(body) else {
            return self.text(body);
        };
        let mut body = Value::Object(members);
        self.response_member("", &mut body, mask);
        body.to_string()
    }

    fn response_member(&mut self, name: &str, value: &mut Value, mask: &mut Mask) {
        match value {
            value if name == "error" => self.error(value),
            value if REPEATED.contains(&name) => self.opaque(value),
            // The form of the answer, and not what it says.
            value @ Value::Object(_) if name == "text" => self.opaque(value),
            Value::String(text) if !OUR_WORDS.contains(&name) => *text = mask.text(text),
            // Numbers are counts and times.
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            Value::Array(entries) => {
                for entry in entries {
                    self.response_member(name, entry, mask);
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    self.response_member(name, value, mask);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
