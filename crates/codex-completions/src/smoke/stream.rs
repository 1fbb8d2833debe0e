//! A streamed completion, read as strictly as the strictest client does.

use serde_json::{Value, json};

use super::completion::{Call, Completion, Telemetry, check_envelope, check_usage, members, text};
use super::mismatch::{Mismatch, expect, expect_json};

/// Reads the body of a stream to its end.
pub(super) fn read(body: &str, model: &str) -> Result<Completion, Mismatch> {
    let mut reading = Reading {
        stage: Stage::Role,
        model,
        id: None,
        completion: Completion { content: Some(Vec::new()), ..Completion::default() },
    };
    for frame in frames(body)? {
        reading.take(frame)?;
    }
    match reading.stage {
        Stage::Done => Ok(reading.completion),
        stage => Err(Mismatch::new("stream", stage.expects(), "its end")),
    }
}

/// What a stream consists of.
enum Frame<'a> {
    Comment(&'a str),
    Data(Value),
    Done,
}

/// What was read last, and so what may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Role,
    Content,
    Telemetry,
    Usage,
    DoneMark,
    Done,
}

struct Reading<'a> {
    stage: Stage,
    model: &'a str,
    /// Of the first frame, and so of all.
    id: Option<String>,
    completion: Completion,
}

fn frames(body: &str) -> Result<Vec<Frame<'_>>, Mismatch> {
    let whole = body.strip_suffix("\n\n");
    let whole = whole.ok_or_else(|| Mismatch::new("stream", "frames, each with its end", body))?;
    whole.split("\n\n").map(Frame::read).collect()
}

// === impl Frame ===

impl<'a> Frame<'a> {
    fn read(frame: &'a str) -> Result<Self, Mismatch> {
        let unreadable = || Mismatch::new("frame", "data with JSON, or a comment", frame);
        if frame.contains('\n') {
            return Err(unreadable());
        }
        if let Some(comment) = frame.strip_prefix(": ") {
            return Ok(Self::Comment(comment));
        }
        match frame.strip_prefix("data: ") {
            Some("[DONE]") => Ok(Self::Done),
            Some(data) => serde_json::from_str(data).map(Self::Data).map_err(|_| unreadable()),
            None => Err(unreadable()),
        }
    }
}

// === impl Stage ===

impl Stage {
    fn expects(self) -> &'static str {
        match self {
            Self::Role => "a first frame with the role",
            Self::Content => "content, calls or a finish frame",
            Self::Telemetry => "the telemetry comment after the finish frame",
            Self::Usage => "the usage frame after the telemetry comment",
            Self::DoneMark => "data: [DONE]",
            Self::Done => "nothing after data: [DONE]",
        }
    }
}

// === impl Reading ===

impl Reading<'_> {
    fn take(&mut self, frame: Frame<'_>) -> Result<(), Mismatch> {
        match (self.stage, frame) {
            // A slow server may say that it is still there.
            (Stage::Role | Stage::Content, Frame::Comment("keep-alive")) => Ok(()),
            (Stage::Role, Frame::Data(chunk)) => self.begin(&chunk),
            (Stage::Content, Frame::Data(chunk)) => self.go_on(&chunk),
            (Stage::Telemetry, Frame::Comment(comment)) => self.take_telemetry(comment),
            (Stage::Usage, Frame::Data(chunk)) => self.take_usage(&chunk),
            (Stage::DoneMark, Frame::Done) => {
                self.stage = Stage::Done;
                Ok(())
            }
            (stage, frame) => {
                let found = match frame {
                    Frame::Comment(comment) => format!("the comment {comment:?}"),
                    Frame::Data(data) => data.to_string(),
                    Frame::Done => "data: [DONE]".to_owned(),
                };
                Err(Mismatch::new("stream", stage.expects(), found))
            }
        }
    }

    fn begin(&mut self, chunk: &Value) -> Result<(), Mismatch> {
        self.check_envelope(chunk)?;
        let expected = json!([
            {"index": 0, "delta": {"role": "assistant", "content": ""}, "finish_reason": null},
        ]);
        expect_json("choices of the first frame", expected, &chunk["choices"])?;
        self.stage = Stage::Content;
        Ok(())
    }

    fn go_on(&mut self, chunk: &Value) -> Result<(), Mismatch> {
        self.check_envelope(chunk)?;
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        let is_last = choice["finish_reason"].is_string();
        match (members(delta).as_slice(), is_last) {
            (["content"], false) => {
                self.completion.content.get_or_insert_default().push(text(&delta["content"]));
            }
            (["reasoning_content"], false) => {}
            (["tool_calls"], false) => self.take_call(&delta["tool_calls"])?,
            ([], true) => {
                self.completion.finish_reason = text(&choice["finish_reason"]);
                self.stage = Stage::Telemetry;
            }
            _ => {
                let expected = "a frame with either content, or a call, or a finish reason";
                return Err(Mismatch::new("frame", expected, chunk.to_string()));
            }
        }
        Ok(())
    }

    /// A frame has one call: its beginning, or more of the one that was begun last.
    fn take_call(&mut self, entries: &Value) -> Result<(), Mismatch> {
        expect("calls in one frame", &Some(1), &entries.as_array().map(Vec::len))?;
        let entry = &entries[0];
        let calls = &mut self.completion.calls;
        let is_begun = |index: u64| usize::try_from(index).is_ok_and(|at| at + 1 == calls.len());
        if members(entry) == ["index", "function"] {
            if entry["index"].as_u64().is_some_and(is_begun)
                && let Some(call) = calls.last_mut()
            {
                call.arguments.push_str(&text(&entry["function"]["arguments"]));
                return Ok(());
            }
            let expected = "arguments of the call that was begun last";
            return Err(Mismatch::new("call", expected, entry.to_string()));
        }
        expect_json("index of a new call", calls.len(), &entry["index"])?;
        calls.push(Call::read(entry)?);
        Ok(())
    }

    fn take_telemetry(&mut self, comment: &str) -> Result<(), Mismatch> {
        let telemetry: Telemetry = serde_json::from_str(comment)
            .map_err(|_| Mismatch::new("stream", self.stage.expects(), comment))?;
        self.completion.telemetry = telemetry;
        self.stage = Stage::Usage;
        Ok(())
    }

    fn take_usage(&mut self, chunk: &Value) -> Result<(), Mismatch> {
        self.check_envelope(chunk)?;
        expect_json("choices of the usage frame", json!([]), &chunk["choices"])?;
        check_usage(&chunk["usage"])?;
        self.stage = Stage::DoneMark;
        Ok(())
    }

    fn check_envelope(&mut self, chunk: &Value) -> Result<(), Mismatch> {
        check_envelope(chunk, "chat.completion.chunk", self.model)?;
        let id = text(&chunk["id"]);
        expect("id of a frame", self.id.get_or_insert_with(|| id.clone()), &id)
    }
}

#[cfg(test)]
mod tests;
