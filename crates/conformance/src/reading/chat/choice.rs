//! One choice of a streamed chat completion.

use serde_json::{Value, json};

use super::super::{Call, Mismatch, Piece, Sink, members};
use super::{Choice, calls};
use crate::rule::RuleId;

/// A choice that is being read.
#[derive(Default)]
pub(super) struct OpenChoice {
    stage: Stage,
    pub(super) choice: Choice,
    legacy: Option<Call>,
}

/// What of a choice was read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    #[default]
    Role,
    Content,
    Finished,
}

// === impl OpenChoice ===

impl OpenChoice {
    pub(super) fn is_finished(&self) -> bool {
        self.stage == Stage::Finished
    }

    /// All of it.
    pub(super) fn end(mut self) -> Choice {
        self.choice.calls.extend(self.legacy);
        self.choice
    }

    /// What a frame has of it.
    pub(super) fn take<S: Sink>(
        &mut self,
        index: u64,
        chunk: &Value,
        choice: &Value,
        pieces: &mut Vec<Piece>,
        sink: &mut S,
    ) {
        let delta = &choice["delta"];
        self.check_form(index, chunk, choice, sink);
        if self.stage == Stage::Role {
            sink.rule(RuleId::ChatRoleFirst, delta["role"] == "assistant", || {
                Mismatch::new("first frame", "the role", chunk)
            });
            self.stage = Stage::Content;
            if S::OURS {
                self.choice.content = Some(String::new());
                return;
            }
        }
        let said = delta["content"].as_str().unwrap_or_default();
        let calls = delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        let says_something = !said.is_empty() || !calls.is_empty();
        if self.stage == Stage::Finished && says_something {
            sink.rule(RuleId::ChatNothingAfterFinish, false, || {
                Mismatch::new("stream", "nothing after the finish reason", delta)
            });
        }
        if !calls.is_empty() {
            sink.rule(RuleId::ChatTextApart, said.is_empty(), || {
                Mismatch::new("frame", "either content or a call", delta)
            });
            pieces.extend(calls::take(calls, index, &mut self.choice.calls, sink));
        }
        if delta["function_call"].is_object() {
            let call = &delta["function_call"];
            pieces.push(calls::take_legacy(call, index, &mut self.legacy, sink));
        }
        let mut add = |name: &str, text: &mut String, piece: fn(u64, String) -> Piece| {
            if let Some(more) = delta[name].as_str().filter(|more| !more.is_empty()) {
                text.push_str(more);
                pieces.push(piece(index, more.to_owned()));
            }
        };
        let Choice { content, refusal, reasoning, .. } = &mut self.choice;
        if delta["content"].is_string() {
            add("content", content.get_or_insert_default(), Piece::Text);
        }
        if delta["refusal"].is_string() {
            add("refusal", refusal.get_or_insert_default(), Piece::Refusal);
        }
        add("reasoning_content", reasoning, Piece::Reasoning);
        if let Some(reason) = choice["finish_reason"].as_str() {
            let is_alone = !says_something && self.stage != Stage::Finished;
            sink.rule(RuleId::ChatFinishFrame, is_alone, || {
                Mismatch::new("finish_reason", "one alone in a frame, and once", choice)
            });
            self.stage = Stage::Finished;
            self.choice.finish = Some(reason.to_owned());
            pieces.push(Piece::Finish(index, reason.to_owned()));
        }
    }

    /// Our own server's frames have exactly one thing each.
    fn check_form<S: Sink>(&self, index: u64, chunk: &Value, choice: &Value, sink: &mut S) {
        let delta = &choice["delta"];
        if self.stage == Stage::Role {
            let first = json!([{
                "index": index,
                "delta": {"role": "assistant", "content": ""},
                "finish_reason": null,
            }]);
            return sink.ours(chunk["choices"] == first, || {
                Mismatch::new("choices of the first frame", first.to_string(), &chunk["choices"])
            });
        }
        let is_text = |name: &str| delta[name].as_str().is_some_and(|text| !text.is_empty());
        let holds = match (members(delta).as_slice(), choice["finish_reason"].is_string()) {
            ([name @ ("content" | "reasoning_content" | "refusal")], false) => is_text(name),
            (["tool_calls"], false) => delta["tool_calls"].is_array(),
            (["function_call"], false) => delta["function_call"].is_object(),
            ([], true) => true,
            _ => false,
        };
        let is_exact = members(choice) == ["index", "delta", "finish_reason"];
        sink.ours(holds && is_exact, || {
            let expected = "a frame with either content, or a call, or a finish reason";
            Mismatch::new("frame", expected, chunk)
        });
        sink.ours(self.stage != Stage::Finished, || {
            Mismatch::new("stream", "nothing after the finish frame of a choice", chunk)
        });
    }
}
