//! What a client or we received, without its words.

use serde_json::Value;

use super::json::JsonMask;
use crate::mask::Mask;

/// Members of errors.
const ERROR_MEMBERS: [&str; 6] = ["error", "message", "type", "param", "code", "detail"];

/// Codes and types of errors that stay: those that OpenAI documents, that Codex's side is asked for, and
/// our own.
#[rustfmt::skip]
const ERROR_WORDS: [&str; 34] = [
    "authentication_error", "codex_login_required", "codex_unavailable", "codex_untested", "content_filter",
    "content_policy_violation", "context_length_exceeded", "insufficient_quota", "invalid_api_key",
    "invalid_prompt", "invalid_request_error", "invalid_type", "invalid_value", "max_output_tokens",
    "missing_required_parameter", "model_not_found", "not_found_error", "output_too_large", "overloaded",
    "permission_error", "rate_limit_error", "rate_limit_exceeded", "server_error", "shutting_down",
    "slow_client", "stream_cut", "timeout", "tokens", "unexpected", "unsupported_parameter",
    "unsupported_value", "upstream_bad_request", "upstream_error", "upstream_unreachable",
];

/// It ends a stream.
const LAST_DATA: &str = "[DONE]";

/// Members of choices whose text is ours.
const OUR_WORDS: [&str; 3] = ["role", "type", "finish_reason"];

// === impl JsonMask ===

impl JsonMask {
    /// Masks an upstream's or our own error.
    pub(super) fn error(&mut self, error: &mut Value) {
        let Value::Object(members) = error else { return self.opaque(error) };
        for (name, mut member) in std::mem::take(members) {
            let is_word = member.as_str().is_some_and(|word| ERROR_WORDS.contains(&word));
            match name.as_str() {
                "error" => self.error(&mut member),
                "type" | "code" if is_word => {}
                _ => self.opaque(&mut member),
            }
            if ERROR_MEMBERS.contains(&name.as_str()) {
                members.insert(name, member);
            } else {
                self.insert_masked(members, &name, member);
            }
        }
    }

    /// Masks a frame; what the answer says is masked as in the events.
    pub(super) fn frame(&mut self, frame: &str, mask: &mut Mask) -> String {
        match frame.strip_prefix("data: ").and_then(|data| data.strip_suffix("\n\n")) {
            Some(LAST_DATA) => frame.to_owned(),
            Some(data) => format!("data: {}\n\n", self.body(data, mask)),
            // Comments are ours; they count.
            None if frame.starts_with(':') => frame.to_owned(),
            None => self.text(frame),
        }
    }

    /// Masks a whole answer, or a part of it.
    pub(super) fn body(&mut self, body: &str, mask: &mut Mask) -> String {
        let Ok(Value::Object(mut members)) = serde_json::from_str(body) else {
            return self.text(body);
        };
        for (name, value) in &mut members {
            match name.as_str() {
                "error" => self.error(value),
                "choices" => self.choices("", value, mask),
                // The rest is ours: ids, times, counts.
                _ => {}
            }
        }
        Value::Object(members).to_string()
    }

    fn choices(&mut self, name: &str, value: &mut Value, mask: &mut Mask) {
        match value {
            Value::Number(number) if name != "index" => *number = self.number(number),
            Value::String(text) if !OUR_WORDS.contains(&name) => *text = mask.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            Value::Array(entries) => {
                for entry in entries {
                    self.choices(name, entry, mask);
                }
            }
            Value::Object(members) => {
                for (name, value) in members {
                    self.choices(name, value, mask);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
