//! A chat completion that is not streamed.

use serde::Serialize;
use serde::ser::SerializeStruct as _;

use crate::call_part::WholeCall;
use crate::usage::Usage;

/// The answer as a whole.
#[derive(Debug, Serialize)]
pub struct ChatCompletion<'a> {
    /// `chatcmpl-…`
    pub id: &'a str,
    /// Always `chat.completion`.
    pub object: &'static str,
    /// Seconds since 1970.
    pub created: u64,
    /// The model, by the name that the request gave it.
    pub model: &'a str,
    /// One for each of `n`.
    pub choices: Vec<Choice>,
    /// Token counts.
    pub usage: Usage,
}

/// One choice.
#[derive(Debug, Serialize)]
pub struct Choice {
    /// Its place.
    pub index: u32,
    /// What the model said.
    pub message: Message,
    /// Always null: the backend gives none.
    pub logprobs: (),
    /// Why it ended.
    pub finish_reason: &'static str,
}

/// What the model said.
#[derive(Debug)]
pub struct Message {
    /// Text.
    pub content: Option<String>,
    /// Why it does not answer.
    pub refusal: Option<String>,
    /// A reasoning summary.
    pub reasoning_content: Option<String>,
    /// Calls.
    pub calls: Vec<WholeCall>,
    /// Whether they are written as the legacy `function_call`.
    pub legacy: bool,
}

// === impl Message ===

impl Serialize for Message {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut message = serializer.serialize_struct("Message", 6)?;
        message.serialize_field("role", "assistant")?;
        message.serialize_field("content", &self.content)?;
        message.serialize_field("refusal", &self.refusal)?;
        if let Some(reasoning) = &self.reasoning_content {
            message.serialize_field("reasoning_content", reasoning)?;
        }
        match self.calls.first() {
            None => {}
            Some(call) if self.legacy => {
                message.serialize_field("function_call", &call.called())?;
            }
            Some(_) => message.serialize_field("tool_calls", &self.calls)?,
        }
        message.end()
    }
}

#[cfg(test)]
mod tests {
    use model_turn::ToolCallKind;
    use serde_json::json;

    use super::*;

    fn call(kind: ToolCallKind, text: &str) -> WholeCall {
        let (id, name) = ("1".to_owned(), "f".to_owned());
        WholeCall { id, namespace: None, name, kind, text: text.to_owned() }
    }

    fn written(calls: Vec<WholeCall>, legacy: bool) -> String {
        let message =
            Message { content: None, refusal: None, reasoning_content: None, calls, legacy };
        serde_json::to_string(&message).unwrap()
    }

    #[test]
    fn calls_are_left_out_when_there_are_none() {
        assert_eq!(written(vec![], false), r#"{"role":"assistant","content":null,"refusal":null}"#);
    }

    #[test]
    fn one_member_holds_the_calls() {
        let head = r#"{"role":"assistant","content":null,"refusal":null"#;
        let inside =
            WholeCall { namespace: Some("n".to_owned()), ..call(ToolCallKind::Custom, "a") };
        let calls = || vec![call(ToolCallKind::Function, "{}"), inside.clone()];
        let function = r#"{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}"#;
        let custom =
            r#"{"id":"1","type":"custom","namespace":"n","custom":{"name":"f","input":"a"}}"#;
        assert_eq!(
            written(calls(), false),
            format!(r#"{head},"tool_calls":[{function},{custom}]}}"#)
        );
        let legacy = r#""function_call":{"name":"f","arguments":"{}"}}"#;
        assert_eq!(written(calls(), true), format!("{head},{legacy}"));
    }

    #[test]
    fn the_envelope_is_whole() {
        let completion = ChatCompletion {
            id: "chatcmpl-1",
            object: "chat.completion",
            created: 1,
            model: "m",
            choices: vec![Choice {
                index: 0,
                message: Message {
                    content: Some("hi".to_owned()),
                    refusal: None,
                    reasoning_content: Some("why".to_owned()),
                    calls: vec![],
                    legacy: false,
                },
                logprobs: (),
                finish_reason: "stop",
            }],
            usage: Usage::default(),
        };
        assert_eq!(
            serde_json::to_value(&completion).unwrap(),
            json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m",
                "choices": [{
                    "index": 0,
                    "message": {
                        "role": "assistant", "content": "hi", "refusal": null,
                        "reasoning_content": "why",
                    },
                    "logprobs": null,
                    "finish_reason": "stop",
                }],
                "usage": {
                    "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0,
                    "prompt_tokens_details": {"cached_tokens": 0},
                    "completion_tokens_details": {"reasoning_tokens": 0},
                },
            })
        );
    }
}
