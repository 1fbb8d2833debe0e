//! One item of a streamed response: what its events must be.

use std::mem;

use serde_json::{Value, json};

use super::super::{Mismatch, Sink};
use super::CUSTOM_CALL;
use crate::rule::RuleId;

/// An item whose events are being read.
#[derive(Debug)]
pub(super) struct OpenItem {
    /// As it was added.
    pub(super) item: Value,
    /// The same with all increments so far.
    built: Value,
    /// The kind of its last event; empty before there was one.
    last: String,
    /// Its deltas, put together.
    text: String,
    /// How much of them is of parts that have ended.
    ended: usize,
    /// A message has as many as it likes.
    parts: usize,
    /// The first event out of order.
    misplaced: Option<Mismatch>,
}

// === impl OpenItem ===

impl OpenItem {
    pub(super) fn new<S: Sink>(item: &Value, before: &[Value], sink: &mut S) -> Self {
        let built = item.clone();
        let (last, text) = (String::new(), String::new());
        let open =
            Self { item: item.clone(), built, last, text, ended: 0, parts: 0, misplaced: None };
        if let Some(rule) = open.rule().filter(|rule| *rule != RuleId::ResponsesMessageEvents) {
            sink.rule(rule, begins_empty(item), || {
                Mismatch::new("call", "id, call_id and name, and nothing said yet", item)
            });
        }
        let (prefix, is_fit) = match item["type"].as_str() {
            Some("message") => {
                ("msg_", item["content"] == json!([]) && item["role"] == "assistant")
            }
            Some("function_call") => ("fc_", true),
            Some(CUSTOM_CALL) => ("ctc_", true),
            Some("reasoning") => ("rs_", item["summary"] == json!([])),
            _ => ("", false),
        };
        let is_new = item["id"].as_str().is_some_and(|id| id.starts_with(prefix))
            && before.iter().all(|other| other["id"] != item["id"]);
        let has_status = prefix == "rs_" || item["status"] == "in_progress";
        let is_named = item.get("namespace").is_none_or(Value::is_string);
        sink.ours(is_fit && is_new && has_status && is_named, || {
            Mismatch::new("added item", "an empty one in progress with an id of its own", item)
        });
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

    /// Whether it is a call that has not been said to be whole.
    pub(super) fn is_half_a_call(&self) -> bool {
        let is_call = self.rule().is_some_and(|rule| rule != RuleId::ResponsesMessageEvents);
        is_call && self.last.rsplit('.').next() != Some("done")
    }

    /// Where a part or the item ends, all of its events must have been in order.
    fn check_order<S: Sink>(&mut self, sink: &mut S) {
        let fault = self.misplaced.take();
        match self.rule() {
            Some(rule) => sink.rule(rule, fault.is_none(), || fault.unwrap_or_default()),
            None => sink.ours(fault.is_none(), || fault.unwrap_or_default()),
        }
    }

    /// It with all increments, as it is where it is never done.
    pub(super) fn unfinished<S: Sink>(mut self, sink: &mut S) -> Value {
        self.check_order(sink);
        if let Some(status) = self.built.get_mut("status").filter(|status| *status == "in_progress")
        {
            *status = json!("incomplete");
        }
        self.built
    }

    /// An event about it that is neither its first nor its last.
    pub(super) fn take<S: Sink>(&mut self, kind: &str, event: &Value, sink: &mut S) {
        // It may come anywhere in a part, and says nothing of the text. Our own server has none.
        if kind == "response.output_text.annotation.added" {
            return sink.ours(false, || Mismatch::new("stream", "no annotation", event));
        }
        if S::OURS {
            self.build(kind, event, sink);
        }
        let last = mem::replace(&mut self.last, kind.to_owned());
        let (of, verb) = kind.rsplit_once('.').unwrap_or((kind, ""));
        let (part, text) = (&event["part"], &self.text[self.ended..]);
        let rule = self.rule();
        // A text may be empty, and an input; a function has an argument text in any case.
        let may_be_empty = rule.is_some_and(|rule| rule != RuleId::ResponsesCallEvents);
        let is_idle = may_be_empty && text.is_empty();
        let wanted = before(kind, part);
        let is_next =
            wanted.contains(&last.as_str()) && !(verb == "done" && is_delta(&last) && is_idle);
        if !is_next {
            let expected = format!("it after one of {wanted:?}");
            self.misplaced.get_or_insert(Mismatch::new(kind, expected, &last));
        }
        let Some(rule) = rule else { return };
        let whole = match (of, verb) {
            ("response.content_part", "added") => {
                let is_fit = part["type"] == "refusal" || part["annotations"].is_array();
                return sink.rule(rule, is_fit, || Mismatch::new(kind, "`annotations`", event));
            }
            ("response.content_part", "done") if part["type"] == "refusal" => &part["refusal"],
            ("response.content_part", "done") => &part["text"],
            (_, "done") if !whole_text(of).is_empty() => &event[whole_text(of)],
            _ if is_delta(kind) => {
                return self.text.push_str(event["delta"].as_str().unwrap_or_default());
            }
            _ => return,
        };
        sink.rule(rule, whole == text, || {
            Mismatch::new(kind, format!("{text:?}, which the deltas make"), whole)
        });
        if of == "response.content_part" {
            (self.ended, self.parts) = (self.text.len(), self.parts + 1);
            self.check_order(sink);
        }
    }

    /// Adds an increment, or compares what is said of the whole with the increments.
    fn build<S: Sink>(&mut self, kind: &str, event: &Value, sink: &mut S) {
        let (of, verb) = kind.rsplit_once('.').unwrap_or((kind, ""));
        let (list, index) = match self.item["type"].as_str() {
            Some("message") => ("content", "content_index"),
            Some("reasoning") => ("summary", "summary_index"),
            _ => ("", ""),
        };
        let mut number = 0;
        if let Some(parts) = self.built.get_mut(list).and_then(Value::as_array_mut) {
            if of.ends_with("_part") && verb == "added" {
                parts.push(event["part"].clone());
            }
            number = parts.len().saturating_sub(1);
        }
        let place = match of {
            "response.content_part" => format!("/content/{number}"),
            "response.output_text" => format!("/content/{number}/text"),
            "response.refusal" => format!("/content/{number}/refusal"),
            "response.reasoning_summary_part" => format!("/summary/{number}"),
            "response.reasoning_summary_text" => format!("/summary/{number}/text"),
            _ => format!("/{}", whole_text(of)),
        };
        let is_right = match (verb, self.built.pointer_mut(&place)) {
            ("added", Some(part)) => {
                let is_text = part["text"] == "" && part["annotations"] == json!([]);
                is_text || part["refusal"] == "" || (list == "summary" && part["text"] == "")
            }
            ("delta", Some(Value::String(text))) => {
                let more = event["delta"].as_str().unwrap_or_default();
                text.push_str(more);
                !more.is_empty()
            }
            ("done", Some(whole)) => event[whole_text(of)] == *whole,
            _ => false,
        };
        let is_right = is_right
            && (list.is_empty() || event[index] == number)
            && (of != "response.output_text" || event["logprobs"] == json!([]))
            && (kind != "response.function_call_arguments.done"
                || event["name"] == self.item["name"])
            && (list != "content" || number == 0);
        sink.ours(is_right, || {
            Mismatch::new(kind, format!("what fits the item so far, {}", self.built), event)
        });
    }

    /// Its last event.
    pub(super) fn done<S: Sink>(mut self, item: &Value, sink: &mut S) {
        self.check_order(sink);
        // These are known at its end alone.
        for name in ["status", "encrypted_content"] {
            if let (Some(members), Some(value)) = (self.built.as_object_mut(), item.get(name)) {
                members.insert(name.to_owned(), value.clone());
            }
        }
        let is_whole = self.built == *item && item["status"] != "in_progress";
        sink.ours(is_whole, || Mismatch::new("item", self.built.to_string(), item));
        let ends: &[&str] = match self.item["type"].as_str() {
            Some("message") if S::OURS => &["response.content_part.done"],
            Some("message") => &["", "response.content_part.done"],
            Some("function_call") => &["response.function_call_arguments.done"],
            Some(CUSTOM_CALL) => &["response.custom_tool_call_input.done"],
            _ => &["", "response.reasoning_summary_part.done"],
        };
        let unended = || Mismatch::new("last event of an item", format!("{ends:?}"), &self.last);
        let is_ended = ends.contains(&self.last.as_str());
        let Some(rule) = self.rule() else {
            return sink.ours(is_ended, unended);
        };
        sink.rule(rule, is_ended, unended);
        let said = if rule == RuleId::ResponsesMessageEvents {
            let parts = item["content"].as_array().map_or(0, Vec::len);
            sink.rule(rule, self.parts == parts, || {
                Mismatch::new("parts of a message", self.parts.to_string(), item)
            });
            super::words_of(item)
        } else {
            super::call_of(item).arguments
        };
        sink.rule(rule, said == self.text, || {
            Mismatch::new("item", format!("{:?}, which the deltas make", self.text), item)
        });
        let is_same = ["type", "id", "call_id", "name"]
            .into_iter()
            .all(|name| self.item.get(name) == item.get(name));
        sink.rule(rule, is_same, || Mismatch::new("item", self.item.to_string(), item));
    }
}

fn begins_empty(item: &Value) -> bool {
    let text = if item["type"] == CUSTOM_CALL { &item["input"] } else { &item["arguments"] };
    text == "" && ["id", "call_id", "name"].iter().all(|name| item[*name].is_string())
}

fn is_delta(kind: &str) -> bool {
    kind.rsplit('.').next() == Some("delta")
}

/// The kinds of events of which one comes before this kind; the first event has the empty one.
fn before(kind: &str, part: &Value) -> &'static [&'static str] {
    match kind {
        "response.content_part.added" => &["", "response.content_part.done"],
        "response.output_text.delta" | "response.output_text.done" => {
            &["response.content_part.added", "response.output_text.delta"]
        }
        "response.refusal.delta" | "response.refusal.done" => {
            &["response.content_part.added", "response.refusal.delta"]
        }
        "response.content_part.done" if part["type"] == "refusal" => &["response.refusal.done"],
        "response.content_part.done" => &["response.output_text.done"],
        "response.function_call_arguments.delta" => &["", "response.function_call_arguments.delta"],
        "response.function_call_arguments.done" => &["response.function_call_arguments.delta"],
        "response.custom_tool_call_input.delta" | "response.custom_tool_call_input.done" => {
            &["", "response.custom_tool_call_input.delta"]
        }
        "response.reasoning_summary_part.added" => &["", "response.reasoning_summary_part.done"],
        "response.reasoning_summary_text.delta" | "response.reasoning_summary_text.done" => {
            &["response.reasoning_summary_part.added", "response.reasoning_summary_text.delta"]
        }
        "response.reasoning_summary_part.done" => &["response.reasoning_summary_text.done"],
        _ => &[],
    }
}

/// The member that has all of it where increments end.
fn whole_text(of: &str) -> &'static str {
    match of {
        "response.output_text" | "response.reasoning_summary_text" => "text",
        "response.refusal" => "refusal",
        "response.function_call_arguments" => "arguments",
        "response.custom_tool_call_input" => "input",
        "response.content_part" | "response.reasoning_summary_part" => "part",
        _ => "",
    }
}
