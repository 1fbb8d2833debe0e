//! One item of a streamed response: what its events must be.

use serde_json::Value;

use super::CUSTOM_CALL;
use crate::notes::Notes;
use crate::rule::RuleId;

/// An item whose events are being read.
#[derive(Debug)]
pub(super) struct OpenItem {
    /// As it was added.
    pub(super) item: Value,
    /// The kinds of its events so far, but for repeated deltas; of a message, those of its last part.
    kinds: Vec<String>,
    /// Its deltas, put together.
    text: String,
    /// How much of them is of parts that have ended.
    ended: usize,
    /// A message has as many as it likes.
    parts: usize,
}

/// What the events of each part of a message must be, in this order.
const TEXT: [&str; 4] = [
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
];
const REFUSAL: [&str; 4] = [
    "response.content_part.added",
    "response.refusal.delta",
    "response.refusal.done",
    "response.content_part.done",
];

/// The same for a call of a function.
const CALL: [&str; 2] =
    ["response.function_call_arguments.delta", "response.function_call_arguments.done"];

/// The same for a call of a custom tool.
const CUSTOM: [&str; 2] =
    ["response.custom_tool_call_input.delta", "response.custom_tool_call_input.done"];

// === impl OpenItem ===

impl OpenItem {
    pub(super) fn new(item: &Value, notes: &mut Notes) -> Self {
        let (kinds, text) = (Vec::new(), String::new());
        let open = Self { item: item.clone(), kinds, text, ended: 0, parts: 0 };
        if let Some(rule) = open.rule().filter(|rule| *rule != RuleId::ResponsesMessageEvents) {
            notes.check(rule, begins_empty(item), || {
                format!("a call is added without id, call_id or name, or not empty: {item}")
            });
        }
        open
    }

    /// The rule that its events are held against; items of other kinds have none.
    fn rule(&self) -> Option<RuleId> {
        match self.item["type"].as_str() {
            Some("message") => Some(RuleId::ResponsesMessageEvents),
            Some("function_call") => Some(RuleId::ResponsesCallEvents),
            Some(CUSTOM_CALL) => Some(RuleId::ResponsesCustomEvents),
            _ => None,
        }
    }

    /// An event about it that is neither its first nor its last.
    pub(super) fn take(&mut self, kind: &str, event: &Value, notes: &mut Notes) {
        let Some(rule) = self.rule() else { return };
        // It may come anywhere in a part, and says nothing of the text.
        if kind == "response.output_text.annotation.added" {
            return;
        }
        let is_delta = is_delta(kind);
        if !is_delta || self.kinds.last().is_none_or(|last| last != kind) {
            self.kinds.push(kind.to_owned());
        }
        let part = &event["part"];
        let told = match kind {
            "response.output_text.done" => &event["text"],
            "response.refusal.done" => &event["refusal"],
            "response.content_part.done" if part["type"] == "refusal" => &part["refusal"],
            "response.content_part.done" => &part["text"],
            "response.function_call_arguments.done" => &event["arguments"],
            "response.custom_tool_call_input.done" => &event["input"],
            "response.content_part.added" => {
                let is_fit = part["type"] == "refusal" || part["annotations"].is_array();
                notes.check(rule, is_fit, || {
                    format!("a part of text has no `annotations`: {event}")
                });
                return;
            }
            _ => {
                if is_delta {
                    self.text.push_str(event["delta"].as_str().unwrap_or_default());
                }
                return;
            }
        };
        let text = &self.text[self.ended..];
        notes.check(rule, told == text, || {
            format!("the deltas make {text:?}, but {kind} says {told}")
        });
        if kind == "response.content_part.done" {
            let wanted = if part["type"] == "refusal" { REFUSAL } else { TEXT };
            let is_empty = text.is_empty();
            self.check_kinds(rule, &wanted, is_empty, notes);
            (self.ended, self.parts) = (self.text.len(), self.parts + 1);
            self.kinds.clear();
        }
    }

    /// Its last event.
    pub(super) fn done(self, item: &Value, notes: &mut Notes) {
        let Some(rule) = self.rule() else { return };
        let said = if rule == RuleId::ResponsesMessageEvents {
            let parts = item["content"].as_array().map_or(0, Vec::len);
            notes.check(rule, self.kinds.is_empty() && self.parts == parts, || {
                format!("{} parts were told, then {:?}: {item}", self.parts, self.kinds)
            });
            super::words_of(item)
        } else {
            // A text may be empty, and an input; a function has an argument text in any case.
            match rule {
                RuleId::ResponsesCustomEvents => {
                    self.check_kinds(rule, &CUSTOM, self.text.is_empty(), notes);
                }
                _ => self.check_kinds(rule, &CALL, false, notes),
            }
            super::call_of(item).arguments
        };
        notes.check(rule, said == self.text, || {
            format!("the deltas make {:?}, but the item has {said:?}", self.text)
        });
        let is_same = ["type", "id", "call_id", "name"]
            .into_iter()
            .all(|name| self.item.get(name) == item.get(name));
        notes.check(rule, is_same, || {
            format!("an item ends as another than it began: {} and {item}", self.item)
        });
    }

    fn check_kinds(&self, rule: RuleId, wanted: &[&str], is_empty: bool, notes: &mut Notes) {
        let wanted: Vec<&str> =
            wanted.iter().copied().filter(|kind| !(is_empty && is_delta(kind))).collect();
        notes.check(rule, self.kinds == wanted, || {
            format!("an item has the events {:?} instead of {wanted:?}", self.kinds)
        });
    }
}

fn begins_empty(item: &Value) -> bool {
    let text = if item["type"] == CUSTOM_CALL { &item["input"] } else { &item["arguments"] };
    text == "" && ["id", "call_id", "name"].iter().all(|name| item[*name].is_string())
}

fn is_delta(kind: &str) -> bool {
    kind.rsplit('.').next() == Some("delta")
}
