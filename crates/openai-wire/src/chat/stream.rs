//! The frames of a streamed chat completion, written straight into a buffer.

use bytes::{BufMut as _, BytesMut};

use crate::call_part::CallPart;
use crate::error::ApiError;
use crate::frame::{END, put_json};
use crate::usage::Usage;

/// Writes the frames of one stream: the same envelope around every frame.
#[derive(Debug)]
pub struct ChunkWriter {
    /// From `data: ` to the members of a choice.
    before_choice: String,
    /// What follows the list of choices.
    after_choices: &'static str,
    /// From `data: ` to the list of choices.
    before_choices: String,
}

// === impl ChunkWriter ===

impl ChunkWriter {
    /// A writer for a stream. With `usage` every frame has that member, `null` but in the last.
    pub fn new(id: &str, created: u64, model: &str, include_usage: bool) -> Self {
        let model = serde_json::Value::from(model);
        let before_choices = format!(
            r#"data: {{"id":"{id}","object":"chat.completion.chunk","created":{created},"model":{model},"choices":["#
        );
        Self {
            before_choice: format!(r#"{before_choices}{{"index":"#),
            after_choices: if include_usage { r#"],"usage":null}"# } else { "]}" },
            before_choices,
        }
    }

    /// The first frame of a choice.
    pub fn role(&self, choice: u32, buffer: &mut BytesMut) {
        self.delta(choice, buffer, |buffer| {
            buffer.put_slice(br#""role":"assistant","content":"""#);
        });
    }

    /// More content.
    pub fn content(&self, choice: u32, text: &str, buffer: &mut BytesMut) {
        self.delta(choice, buffer, |buffer| {
            buffer.put_slice(br#""content":"#);
            put_json(text, buffer);
        });
    }

    /// The text of a refusal.
    pub fn refusal(&self, choice: u32, text: &str, buffer: &mut BytesMut) {
        self.delta(choice, buffer, |buffer| {
            buffer.put_slice(br#""refusal":"#);
            put_json(text, buffer);
        });
    }

    /// More of a reasoning summary.
    pub fn reasoning(&self, choice: u32, text: &str, buffer: &mut BytesMut) {
        self.delta(choice, buffer, |buffer| {
            buffer.put_slice(br#""reasoning_content":"#);
            put_json(text, buffer);
        });
    }

    /// A call, or more of one.
    pub fn tool_call(&self, choice: u32, call: &CallPart<'_>, buffer: &mut BytesMut) {
        self.delta(choice, buffer, |buffer| {
            buffer.put_slice(br#""tool_calls":["#);
            put_json(call, buffer);
            buffer.put_slice(b"]");
        });
    }

    /// The call of a client that declared `functions`.
    pub fn function_call(&self, choice: u32, call: &CallPart<'_>, buffer: &mut BytesMut) {
        self.delta(choice, buffer, |buffer| {
            buffer.put_slice(br#""function_call":"#);
            put_json(&call.called(), buffer);
        });
    }

    /// The last frame of a choice.
    pub fn finish(&self, choice: u32, reason: &str, buffer: &mut BytesMut) {
        self.open(choice, buffer);
        buffer.put_slice(br#","delta":{},"finish_reason":""#);
        buffer.put_slice(reason.as_bytes());
        buffer.put_slice(br#""}"#);
        self.close(buffer);
    }

    /// The frame of the token counts.
    pub fn usage(&self, usage: &Usage, buffer: &mut BytesMut) {
        buffer.put_slice(self.before_choices.as_bytes());
        buffer.put_slice(br#"],"usage":"#);
        put_json(usage, buffer);
        buffer.put_slice(b"}");
        buffer.put_slice(END.as_bytes());
    }

    fn delta(&self, choice: u32, buffer: &mut BytesMut, members: impl FnOnce(&mut BytesMut)) {
        self.open(choice, buffer);
        buffer.put_slice(br#","delta":{"#);
        members(buffer);
        buffer.put_slice(br#"},"finish_reason":null}"#);
        self.close(buffer);
    }

    fn open(&self, choice: u32, buffer: &mut BytesMut) {
        buffer.put_slice(self.before_choice.as_bytes());
        put_json(&choice, buffer);
    }

    fn close(&self, buffer: &mut BytesMut) {
        buffer.put_slice(self.after_choices.as_bytes());
        buffer.put_slice(END.as_bytes());
    }
}

/// An error in a stream that has begun.
pub fn error_frame(error: &ApiError, buffer: &mut BytesMut) {
    buffer.put_slice(b"data: ");
    buffer.put_slice(error.to_json().as_bytes());
    buffer.put_slice(END.as_bytes());
}

/// The end of every stream.
pub fn done(buffer: &mut BytesMut) {
    buffer.put_slice(b"data: [DONE]\n\n");
}

#[cfg(test)]
mod tests {
    use model_turn::ToolCallKind;

    use super::*;
    use crate::call_part::CallHead;
    use crate::frame::comment;

    fn written(include_usage: bool, write: impl FnOnce(&ChunkWriter, &mut BytesMut)) -> String {
        let writer = ChunkWriter::new("chatcmpl-1", 7, "a \"model\"", include_usage);
        let mut buffer = BytesMut::new();
        write(&writer, &mut buffer);
        String::from_utf8(buffer.to_vec()).unwrap()
    }

    #[test]
    fn every_frame_has_the_whole_envelope() {
        let head = CallHead { id: "1", namespace: None, name: "f" };
        let kind = ToolCallKind::Function;
        let function = CallPart { index: 0, head: Some(head), kind, text: "" };
        let more = CallPart { index: 0, head: None, kind, text: "{}" };
        let inside = CallHead { namespace: Some("n"), ..head };
        let custom =
            CallPart { index: 1, head: Some(inside), kind: ToolCallKind::Custom, text: "a" };
        let frames = written(false, |writer, buffer| {
            writer.role(0, buffer);
            writer.content(1, "a\"b\n\u{1}é", buffer);
            writer.refusal(0, "no", buffer);
            writer.reasoning(0, "why", buffer);
            for call in [function, more, custom] {
                writer.tool_call(0, &call, buffer);
            }
            writer.function_call(0, &function, buffer);
            writer.finish(0, "stop", buffer);
            writer.usage(&Usage::default(), buffer);
            comment("{}", buffer);
            error_frame(&ApiError::invalid("n", "no"), buffer);
            done(buffer);
        });
        let head = r#"data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":7,"model":"a \"model\"","choices":["#;
        let usage = r#"{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0,"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}"#;
        let expected = [
            format!(r#"{head}{{"index":0,"delta":{{"role":"assistant","content":""}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":1,"delta":{{"content":"a\"b\n\u0001é"}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":0,"delta":{{"refusal":"no"}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":0,"delta":{{"reasoning_content":"why"}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":0,"delta":{{"tool_calls":[{{"index":0,"id":"1","type":"function","function":{{"name":"f","arguments":""}}}}]}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":0,"delta":{{"tool_calls":[{{"index":0,"function":{{"arguments":"{{}}"}}}}]}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":0,"delta":{{"tool_calls":[{{"index":1,"id":"1","type":"custom","namespace":"n","custom":{{"name":"f","input":"a"}}}}]}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":0,"delta":{{"function_call":{{"name":"f","arguments":""}}}},"finish_reason":null}}]}}"#),
            format!(r#"{head}{{"index":0,"delta":{{}},"finish_reason":"stop"}}]}}"#),
            format!(r#"{head}],"usage":{usage}}}"#),
            ": {}".to_owned(),
            r#"data: {"error":{"message":"no","type":"invalid_request_error","param":"n","code":"invalid_value"}}"#.to_owned(),
            "data: [DONE]".to_owned(),
        ];
        assert_eq!(frames, expected.map(|frame| frame + "\n\n").concat());
    }

    #[test]
    fn usage_is_null_until_its_frame_where_it_is_wanted() {
        let frame = written(true, |writer, buffer| writer.finish(0, "stop", buffer));
        assert!(frame.ends_with("\"finish_reason\":\"stop\"}],\"usage\":null}\n\n"), "{frame}");
    }
}
