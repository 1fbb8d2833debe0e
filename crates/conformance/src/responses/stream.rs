//! A streamed response.

use serde_json::{Value, json};

use super::is_usage;
use super::item::OpenItem;
use crate::answer::Answer;
use crate::exchange::Ending;
use crate::notes::Notes;
use crate::rule::RuleId;
use crate::sse::Frame;

/// The types of events that clients know, but for those of hosted tools.
const STANDARD: [&str; 27] = [
    "response.queued",
    "response.created",
    "response.in_progress",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.output_item.added",
    "response.output_item.done",
    "response.content_part.added",
    "response.content_part.done",
    "response.output_text.delta",
    "response.output_text.done",
    "response.output_text.annotation.added",
    "response.refusal.delta",
    "response.refusal.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "error",
    KEEP_ALIVE,
];

/// What the types of the events of hosted tools begin with, for a server that runs one.
const HOSTED: [&str; 6] = [
    "response.web_search_call.",
    "response.image_generation_call.",
    "response.file_search_call.",
    "response.code_interpreter_call",
    "response.mcp_call",
    "response.mcp_list_tools.",
];

/// OpenAI's own sign of life, which says nothing of the response.
pub(crate) const KEEP_ALIVE: &str = "keepalive";

/// Reads a stream to its end.
pub(crate) fn read(frames: &[Frame], ending: Ending, notes: &mut Notes) -> Answer {
    let mut reading = Reading {
        events: 0,
        begun: Vec::new(),
        items: Vec::new(),
        open: None,
        error: None,
        last: None,
        finish: None,
        notes,
    };
    for frame in frames {
        if let Frame::Event { name, data } = frame {
            reading.take(name.as_deref(), data);
        }
    }
    if frames.last() == Some(&Frame::Unfinished) && ending == Ending::Whole {
        reading.notes.broken(RuleId::ResponsesBeginAndEnd, "the last event has no end");
    }
    reading.end(ending)
}

struct Reading<'a> {
    events: u64,
    /// The types of the first two events.
    begun: Vec<String>,
    /// As their last events had them.
    items: Vec<Value>,
    open: Option<OpenItem>,
    error: Option<Value>,
    /// The last event.
    last: Option<Value>,
    /// The end of a success, even if another end comes behind it.
    finish: Option<String>,
    notes: &'a mut Notes,
}

// === impl Reading ===

impl Reading<'_> {
    fn take(&mut self, name: Option<&str>, data: &str) {
        // Not OpenAI's, but no client minds it.
        if data == "[DONE]" {
            return;
        }
        let event: Value = serde_json::from_str(data).unwrap_or_default();
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let is_known = is_standard(&kind) && name.is_none_or(|name| name == kind);
        self.notes.check(RuleId::ResponsesEventNames, is_known, || {
            format!("the event {name:?} has {data}")
        });
        self.count(&kind, &event["sequence_number"]);
        let is_after_the_end = match (&self.last, &self.error) {
            (Some(_), _) => true,
            (None, Some(_)) => !["response.failed", KEEP_ALIVE].contains(&kind.as_str()),
            (None, None) => false,
        };
        if is_after_the_end {
            let words = format!("{kind} came after the end of the response");
            self.notes.broken(RuleId::ResponsesBeginAndEnd, words);
        }
        if self.begun.len() < 2 && !["response.queued", KEEP_ALIVE].contains(&kind.as_str()) {
            self.begun.push(kind.clone());
        }
        self.take_kind(&kind, &event);
    }

    fn count(&mut self, kind: &str, number: &Value) {
        if kind == KEEP_ALIVE && number.is_null() {
            return;
        }
        self.notes.check(RuleId::ResponsesSequence, *number == self.events, || {
            format!("{kind} is event {} and has the number {number}", self.events)
        });
        self.events += 1;
    }

    fn take_kind(&mut self, kind: &str, event: &Value) {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" | KEEP_ALIVE => {}
            "response.completed" | "response.incomplete" | "response.failed" => {
                let status = &event["response"]["status"];
                let is_same = status.as_str() == kind.strip_prefix("response.");
                self.notes.check(RuleId::ResponsesBeginAndEnd, is_same, || {
                    format!("{kind} has a response with the status {status}")
                });
                // Whatever the response in it says: clients go by the type.
                self.finish = match kind {
                    "response.completed" => Some("stop".to_owned()),
                    "response.incomplete" => super::finish(&event["response"]).map(str::to_owned),
                    _ => self.finish.take(),
                };
                self.last = Some(event.clone());
            }
            "error" => self.error = Some(event.clone()),
            "response.output_item.added" => {
                let wanted = self.items.len();
                let is_next = self.open.is_none() && event["output_index"] == wanted;
                self.notes.check(RuleId::ResponsesOneOpenItem, is_next, || {
                    format!("item {wanted} was to come, or to end: {event}")
                });
                self.open = Some(OpenItem::new(&event["item"], self.notes));
            }
            "response.output_item.done" => {
                let is_open = event["output_index"] == self.items.len();
                let open = self.open.take();
                self.notes.check(RuleId::ResponsesOneOpenItem, is_open && open.is_some(), || {
                    format!("an item ends that is not open: {event}")
                });
                if let Some(open) = open {
                    open.done(&event["item"], self.notes);
                }
                self.items.push(event["item"].clone());
            }
            _ => {
                let index = self.items.len();
                match &mut self.open {
                    Some(open)
                        if event["output_index"] == index
                            && event["item_id"] == open.item["id"] =>
                    {
                        open.take(kind, event, self.notes);
                    }
                    _ => {
                        let words = format!("an event is about an item that is not open: {event}");
                        self.notes.broken(RuleId::ResponsesOneOpenItem, words);
                    }
                }
            }
        }
    }

    fn end(self, ending: Ending) -> Answer {
        let Self { begun, items, error, last, finish, notes, .. } = self;
        let is_begun = begun == ["response.created", "response.in_progress"];
        // What breaks off has no end, and that is told by other rules.
        let is_ended = last.is_some() || error.is_some() || ending != Ending::Whole;
        notes.check(RuleId::ResponsesBeginAndEnd, is_begun && is_ended, || {
            let end = if is_ended { "" } else { ", and has no last event" };
            format!("the stream begins with {begun:?}{end}")
        });
        let last = last.unwrap_or_default();
        let has_failed = last["type"] == "response.failed";
        if error.is_some() || has_failed {
            check_error(error.as_ref().unwrap_or(&Value::Null), &last, notes);
        }
        let response = &last["response"];
        if last.is_object() && !has_failed {
            let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
            let repeated: Vec<_> = output.iter().map(essence).collect();
            let streamed: Vec<_> = items.iter().map(essence).collect();
            notes.check(RuleId::ResponsesRepeatsItems, repeated == streamed, || {
                format!("streamed {}, at the end {}", json!(streamed), json!(repeated))
            });
            notes.check(RuleId::ResponsesUsage, is_usage(&response["usage"]), || {
                format!("usage must have counts that add up, and details: {}", response["usage"])
            });
        }
        // By the increments: what the end repeats is looked at above.
        let said = super::said(&items).finished(finish.as_deref());
        Answer { has_failed: has_failed || error.is_some(), ..said }
    }
}

/// A failure must be told so that somebody reads it, and better so that everybody does.
fn check_error(error: &Value, last: &Value, notes: &mut Notes) {
    let is_flat = error["message"].is_string();
    let is_nested = error["error"]["message"].is_string();
    let is_in_response = last["response"]["error"]["message"].is_string();
    let seen = || format!("error event: {error}; last event: {last}");
    notes.check(RuleId::ResponsesErrorEvent, is_flat || is_nested || is_in_response, seen);
    let is_in_every_form = is_flat && is_nested && is_in_response;
    notes.check(RuleId::ResponsesErrorEveryForm, is_in_every_form, seen);
}

fn is_standard(kind: &str) -> bool {
    STANDARD.contains(&kind) || HOSTED.iter().any(|begin| kind.starts_with(begin))
}

/// What of an item clients go by.
fn essence(item: &Value) -> Value {
    let call = super::call_of(item);
    json!([item["type"], item["id"], super::text_of(item), call.id, call.name, call.arguments])
}
