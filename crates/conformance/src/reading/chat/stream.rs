//! A streamed chat completion.

use std::collections::BTreeMap;
use std::mem;

use serde_json::{Map, Value, json};

use super::super::{
    Ending, Frame, Mismatch, Piece, Received, Sink, SseReader, Strict, Telemetry, members,
};
use super::choice::OpenChoice;
use super::{Completion, Terms, UsageWish, is_usage};
use crate::rule::RuleId;

/// A stream that is being read.
pub struct ChatStream<S> {
    terms: Terms,
    sink: S,
    frames: SseReader,
    /// [`ENVELOPE`] of the first frame, and so of all.
    envelope: Option<[Value; 3]>,
    choices: BTreeMap<u64, OpenChoice>,
    usage: Option<Value>,
    usage_frames: usize,
    telemetry: Option<Value>,
    error: Option<Value>,
    done_marks: usize,
    pieces: Vec<Piece>,
}

/// What all frames have in common.
const ENVELOPE: [&str; 3] = ["id", "created", "model"];

/// What our own server sends next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Role,
    Content,
    Telemetry,
    Usage,
    /// Whether usage is asked for is not known.
    UsageOrDoneMark,
    DoneMark,
    Nothing,
}

// === impl ChatStream ===

impl ChatStream<Strict> {
    /// Reads a whole stream of our own server.
    ///
    /// # Errors
    /// The first fault.
    pub fn read(body: &str, terms: Terms) -> Result<Completion, Mismatch> {
        let mut stream = Self::new(terms, Strict::default());
        stream.take(body.as_bytes());
        stream.finish()
    }

    /// # Errors
    /// The first fault so far.
    pub fn outcome(&self) -> Result<(), Mismatch> {
        self.sink.outcome()
    }

    /// What the answer says, when its body has come to a proper end.
    ///
    /// # Errors
    /// The first fault.
    pub fn finish(self) -> Result<Completion, Mismatch> {
        let (completion, sink) = self.end(Ending::Whole);
        sink.outcome().map(|()| completion)
    }
}

impl<S: Sink> ChatStream<S> {
    /// A stream of which nothing has come.
    pub fn new(terms: Terms, sink: S) -> Self {
        Self {
            terms,
            sink,
            frames: SseReader::default(),
            envelope: None,
            choices: BTreeMap::new(),
            usage: None,
            usage_frames: 0,
            telemetry: None,
            error: None,
            done_marks: 0,
            pieces: Vec::new(),
        }
    }

    /// Takes bytes as they come.
    pub fn take(&mut self, bytes: &[u8]) -> Vec<Piece> {
        for received in self.frames.take(bytes) {
            self.take_frame(&received);
        }
        mem::take(&mut self.pieces)
    }

    /// What the answer says, and what it was reported to.
    pub fn end(mut self, ending: Ending) -> (Completion, S) {
        let is_clean = self.frames.is_clean() && ending == Ending::Whole;
        for received in self.frames.end() {
            if let Frame::Unfinished(text) = &received.frame
                && ending == Ending::Whole
            {
                let fault = || Mismatch::new("stream", "frames, each with its end", text);
                self.sink.rule(RuleId::ChatSseFrames, false, fault);
            }
        }
        let due = self.due();
        self.sink.ours(is_clean && due == Due::Nothing, || {
            let end = if ending == Ending::Whole { "its end" } else { ending.in_words() };
            Mismatch::new("stream", due.in_words(), end)
        });
        let indices = 0..self.terms.choices.unwrap_or(self.choices.len()) as u64;
        self.sink.ours(self.choices.keys().copied().eq(indices.clone()), || {
            let found = format!("{:?}", self.choices.keys());
            Mismatch::new("indices of the choices", format!("{indices:?}"), &found)
        });
        self.check_end(ending);
        let choices = self.choices.into_values().map(OpenChoice::end);
        let Self { usage, telemetry, error, sink, .. } = self;
        (Completion { choices: choices.collect(), usage, telemetry, error }, sink)
    }

    fn check_end(&mut self, ending: Ending) {
        let (is_finished, has_failed) = (self.is_finished(), self.error.is_some());
        let Self { sink, done_marks, usage_frames, .. } = self;
        let done =
            || Mismatch::new("[DONE]", "once", &format!("{done_marks}; {}", ending.in_words()));
        if has_failed {
            sink.rule(RuleId::ChatDoneAfterError, *done_marks > 0, done);
        }
        // Without an end of its own an answer is broken off, which other rules are about.
        if *done_marks > 1 || (!has_failed && ending == Ending::Whole) {
            sink.rule(RuleId::ChatDoneOnce, *done_marks == 1, done);
        }
        let finish = || Mismatch::new("finish_reason", "one before the end of the stream", "none");
        if is_finished {
            sink.rule(RuleId::ChatNothingAfterFinish, true, finish);
        }
        if has_failed || ending != Ending::Whole {
            return;
        }
        if !is_finished {
            sink.rule(RuleId::ChatFinishFrame, false, finish);
        }
        let usage = || Mismatch::new("frames with usage and `choices: []`", "1", usage_frames);
        match self.terms.usage {
            UsageWish::Asked => sink.rule(RuleId::ChatUsageAsked, *usage_frames == 1, usage),
            UsageWish::Unasked => sink.rule(RuleId::ChatUsageUnasked, true, usage),
            UsageWish::Unknown => {}
        }
    }

    fn is_finished(&self) -> bool {
        !self.choices.is_empty()
            && self.choices.len() >= self.terms.choices.unwrap_or(1)
            && self.choices.values().all(OpenChoice::is_finished)
    }

    fn due(&self) -> Due {
        let may_have_usage = self.error.is_none() && self.usage_frames == 0;
        match (self.telemetry.is_some(), self.terms.usage) {
            _ if self.done_marks > 0 => Due::Nothing,
            (true, UsageWish::Asked) if may_have_usage => Due::Usage,
            (true, UsageWish::Unknown) if may_have_usage => Due::UsageOrDoneMark,
            (true, _) => Due::DoneMark,
            (false, _) if self.error.is_some() || self.is_finished() => Due::Telemetry,
            (false, _) if self.choices.is_empty() => Due::Role,
            (false, _) => Due::Content,
        }
    }

    fn take_frame(&mut self, Received { frame, is_plain, .. }: &Received) {
        let unreadable = || {
            let found = frame.to_string();
            Mismatch::new("frame", "data with JSON, or a comment", found.trim_end())
        };
        self.sink.ours(*is_plain, unreadable);
        let (name, data) = match frame {
            Frame::Comment(text) => return self.take_comment(text),
            Frame::Event { name, data } => (name, data),
            Frame::Unfinished(_) => return,
        };
        if data == "[DONE]" {
            self.expect(&[Due::DoneMark, Due::UsageOrDoneMark], "data: [DONE]");
        }
        if self.done_marks > 0 {
            self.sink.rule(RuleId::ChatDoneOnce, false, || {
                Mismatch::new("stream", "nothing after data: [DONE]", data)
            });
        }
        // `message` is what the standard calls an event without a name.
        if name.as_deref().is_some_and(|name| !["", "message"].contains(&name)) {
            self.sink.rule(RuleId::ChatSseFrames, false, unreadable);
        }
        self.sink.ours(name.is_none(), unreadable);
        if data == "[DONE]" {
            self.done_marks += 1;
            return;
        }
        let chunk: Value = serde_json::from_str(data).unwrap_or_default();
        self.sink.rule(RuleId::ChatSseFrames, chunk.is_object(), unreadable);
        if chunk.is_object() {
            self.take_chunk(&chunk);
        }
    }

    /// Our own server sends this where one of these is due.
    fn expect(&mut self, expected: &[Due], found: &(impl ToString + ?Sized)) {
        let due = self.due();
        let is_due = expected.contains(&due);
        self.sink.ours(is_due, || Mismatch::new("stream", due.in_words(), found));
    }

    fn take_comment(&mut self, text: &str) {
        if !S::OURS {
            return;
        }
        let found = format!("the comment {text:?}");
        // A slow server may say that it is still there.
        if text == "keep-alive" {
            return self.expect(&[Due::Role, Due::Content], &found);
        }
        self.expect(&[Due::Telemetry], &found);
        match Telemetry::read(text) {
            Ok(telemetry) => {
                let several = Some(self.choices.len()).filter(|choices| *choices > 1);
                let has_each = telemetry.per_choice.len() == several.unwrap_or_default();
                self.sink
                    .ours(has_each, || Mismatch::new("per_choice", format!("{several:?}"), text));
                self.telemetry = serde_json::from_str(text).ok();
                self.pieces.push(Piece::Telemetry(telemetry));
            }
            Err(fault) => self.sink.ours(false, || fault),
        }
    }

    fn take_chunk(&mut self, chunk: &Value) {
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !chunk["error"].is_null() {
            return self.take_error(chunk, choices);
        }
        self.check_envelope(chunk);
        self.take_usage(chunk, choices.is_empty());
        self.sink.ours(choices.len() < 2, || Mismatch::new("choices in one frame", "1", chunk));
        for choice in choices {
            self.take_choice(chunk, choice);
        }
    }

    fn take_error(&mut self, chunk: &Value, choices: &[Value]) {
        let error = &chunk["error"];
        self.expect(&[Due::Role, Due::Content], chunk);
        self.sink.rule(RuleId::ChatErrorFrame, error["message"].is_string(), || {
            Mismatch::new("error frame", "one with a message", chunk)
        });
        let is_exact = members(chunk) == ["error"]
            && members(error) == ["message", "type", "param", "code"]
            && error["message"] != ""
            && error["type"].is_string();
        self.sink.ours(is_exact, || {
            Mismatch::new("error frame", "message, type, param and code, and nothing else", chunk)
        });
        self.error = Some(error.clone());
        self.pieces.push(Piece::Error(error.clone()));
        // A finish reason beside it is read by clients that know of no error in a frame.
        if let Some(reason) = choices.iter().find_map(|choice| choice["finish_reason"].as_str()) {
            self.choices.entry(0).or_default().choice.finish = Some(reason.to_owned());
        }
    }

    fn check_envelope(&mut self, chunk: &Value) {
        let Self { sink, terms, .. } = self;
        let envelope = ENVELOPE.map(|name| chunk[name].clone());
        let first = self.envelope.get_or_insert_with(|| envelope.clone());
        let fault = envelope_fault(chunk);
        let is_exact = match members(chunk).as_slice() {
            ["id", "object", "created", "model", "choices"] => true,
            ["id", "object", "created", "model", "choices", "usage"] => {
                chunk["usage"].is_null() || chunk["choices"] == json!([])
            }
            _ => false,
        };
        if fault.is_none() {
            terms.check_object(chunk, is_exact, sink);
        }
        let differs = (0..3).find(|at| first[*at] != envelope[*at]);
        let other = differs.map(|at| {
            let what = format!("{} of a frame", ENVELOPE[at]);
            Mismatch::new(what, first[at].to_string(), &envelope[at])
        });
        let fault = fault.or(other);
        sink.rule(RuleId::ChatEnvelope, fault.is_none(), || fault.unwrap_or_default());
    }

    fn take_usage(&mut self, chunk: &Value, is_alone: bool) {
        let usage = &chunk["usage"];
        let is_finished = self.is_finished();
        match (self.terms.usage, usage.is_null()) {
            (UsageWish::Unasked, false) => self.sink.rule(RuleId::ChatUsageUnasked, false, || {
                Mismatch::new("usage", "none, which was not asked for", usage)
            }),
            (UsageWish::Asked | UsageWish::Unknown, false) if is_alone => {
                self.expect(&[Due::Usage, Due::UsageOrDoneMark], chunk);
                self.usage_frames += 1;
                self.usage = Some(usage.clone());
                let in_place = is_finished && self.done_marks == 0;
                self.sink.rule(RuleId::ChatUsageAsked, in_place && is_usage(usage), || {
                    let expected = "token counts and their sum, after the finish";
                    Mismatch::new("usage", expected, chunk)
                });
            }
            (_, true) if is_alone => self.sink.rule(RuleId::ChatEnvelope, false, || {
                Mismatch::new("frame", "one with choices or usage", chunk)
            }),
            _ => {}
        }
    }

    fn take_choice(&mut self, chunk: &Value, choice: &Value) {
        self.expect(&[Due::Role, Due::Content], chunk);
        // Other servers are asked for one choice: what comes is of it, whatever its index.
        let index = choice["index"].as_u64().filter(|_| S::OURS).unwrap_or_default();
        let Self { sink, pieces, terms, .. } = self;
        sink.ours(terms.choices.is_none_or(|choices| index < choices as u64), || {
            Mismatch::new("index of a choice", format!("one of {:?}", terms.choices), chunk)
        });
        self.choices.entry(index).or_default().take(index, chunk, choice, pieces, sink);
    }
}

// === impl Due ===

impl Due {
    fn in_words(self) -> &'static str {
        match self {
            Self::Role => "a first frame with the role",
            Self::Content => "content, calls or a finish frame",
            Self::Telemetry => "the telemetry comment after the finish frame",
            Self::Usage => "the usage frame after the telemetry comment",
            Self::UsageOrDoneMark => "the usage frame or data: [DONE]",
            Self::DoneMark => "data: [DONE]",
            Self::Nothing => "nothing after data: [DONE]",
        }
    }
}

/// The first thing that is wrong around the choices.
fn envelope_fault(chunk: &Value) -> Option<Mismatch> {
    let are_choices =
        |choices: &Value| choices.as_array().is_some_and(|choices| choices.iter().all(is_choice));
    let is_id = |id: &Value| id.as_str().is_some_and(|id| !id.is_empty());
    let checks = [
        ("object", chunk["object"] == "chat.completion.chunk", "\"chat.completion.chunk\""),
        ("id", is_id(&chunk["id"]), "a text"),
        ("created", chunk["created"].is_u64(), "a time"),
        ("model", chunk["model"].is_string(), "a name"),
        ("choices", are_choices(&chunk["choices"]), "each with index, delta and finish_reason"),
    ];
    let (name, _, expected) = checks.into_iter().find(|(_, holds, _)| !holds)?;
    Some(Mismatch::new(name, expected, &chunk[name]))
}

fn is_choice(choice: &Value) -> bool {
    let reason = choice.get("finish_reason");
    choice["index"].is_u64()
        && choice["delta"].is_object()
        && reason.is_some_and(|reason| reason.is_null() || reason.is_string())
        && choice.as_object().is_some_and(|members: &Map<_, _>| !members.contains_key("message"))
}

#[cfg(test)]
mod tests;
