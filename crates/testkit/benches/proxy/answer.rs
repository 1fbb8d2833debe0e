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

    pub(crate) fn read(body: &[u8], delivery: Delivery) -> Self {
        let mut answer = Self::default();
        match delivery {
            Delivery::Whole => answer.add(body),
            Delivery::Streamed => {
                let body = std::str::from_utf8(body).expect("a stream that is not UTF-8");
                let mut data = body.split("\n\n").filter_map(|frame| frame.strip_prefix("data: "));
                let mut last = data.next().expect("an empty stream");
                for next in data {
                    answer.add(last.as_bytes());
                    last = next;
                }
                assert_eq!(last.trim_end(), "[DONE]", "a stream that does not end");
            }
        }
        answer
    }

    /// Adds a completion or a chunk of one.
    fn add(&mut self, json: &[u8]) {
        let said: Completion = serde_json::from_slice(json).unwrap_or_else(|error| {
            panic!("{error} in {}", String::from_utf8_lossy(json));
        });
        for Choice { message, finish_reason } in said.choices {
            if let Some(content) = message.content.filter(|content| !content.is_empty()) {
                self.text += &content;
                self.content_frames += 1;
            }
            for Call { function } in message.tool_calls.unwrap_or_default() {
                match (function.name, self.calls.last_mut()) {
                    (None, Some((_, arguments))) => *arguments += &function.arguments,
                    (name, _) => {
                        self.calls.push((name.unwrap_or_default(), function.arguments));
                    }
                }
            }
            self.finish_reason.extend(finish_reason);
        }
    }
}
