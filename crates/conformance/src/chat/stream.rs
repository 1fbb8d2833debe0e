//! A streamed chat completion.

use serde_json::{Map, Value};

use super::{call_frames, is_usage};
use crate::answer::Answer;
use crate::exchange::Ending;
use crate::notes::Notes;
use crate::rule::RuleId;
use crate::sse::Frame;

/// Whether the request asks for a usage frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UsageWish {
    Asked,
    Unasked,
}

/// Reads a stream to its end.
pub(crate) fn read(frames: &[Frame], ending: Ending, wish: UsageWish, notes: &mut Notes) -> Answer {
    let mut reading = Reading {
        wish,
        answer: Answer::default(),
        envelope: None,
        stage: Stage::Role,
        usage_frames: 0,
        done_marks: 0,
        notes,
    };
    for frame in frames {
        reading.take(frame);
    }
    if frames.last() == Some(&Frame::Unfinished) && ending == Ending::Whole {
        reading.notes.broken(RuleId::ChatSseFrames, "the last event has no end");
    }
    reading.end(ending)
}

/// What was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Role,
    Content,
    Finished,
}

struct Reading<'a> {
    wish: UsageWish,
    answer: Answer,
    /// `id`, `created` and `model` of the first frame, and so of all.
    envelope: Option<[Value; 3]>,
    stage: Stage,
    usage_frames: usize,
    done_marks: usize,
    notes: &'a mut Notes,
}

// === impl Reading ===

impl Reading<'_> {
    fn take(&mut self, frame: &Frame) {
        let Frame::Event { name, data } = frame else {
            return;
        };
        if self.done_marks > 0 {
            self.notes.broken(RuleId::ChatDoneOnce, format!("after [DONE] came {data}"));
        }
        // `message` is what the standard calls an event without a name.
        if let Some(name) = name.as_deref().filter(|name| !["", "message"].contains(name)) {
            let words = format!("an event is named {name:?}");
            self.notes.broken(RuleId::ChatSseFrames, words);
        }
        if data == "[DONE]" {
            self.done_marks += 1;
            return;
        }
        match serde_json::from_str::<Value>(data) {
            Ok(chunk) if chunk.is_object() => {
                self.notes.kept(RuleId::ChatSseFrames);
                self.take_chunk(&chunk);
            }
            _ => {
                let words = format!("the data of an event are not a JSON object: {data:?}");
                self.notes.broken(RuleId::ChatSseFrames, words);
            }
        }
    }

    fn take_chunk(&mut self, chunk: &Value) {
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        if !chunk["error"].is_null() {
            let error = &chunk["error"];
            self.notes.check(RuleId::ChatErrorFrame, error["message"].is_string(), || {
                format!("an error frame without a message: {chunk}")
            });
            self.answer.has_failed = true;
            // A finish reason beside it is read by clients that know of no error in a frame.
            let reason = choices.iter().find_map(|choice| choice["finish_reason"].as_str());
            self.answer.finish = reason.map(str::to_owned).or(self.answer.finish.take());
            return;
        }
        self.check_envelope(chunk);
        self.take_usage(chunk, choices.is_empty());
        for choice in choices {
            self.take_choice(chunk, choice);
        }
    }

    fn check_envelope(&mut self, chunk: &Value) {
        let is_whole = chunk["id"].as_str().is_some_and(|id| !id.is_empty())
            && chunk["object"] == "chat.completion.chunk"
            && chunk["created"].is_u64()
            && chunk["model"].is_string()
            && chunk["choices"].as_array().is_some_and(|choices| choices.iter().all(is_choice));
        let envelope = ["id", "created", "model"].map(|name| chunk[name].clone());
        let first = self.envelope.get_or_insert_with(|| envelope.clone());
        let is_constant = *first == envelope;
        self.notes.check(RuleId::ChatEnvelope, is_whole && is_constant, || {
            let fault = if is_whole { "differs from the first frame's" } else { "is not whole" };
            format!("the envelope {fault}: {chunk}")
        });
    }

    fn take_usage(&mut self, chunk: &Value, is_alone: bool) {
        let usage = &chunk["usage"];
        match (self.wish, usage.is_null()) {
            (UsageWish::Unasked, false) => {
                let words = format!("usage that nobody asked for: {usage}");
                self.notes.broken(RuleId::ChatUsageUnasked, words);
            }
            (UsageWish::Asked, false) if is_alone => {
                self.usage_frames += 1;
                let in_place = self.stage == Stage::Finished && self.done_marks == 0;
                self.notes.check(RuleId::ChatUsageAsked, in_place && is_usage(usage), || {
                    format!("it must have counts that add up, and come after the finish: {chunk}")
                });
            }
            (_, true) if is_alone => {
                let words = format!("a frame has neither choices nor usage: {chunk}");
                self.notes.broken(RuleId::ChatEnvelope, words);
            }
            _ => {}
        }
    }

    fn take_choice(&mut self, chunk: &Value, choice: &Value) {
        let delta = &choice["delta"];
        if self.stage == Stage::Role {
            self.notes.check(RuleId::ChatRoleFirst, delta["role"] == "assistant", || {
                format!("the first frame has no role: {chunk}")
            });
            self.stage = Stage::Content;
        }
        let text = delta["content"].as_str().unwrap_or_default();
        let calls = delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        let says_something = !text.is_empty() || !calls.is_empty();
        if self.stage == Stage::Finished && says_something {
            let words = format!("after the finish reason came {delta}");
            self.notes.broken(RuleId::ChatNothingAfterFinish, words);
        }
        if !calls.is_empty() {
            self.notes.check(RuleId::ChatTextApart, text.is_empty(), || {
                format!("a frame has text and a call: {delta}")
            });
            call_frames::take(calls, &mut self.answer.calls, self.notes);
        }
        self.answer.text.push_str(text);
        if let Some(reason) = choice["finish_reason"].as_str() {
            let is_alone = !says_something && self.stage != Stage::Finished;
            self.notes.check(RuleId::ChatFinishFrame, is_alone, || {
                format!("the finish reason comes twice, or with text or a call: {choice}")
            });
            self.stage = Stage::Finished;
            self.answer.finish = Some(reason.to_owned());
        }
    }

    fn end(self, ending: Ending) -> Answer {
        let Self { wish, answer, stage, usage_frames, done_marks, notes, .. } = self;
        let done = || format!("[DONE] came {done_marks} times; {}", ending.in_words());
        if answer.has_failed {
            notes.check(RuleId::ChatDoneAfterError, done_marks > 0, done);
        }
        // Without an end of its own an answer is broken off, and that is told by other rules.
        if done_marks > 1 || (!answer.has_failed && ending == Ending::Whole) {
            notes.check(RuleId::ChatDoneOnce, done_marks == 1, done);
        }
        if stage == Stage::Finished {
            notes.kept(RuleId::ChatNothingAfterFinish);
        }
        let is_whole = !answer.has_failed && ending == Ending::Whole;
        if is_whole && stage != Stage::Finished {
            notes.broken(RuleId::ChatFinishFrame, "the stream ended without a finish reason");
        }
        if is_whole {
            match wish {
                UsageWish::Asked => notes.check(RuleId::ChatUsageAsked, usage_frames == 1, || {
                    format!("{usage_frames} frames with usage and `choices: []` came")
                }),
                UsageWish::Unasked => notes.kept(RuleId::ChatUsageUnasked),
            }
        }
        answer
    }
}

fn is_choice(choice: &Value) -> bool {
    let reason = choice.get("finish_reason");
    choice["index"].is_u64()
        && choice["delta"].is_object()
        && reason.is_some_and(|reason| reason.is_null() || reason.is_string())
        && choice.as_object().is_some_and(|members: &Map<_, _>| !members.contains_key("message"))
}
