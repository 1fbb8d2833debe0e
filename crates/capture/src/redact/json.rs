//! JSON without what was said: its structure, and the words that are OpenAI's own.

use serde_json::{Map, Number, Value};

use crate::mask::Mask;

/// Masks JSON values.
pub(super) struct JsonMask<'m>(pub(super) &'m mut Mask);

/// Members of requests, answers and errors whose names say nothing.
#[rustfmt::skip]
const MEMBERS: [&str; 82] = [
    "messages", "role", "content", "type", "text", "refusal", "image_url", "url", "detail", "input_audio",
    "data", "format", "file", "file_data", "file_id", "filename", "tool_calls", "id", "function", "name",
    "arguments", "tool_call_id", "function_call", "reasoning_content", "audio", "tools", "functions",
    "description", "strict", "parameters", "tool_choice", "allowed_tools", "mode", "custom", "input",
    "parallel_tool_calls", "model", "stream", "stream_options", "include_usage", "include_obfuscation", "n",
    "temperature", "top_p", "max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty",
    "logit_bias", "logprobs", "top_logprobs", "seed", "stop", "response_format", "json_schema", "schema",
    "reasoning_effort", "verbosity", "user", "store", "metadata", "service_tier", "modalities", "prediction",
    "safety_identifier", "prompt_cache_key", "web_search_options",
    "object", "created", "choices", "index", "delta", "message", "finish_reason", "usage", "error", "param",
    "code", "prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details",
];

/// Members whose text is one of OpenAI's own words, or an id.
const WORDS: [&str; 18] = [
    "role",
    "type",
    "detail",
    "format",
    "id",
    "tool_call_id",
    "file_id",
    "tool_choice",
    "mode",
    "model",
    "reasoning_effort",
    "verbosity",
    "service_tier",
    "modalities",
    "object",
    "finish_reason",
    "code",
    "param",
];

/// Members that hold whatever a client likes.
const OPAQUE: [&str; 2] = ["metadata", "logit_bias"];

/// Keywords of a schema whose text is one of the schema's own words.
const SCHEMA_WORDS: [&str; 4] = ["type", "format", "$ref", "$schema"];

/// Keywords of a schema that hold values.
const SCHEMA_VALUES: [&str; 5] = ["enum", "const", "default", "examples", "example"];

/// Longest text that can be an id or one of OpenAI's words.
const LONGEST_ID: usize = 64;

// === impl JsonMask ===

impl JsonMask<'_> {
    /// Masks a request, an answer or an error.
    pub(super) fn known(&mut self, value: &mut Value) {
        self.member(None, value);
    }

    fn member(&mut self, key: Option<&str>, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.member(key, entry)),
            Value::String(text) => {
                let is_word = key.is_some_and(|key| WORDS.contains(&key)) && is_id(text);
                if !is_word {
                    *text = without_data(text).unwrap_or_else(|| self.0.text(text));
                }
            }
            Value::Object(members) => {
                for (name, mut member) in std::mem::take(members) {
                    match name.as_str() {
                        "parameters" | "schema" => self.schema(&mut member),
                        known if OPAQUE.contains(&known) => self.opaque(&mut member),
                        known if MEMBERS.contains(&known) => self.member(Some(known), &mut member),
                        _ => {
                            self.opaque(&mut member);
                            members.insert(self.0.text(&name), member);
                            continue;
                        }
                    }
                    members.insert(name, member);
                }
            }
        }
    }

    /// Masks a JSON schema: its keywords and the names in it stay.
    pub(super) fn schema(&mut self, schema: &mut Value) {
        match schema {
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.schema(entry)),
            Value::Object(members) => {
                for (keyword, value) in members {
                    let keyword = keyword.as_str();
                    let is_word = SCHEMA_WORDS.contains(&keyword) && is_schema_word(value);
                    if SCHEMA_VALUES.contains(&keyword) {
                        self.opaque(value);
                    } else if !is_word {
                        self.schema(value);
                    }
                }
            }
            // The names of parameters that are required stay by themselves.
            Value::String(text) => *text = self.0.text(text),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Masks everything, names and numbers too.
    fn opaque(&mut self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let masked = self.0.text(&number.to_string());
                *number = serde_json::from_str(&masked).unwrap_or_else(|_| Number::from(0));
            }
            Value::String(text) => *text = without_data(text).unwrap_or_else(|| self.0.text(text)),
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.opaque(entry)),
            Value::Object(members) => {
                *members = std::mem::take(members)
                    .into_iter()
                    .map(|(name, mut member)| {
                        self.opaque(&mut member);
                        (self.0.text(&name), member)
                    })
                    .collect::<Map<_, _>>();
            }
        }
    }
}

/// Whether a text looks like an id, or like one of OpenAI's own words.
pub(super) fn is_id(text: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/[]".contains(&byte);
    text.len() <= LONGEST_ID && text.bytes().all(is_usual)
}

fn is_schema_word(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(entries) => entries.iter().all(Value::is_string),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// A data URL's type and size.
fn without_data(text: &str) -> Option<String> {
    let (kind, data) = text.strip_prefix("data:")?.split_once(',')?;
    is_id(&kind.replace([';', '+', '='], "")).then(|| format!("data:{kind},({} bytes)", data.len()))
}
