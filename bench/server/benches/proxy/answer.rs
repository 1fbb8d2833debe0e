//! A chat completion as a client understands it.

use serde::Deserialize;

use crate::case::Delivery;

/// What an answer said, streamed or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) text: String,
    /// Name and argument text of each call.
    pub(crate) calls: Vec<(String, String)>,
    /// Frames that brought text; one if it came as a whole.
    pub(crate) content_frames: usize,
    pub(crate) finish_reason: String,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(alias = "delta")]
    message: Message,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
    tool_calls: Option<Vec<Call>>,
}

#[derive(Deserialize)]
struct Call {
    function: Function,
}

#[derive(Deserialize)]
struct Function {
    name: Option<String>,
    arguments: String,
}

// === impl Answer ===

impl Answer {
    pub(crate) fn finished(reason: &str) -> Self {
        Self { finish_reason: reason.to_owned(), ..Self::default() }
    }

    /// Says why it cannot be read.
    pub(crate) fn read(body: &[u8], delivery: Delivery) -> Result<Self, String> {
        let mut answer = Self::default();
        match delivery {
            Delivery::Whole => answer.add(body)?,
            Delivery::Streamed => {
                let body = std::str::from_utf8(body).map_err(|error| error.to_string())?;
                let mut data = body.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
                let mut last = data.next().ok_or("an empty stream")?;
                for next in data {
                    answer.add(last.as_bytes())?;
                    last = next;
                }
                if last.trim_end() != "[DONE]" {
                    return Err("a stream without an end".to_owned());
                }
            }
        }
        Ok(answer)
    }

    /// Adds a completion or a chunk of one.
    fn add(&mut self, json: &[u8]) -> Result<(), String> {
        let said: Completion = serde_json::from_slice(json)
            .map_err(|error| format!("{error} in {}", String::from_utf8_lossy(json)))?;
        for Choice { message, finish_reason } in said.choices {
            if let Some(content) = message.content.filter(|content| !content.is_empty()) {
                self.text += &content;
                self.content_frames += 1;
            }
            for Call { function } in message.tool_calls.unwrap_or_default() {
                match (function.name.filter(|name| !name.is_empty()), self.calls.last_mut()) {
                    (None, Some((_, arguments))) => *arguments += &function.arguments,
                    (name, _) => {
                        self.calls.push((name.unwrap_or_default(), function.arguments));
                    }
                }
            }
            self.finish_reason.extend(finish_reason);
        }
        Ok(())
    }
}
