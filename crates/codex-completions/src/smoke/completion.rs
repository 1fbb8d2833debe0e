//! A chat completion as a client takes it in, streamed or not.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::http::Answer;
use super::mismatch::{Mismatch, expect_json};

/// What was said.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// In the pieces in which it came; `None` is null.
    pub(super) content: Option<Vec<String>>,
    pub(super) calls: Vec<Call>,
    pub(super) finish_reason: String,
    pub(super) telemetry: Telemetry,
}

/// A whole call.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
}

/// What the server tells about its calls.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Telemetry {
    pub(super) tool_call_count: usize,
    pub(super) tool_call_truncated: bool,
    pub(super) stop_after_tools_mode: String,
}

// === impl Completion ===

impl Completion {
    /// Reads an answer that was not streamed.
    pub(super) fn read(answer: &Answer, model: &str) -> Result<Self, Mismatch> {
        let mut body: Value = serde_json::from_str(&answer.body)
            .map_err(|_| Mismatch::new("body", "JSON", &answer.body))?;
        check_envelope(&body, "chat.completion", model)?;
        check_usage(&body["usage"])?;
        let choice = &mut body["choices"][0];
        let message = choice["message"].take();
        expect_json("message.role", "assistant", &message["role"])?;
        let calls = message["tool_calls"].as_array().cloned().unwrap_or_default();
        Ok(Self {
            content: message["content"].as_str().map(|text| vec![text.to_owned()]),
            calls: calls.iter().map(Call::read).collect::<Result<_, _>>()?,
            finish_reason: text(&choice["finish_reason"]),
            telemetry: Telemetry::of_headers(answer)?,
        })
    }

    /// Everything that was said.
    pub(super) fn text(&self) -> String {
        self.content.as_deref().unwrap_or_default().concat()
    }
}

/// What is around every answer and every frame.
pub(super) fn check_envelope(body: &Value, object: &str, model: &str) -> Result<(), Mismatch> {
    if let Some(message) = body["error"]["message"].as_str() {
        return Err(Mismatch::new("answer", "a completion", format!("an error: {message}")));
    }
    expect_json("object", object, &body["object"])?;
    expect_json("model", model, &body["model"])?;
    if !text(&body["id"]).starts_with("chatcmpl-") || !body["created"].is_u64() {
        let expected = "an id that begins with chatcmpl- and a time";
        return Err(Mismatch::new("envelope", expected, body.to_string()));
    }
    Ok(())
}

pub(super) fn check_usage(usage: &Value) -> Result<(), Mismatch> {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (asked, said) = (count("prompt_tokens"), count("completion_tokens"));
    if asked > 0 && said > 0 && count("total_tokens") == asked + said {
        return Ok(());
    }
    Err(Mismatch::new("usage", "token counts and their sum", usage.to_string()))
}

/// A text; empty if it is none.
pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The names of an object's members.
pub(super) fn members(value: &Value) -> Vec<&str> {
    value.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect()
}

// === impl Call ===

impl Call {
    /// A call that is told as a whole, or begun.
    pub(super) fn read(call: &Value) -> Result<Self, Mismatch> {
        let function = &call["function"];
        let is_text = call["id"].is_string() && function["arguments"].is_string();
        if call["type"] != "function" || !function["name"].is_string() || !is_text {
            let expected = "one with id, type function, name and arguments as text";
            return Err(Mismatch::new("call", expected, call.to_string()));
        }
        Ok(Self {
            id: text(&call["id"]),
            name: text(&function["name"]),
            arguments: text(&function["arguments"]),
        })
    }
}

// === impl Telemetry ===

impl Telemetry {
    fn of_headers(answer: &Answer) -> Result<Self, Mismatch> {
        let (count, truncated) = ("x-codex-tool-call-count", "x-codex-tool-call-truncated");
        let unreadable =
            |name: &str, expected: &str| Mismatch::new(name, expected, answer.header(name));
        Ok(Self {
            tool_call_count: answer
                .header(count)
                .parse()
                .map_err(|_| unreadable(count, "a number"))?,
            tool_call_truncated: answer
                .header(truncated)
                .parse()
                .map_err(|_| unreadable(truncated, "true or false"))?,
            stop_after_tools_mode: answer.header("x-codex-stop-after-tools-mode").to_owned(),
        })
    }
}
