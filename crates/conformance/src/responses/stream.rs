//! A streamed response.

use serde_json::{Value, json};

use super::is_usage;
use super::item::OpenItem;
use crate::answer::{Answer, End};
use crate::exchange::Ending;
use crate::notes::{Notes, shortened};
use crate::rule::RuleId;
use crate::sse::Frame;

/// The types of events that clients know. (Built-in tools have more, which nobody asks for here.)
const STANDARD: [&str; 22] = [
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
    "response.refusal.delta",
    "response.refusal.done",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_text.delta",
    "error",
];

/// Reads a stream to its end.
pub(crate) fn read(frames: &[Frame], ending: Ending, notes: &mut Notes) -> Answer {
    let mut reading = Reading {
        events: 0,
        begun: Vec::new(),
        items: Vec::new(),
        open: None,
        error: None,
        last: None,
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
    /// The response of the last event.
    last: Option<Value>,
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
        let is_known = STANDARD.contains(&kind.as_str()) && name.is_none_or(|name| name == kind);
        self.notes.check(RuleId::ResponsesEventNames, is_known, || {
            format!("the event {name:?} has {}", shortened(data))
        });
        let number = &event["sequence_number"];
        self.notes.check(RuleId::ResponsesSequence, *number == self.events, || {
            format!("{kind} is event {} and has the number {number}", self.events)
        });
        self.events += 1;
        if self.last.is_some() {
            let words = format!("{kind} came after the end of the response");
            self.notes.broken(RuleId::ResponsesBeginAndEnd, words);
        }
        if self.begun.len() < 2 {
            self.begun.push(kind.clone());
        }
        self.take_kind(&kind, &event);
    }

    fn take_kind(&mut self, kind: &str, event: &Value) {
        match kind {
            "response.created" | "response.in_progress" | "response.queued" => {}
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.last = Some(event["response"].clone());
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
        let Self { begun, items, error, last, notes, .. } = self;
        let is_begun = begun == ["response.created", "response.in_progress"];
        notes.check(RuleId::ResponsesBeginAndEnd, is_begun && last.is_some(), || {
            let end = if last.is_some() { "an end" } else { "no last event" };
            format!("the stream begins with {begun:?} and has {end}; {}", ending.in_words())
        });
        let has_failed = last.as_ref().is_some_and(|last| last["status"] == "failed");
        if error.is_some() || has_failed {
            let is_told = error.as_ref().is_some_and(is_error_event) && has_failed;
            notes.check(RuleId::ResponsesErrorEvent, is_told, || {
                let error = error.as_ref().map_or("none".to_owned(), Value::to_string);
                format!("response.failed: {has_failed}; error event: {error}")
            });
        }
        let Some(response) = last else {
            let said = super::answer(&json!({ "output": items }));
            let end = if error.is_some() { End::Failed } else { End::Untold };
            return Answer { end, ..said };
        };
        if !has_failed {
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
        let mut response = response;
        response["output"] = items.into();
        super::answer(&response)
    }
}

/// Flat as SDKs read it, and nested as others do.
fn is_error_event(event: &Value) -> bool {
    event["message"].is_string() && event["error"]["message"].is_string()
}

/// What of an item clients go by.
fn essence(item: &Value) -> Value {
    let call = super::call_of(item);
    json!([item["type"], item["id"], super::text_of(item), call.id, call.name, call.arguments])
}
