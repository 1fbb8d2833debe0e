//! One item of a streamed response: what its events must be.

use serde_json::Value;

use crate::notes::Notes;
use crate::rule::RuleId;

/// An item whose events are being read.
#[derive(Debug)]
pub(super) struct OpenItem {
    /// As it was added.
    pub(super) item: Value,
    /// The kinds of its events so far, but for repeated deltas.
    kinds: Vec<String>,
    /// Its deltas, put together.
    text: String,
}

/// What the events of an item of each kind must be, in this order.
const MESSAGE: [&str; 4] = [
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
];
const CALL: [&str; 2] =
    ["response.function_call_arguments.delta", "response.function_call_arguments.done"];

// === impl OpenItem ===

impl OpenItem {
    pub(super) fn new(item: &Value, notes: &mut Notes) -> Self {
        if item["type"] == "function_call" {
            notes.check(RuleId::ResponsesCallEvents, begins_empty(item), || {
                format!("a call is added without id, call_id or name, or with arguments: {item}")
            });
        }
        Self { item: item.clone(), kinds: Vec::new(), text: String::new() }
    }

    /// The rule that its events are held against; items of other kinds have none.
    fn rule(&self) -> Option<(RuleId, &'static [&'static str])> {
        match self.item["type"].as_str() {
            Some("message") => Some((RuleId::ResponsesMessageEvents, &MESSAGE)),
            Some("function_call") => Some((RuleId::ResponsesCallEvents, &CALL)),
            _ => None,
        }
    }

    /// An event about it that is neither its first nor its last.
    pub(super) fn take(&mut self, kind: &str, event: &Value, notes: &mut Notes) {
        let Some((rule, _)) = self.rule() else { return };
        let is_delta = is_delta(kind);
        if !is_delta || self.kinds.last().is_none_or(|last| last != kind) {
            self.kinds.push(kind.to_owned());
        }
        let told = match kind {
            "response.output_text.done" => &event["text"],
            "response.content_part.done" => &event["part"]["text"],
            "response.function_call_arguments.done" => &event["arguments"],
            "response.content_part.added" => {
                notes.check(rule, event["part"]["annotations"].is_array(), || {
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
        notes.check(rule, *told == self.text, || {
            format!("the deltas make {:?}, but {kind} says {told}", self.text)
        });
    }

    /// Its last event.
    pub(super) fn done(self, item: &Value, notes: &mut Notes) {
        let Some((rule, wanted)) = self.rule() else { return };
        let said = match self.item["type"].as_str() {
            Some("message") => super::text_of(item),
            _ => super::call_of(item).arguments,
        };
        // A text may be empty; a call has an argument text in any case.
        let nothing_said = rule == RuleId::ResponsesMessageEvents && said.is_empty();
        let wanted: Vec<&str> =
            wanted.iter().copied().filter(|kind| !(nothing_said && is_delta(kind))).collect();
        notes.check(rule, self.kinds == wanted, || {
            format!("an item has the events {:?} instead of {wanted:?}", self.kinds)
        });
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
}

fn begins_empty(item: &Value) -> bool {
    item["arguments"] == "" && ["id", "call_id", "name"].iter().all(|name| item[*name].is_string())
}

fn is_delta(kind: &str) -> bool {
    kind.rsplit('.').next() == Some("delta")
}
