//! What an answer says, from both APIs, streamed and not.

use memchr::memmem;
use serde_json::Value;
use testkit::read_response;

/// Which of the two is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Chat,
    Responses,
}

/// How the answer comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Streamed,
    Whole,
}

/// Everything that an answer says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) calls: Vec<Call>,
    /// Of a response.
    pub(crate) id: String,
    /// Whether the turn had a thread of its own.
    pub(crate) continuity: String,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

// === impl Api ===

impl Api {
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
        }
    }

    /// Whether a body has text of the model so far.
    pub(crate) fn has_text(self, body: &[u8]) -> bool {
        match self {
            // The role comes with an empty text.
            Self::Chat => memmem::find_iter(body, br#""content":""#)
                .any(|at| body.get(at + 11).is_some_and(|next| *next != b'"')),
            Self::Responses => memmem::find(body, b"response.output_text.delta").is_some(),
        }
    }
}

// === impl Answer ===

impl Answer {
    pub(crate) fn read(api: Api, delivery: Delivery, body: &str) -> Result<Self, String> {
        let answer = match (api, delivery) {
            (Api::Chat, Delivery::Streamed) => Self::of_chunks(body),
            (Api::Chat, Delivery::Whole) => Self::of_completion(&json(body)?),
            (Api::Responses, Delivery::Streamed) => {
                let frames = body.split_inclusive("\n\n").filter(|frame| !frame.starts_with(": "));
                let read = read_response(&frames.collect::<String>());
                if read.error.is_some() {
                    return Err(format!("an error in the stream: {:?}", read.error));
                }
                Self::of_response(&read.response)
            }
            (Api::Responses, Delivery::Whole) => Self::of_response(&json(body)?),
        };
        answer.map_err(|wrong| format!("{wrong}: {}", body.chars().take(2_000).collect::<String>()))
    }

    fn of_chunks(body: &str) -> Result<Self, String> {
        let (mut answer, mut finish, mut is_done) = (Self::default(), None, false);
        for frame in body.split_terminator("\n\n").filter(|frame| !frame.starts_with(": ")) {
            let data = frame.strip_prefix("data: ").ok_or("neither data nor a comment")?;
            if is_done {
                return Err("something behind [DONE]".to_owned());
            }
            if data == "[DONE]" {
                is_done = true;
                continue;
            }
            let chunk = json(data)?;
            let choice = &chunk["choices"][0];
            if finish.is_some() && !choice.is_null() || !chunk["error"].is_null() {
                return Err("an error, or something behind the finish frame".to_owned());
            }
            answer.text.push_str(choice["delta"]["content"].as_str().unwrap_or_default());
            for call in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
                let more = string(&call["function"]["arguments"]);
                let is_next = call["index"] == answer.calls.len();
                match answer.calls.last_mut() {
                    _ if is_next => answer.calls.push(Call::of_chat(call)),
                    Some(last) if call["id"].is_null() => last.arguments.push_str(&more),
                    _ => return Err("a call out of its turn".to_owned()),
                }
            }
            finish = finish.or(choice["finish_reason"].as_str().map(str::to_owned));
        }
        if !is_done {
            return Err("no [DONE]".to_owned());
        }
        answer.finished(finish.as_deref())
    }

    fn of_completion(completion: &Value) -> Result<Self, String> {
        let choice = &completion["choices"][0];
        let calls = choice["message"]["tool_calls"].as_array().into_iter().flatten();
        let answer = Self {
            text: choice["message"]["content"].as_str().unwrap_or_default().to_owned(),
            calls: calls.map(Call::of_chat).collect(),
            ..Self::default()
        };
        answer.finished(choice["finish_reason"].as_str())
    }

    fn of_response(response: &Value) -> Result<Self, String> {
        let mut answer = Self { id: string(&response["id"]), ..Self::default() };
        for item in response["output"].as_array().into_iter().flatten() {
            if item["type"] == "function_call" {
                answer.calls.push(Call {
                    id: string(&item["call_id"]),
                    name: string(&item["name"]),
                    arguments: string(&item["arguments"]),
                });
            }
            for part in item["content"].as_array().into_iter().flatten() {
                answer.text.push_str(part["text"].as_str().unwrap_or_default());
            }
        }
        if response["status"] == "completed" { Ok(answer) } else { Err("not completed".to_owned()) }
    }

    fn finished(self, reason: Option<&str>) -> Result<Self, String> {
        let due = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        if reason == Some(due) { Ok(self) } else { Err(format!("it ends as {reason:?}")) }
    }
}

// === impl Call ===

impl Call {
    fn of_chat(call: &Value) -> Self {
        Self {
            id: string(&call["id"]),
            name: string(&call["function"]["name"]),
            arguments: string(&call["function"]["arguments"]),
        }
    }
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
