//! A request without what was said: its structure, and the words that are OpenAI's own.

use serde_json::Value;

use super::json::JsonMask;

/// Members of requests whose names say nothing.
#[rustfmt::skip]
const MEMBERS: [&str; 84] = [
    "messages", "role", "content", "type", "text", "refusal", "image_url", "url", "detail", "input_audio",
    "data", "format", "file", "file_data", "file_id", "filename", "tool_calls", "id", "function", "name",
    "arguments", "tool_call_id", "function_call", "reasoning_content", "audio", "tools", "functions",
    "description", "strict", "parameters", "tool_choice", "allowed_tools", "mode", "custom", "input",
    "parallel_tool_calls", "model", "stream", "stream_options", "include_usage", "include_obfuscation", "n",
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty",
    "logit_bias", "logprobs", "top_logprobs", "seed", "stop", "response_format", "json_schema", "schema",
    "reasoning_effort", "verbosity", "user", "store", "metadata", "service_tier", "modalities", "prediction",
    "safety_identifier", "prompt_cache_key", "web_search_options", "instructions", "previous_response_id",
    "call_id", "output", "reasoning", "effort", "summary", "generate_summary", "encrypted_content", "phase",
    "status", "annotations", "include", "truncation", "max_output_tokens", "max_tool_calls", "background",
];

/// Numbers that stay: options of the request itself.
const OPTIONS: [&str; 10] = [
    "temperature",
    "top_p",
    "n",
    "max_tokens",
    "max_completion_tokens",
    "presence_penalty",
    "frequency_penalty",
    "top_logprobs",
    "max_output_tokens",
    "max_tool_calls",
];

/// What stays of a `role`.
const ROLES: [&str; 6] = ["system", "developer", "user", "assistant", "tool", "function"];

/// What stays of a `type`.
const TYPES: [&str; 20] = [
    "text",
    "refusal",
    "image_url",
    "input_audio",
    "file",
    "function",
    "custom",
    "allowed_tools",
    "json_object",
    "json_schema",
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
    "item_reference",
    "input_text",
    "output_text",
    "summary_text",
    "input_image",
    "input_file",
];

/// Types of data that stay; every other is one of bytes.
const MEDIA: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const BYTES: &str = "application/octet-stream";

// === impl JsonMask ===

impl JsonMask {
    /// Masks a request. The model is known from the header.
    pub(super) fn request(&mut self, request: &mut Value, model: &str) {
        let Value::Object(members) = request else { return self.opaque(request) };
        for (name, mut value) in std::mem::take(members) {
            let stays = match &value {
                Value::Number(_) => OPTIONS.contains(&name.as_str()),
                Value::String(text) => name == "model" && text == model,
                _ => false,
            };
            if stays {
                members.insert(name, value);
            } else {
                self.named(&name, &mut value);
                self.put(members, name, value);
            }
        }
    }

    fn member(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => *number = self.number(number),
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.member(name, entry)),
            Value::String(text) => *text = self.said(name, text),
            Value::Object(members) => {
                for (name, mut member) in std::mem::take(members) {
                    self.named(&name, &mut member);
                    self.put(members, name, member);
                }
            }
        }
    }

    pub(super) fn named(&mut self, name: &str, value: &mut Value) {
        match name {
            "parameters" | "schema" => self.schema(value),
            // They hold whatever a client likes.
            "metadata" | "logit_bias" => self.opaque(value),
            known if MEMBERS.contains(&known) => self.member(known, value),
            _ => self.opaque(value),
        }
    }

    fn put(&mut self, members: &mut serde_json::Map<String, Value>, name: String, value: Value) {
        if MEMBERS.contains(&name.as_str()) {
            members.insert(name, value);
        } else {
            self.insert_masked(members, &name, value);
        }
    }

    fn said(&mut self, name: &str, text: &str) -> String {
        match name {
            "role" if ROLES.contains(&text) => text.to_owned(),
            "type" if TYPES.contains(&text) => text.to_owned(),
            "id" | "tool_call_id" | "call_id" | "previous_response_id" => self.id(text),
            "url" | "image_url" | "file_data" => {
                without_data(text).unwrap_or_else(|| self.text(text))
            }
            _ => self.text(text),
        }
    }
}

/// A data URL's type and size.
fn without_data(text: &str) -> Option<String> {
    let (kind, data) = text.strip_prefix("data:")?.split_once(',')?;
    let kind = kind.split(';').next().unwrap_or_default();
    let kind = MEDIA.into_iter().find(|known| *known == kind).unwrap_or(BYTES);
    Some(format!("data:{kind},({} bytes)", data.len()))
}

#[cfg(test)]
mod tests;
