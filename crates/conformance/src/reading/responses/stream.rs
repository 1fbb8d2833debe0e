//! A streamed response.

use serde_json::{Value, json};

use super::super::{Ending, Frame, Mismatch, Received, Sink, SseReader, Strict, Telemetry};
use super::item::OpenItem;
use super::{ID_PREFIX, ReadResponse, is_usage, usage_fault};
use crate::rule::RuleId;

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

/// Events that say nothing of items. Our own server sends two of them, and only as the first.
const AT_THE_BEGINNING: [&str; 4] =
    ["response.created", "response.in_progress", "response.queued", KEEP_ALIVE];

/// A stream that is being read.
pub struct ResponseStream<S> {
    sink: S,
    frames: SseReader,
    events: u64,
    /// The types of the first two events.
    begun: Vec<String>,
    /// The response of the first event.
    first: Value,
    /// As their last events had them.
    items: Vec<Value>,
    open: Option<OpenItem>,
    error: Option<Value>,
    /// The last event.
    last: Option<Value>,
    /// The end of a success, even if another end comes behind it.
    finish: Option<String>,
    telemetry: Option<Value>,
}

// === impl ResponseStream ===

impl ResponseStream<Strict> {
    /// Reads a whole stream of our own server.
    ///
    /// # Errors
    /// The first fault.
    pub fn read(body: &str) -> Result<ReadResponse, Mismatch> {
        let mut stream = Self::new(Strict::default());
        stream.take(body.as_bytes());
        let (response, sink) = stream.end(Ending::Whole);
        sink.outcome().map(|()| response)
    }
}

impl<S: Sink> ResponseStream<S> {
    /// A stream of which nothing has come.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            frames: SseReader::default(),
            events: 0,
            begun: Vec::new(),
            first: Value::Null,
            items: Vec::new(),
            open: None,
            error: None,
            last: None,
            finish: None,
            telemetry: None,
        }
    }

    /// Takes bytes as they come.
    pub fn take(&mut self, bytes: &[u8]) {
        for Received { frame, is_plain, .. } in self.frames.take(bytes) {
            self.sink.ours(is_plain, || {
                Mismatch::new("frame", "an event with its name and data, or a comment", &frame)
            });
            match &frame {
                Frame::Event { name, data } => self.take_event(name.as_deref(), data),
                Frame::Comment(text) if S::OURS => self.take_comment(text),
                Frame::Comment(_) | Frame::Unfinished(_) => {}
            }
        }
    }

    /// Before the last event a slow server says that it is still there, after it what was called.
    fn take_comment(&mut self, text: &str) {
        let is_due = (text == "keep-alive") == self.last.is_none() && self.telemetry.is_none();
        self.sink.ours(is_due, || {
            Mismatch::new("stream", "an event, or the telemetry at its end", text)
        });
        if text != "keep-alive" {
            if let Err(fault) = Telemetry::read(text) {
                self.sink.ours(false, || fault);
            }
            self.telemetry = serde_json::from_str(text).ok();
        }
    }

    fn take_event(&mut self, name: Option<&str>, data: &str) {
        // Not OpenAI's, but no client minds it.
        if data == "[DONE]" {
            return self.sink.ours(false, || Mismatch::new("stream", "no data: [DONE]", data));
        }
        let event: Value = serde_json::from_str(data).unwrap_or_default();
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        let is_known = is_standard(&kind) && name.is_none_or(|name| name == kind);
        self.sink.rule(RuleId::ResponsesEventNames, is_known, || {
            let found = format!("{name:?} with {data}");
            Mismatch::new("event", "a known type, which is its name", &found)
        });
        self.sink.ours(name.is_some(), || Mismatch::new("event", "a name", data));
        self.count(&kind, &event["sequence_number"]);
        let is_after_the_end = match (&self.last, &self.error) {
            (Some(_), _) => true,
            (None, Some(_)) => !["response.failed", KEEP_ALIVE].contains(&kind.as_str()),
            (None, None) => false,
        };
        if is_after_the_end {
            self.sink.rule(RuleId::ResponsesBeginAndEnd, false, || {
                Mismatch::new("stream", "nothing after the end of the response", data)
            });
        }
        self.check_begin(&kind, &event);
        if self.begun.len() < 2 && !["response.queued", KEEP_ALIVE].contains(&kind.as_str()) {
            self.begun.push(kind.clone());
        }
        self.take_kind(&kind, &event);
    }

    fn count(&mut self, kind: &str, number: &Value) {
        if kind == KEEP_ALIVE && number.is_null() {
            return;
        }
        self.sink.rule(RuleId::ResponsesSequence, *number == self.events, || {
            let what = format!("sequence_number of {kind}");
            Mismatch::new(what, self.events.to_string(), number)
        });
        self.events += 1;
    }

    /// Both of the first two events of our own server have the response as it begins.
    fn check_begin(&mut self, kind: &str, event: &Value) {
        let response = &event["response"];
        let is_right = match self.begun.len() {
            0 => {
                self.first = response.clone();
                let is_empty =
                    response["status"] == "in_progress" && response["output"] == json!([]);
                kind == "response.created" && is_empty
            }
            1 => kind == "response.in_progress" && *response == self.first,
            _ => !AT_THE_BEGINNING.contains(&kind),
        };
        self.sink.ours(is_right, || {
            Mismatch::new("stream", "response.created, then response.in_progress", event)
        });
    }

    fn take_kind(&mut self, kind: &str, event: &Value) {
        match kind {
            _ if AT_THE_BEGINNING.contains(&kind) => {}
            "response.completed" | "response.incomplete" | "response.failed" => {
                self.take_end(kind, &event["response"]);
                self.last = Some(event.clone());
            }
            "error" => {
                let named = ["code", "message", "param"];
                let is_exact = named.iter().all(|name| event[*name] == event["error"][*name])
                    && event["message"].is_string()
                    && event["error"]["type"].is_string();
                self.sink.ours(is_exact, || {
                    Mismatch::new("error", "code, message and param, twice, and a type", event)
                });
                self.error = Some(event.clone());
            }
            "response.output_item.added" => {
                let wanted = self.items.len();
                let is_next = self.open.is_none() && event["output_index"] == wanted;
                self.sink.rule(RuleId::ResponsesOneOpenItem, is_next, || {
                    Mismatch::new("stream", format!("item {wanted} or an end"), event)
                });
                self.open = Some(OpenItem::new(&event["item"], &self.items, &mut self.sink));
            }
            "response.output_item.done" => {
                let is_open = event["output_index"] == self.items.len();
                let open = self.open.take();
                self.sink.rule(RuleId::ResponsesOneOpenItem, is_open && open.is_some(), || {
                    Mismatch::new("stream", "the end of an item that is open", event)
                });
                if let Some(open) = open {
                    open.done(&event["item"], &mut self.sink);
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
                        open.take(kind, event, &mut self.sink);
                    }
                    _ => self.sink.rule(RuleId::ResponsesOneOpenItem, false, || {
                        Mismatch::new("stream", "an event about the item that is open", event)
                    }),
                }
            }
        }
    }

    fn take_end(&mut self, kind: &str, response: &Value) {
        let status = &response["status"];
        // Cancelling is our own server's: there is no event for it.
        let is_cancelled = S::OURS && kind == "response.incomplete" && status == "cancelled";
        let is_same = is_cancelled || status.as_str() == kind.strip_prefix("response.");
        self.sink.rule(RuleId::ResponsesBeginAndEnd, is_same, || {
            Mismatch::new("status", format!("that of {kind}"), status)
        });
        // Whatever the response in it says: clients go by the type.
        self.finish = match kind {
            "response.completed" => Some("stop".to_owned()),
            "response.incomplete" => super::finish(response).map(str::to_owned),
            _ => self.finish.take(),
        };
        if !S::OURS {
            return;
        }
        if let Some(open) = self.open.take() {
            let has_failed = kind == "response.failed" && self.error.is_some();
            let may_end = has_failed || (is_cancelled && open.is_half_a_call());
            self.items.push(open.unfinished(&mut self.sink));
            self.sink.ours(may_end, || Mismatch::new("stream", "the end of the open item", kind));
        }
        self.sink.ours(response["output"] == json!(self.items), || {
            Mismatch::new("output", json!(self.items).to_string(), response)
        });
        let names = ["id", "object", "created_at", "model"];
        let is_same = names.iter().all(|name| response[*name] == self.first[*name]);
        let id = super::text(&response["id"]);
        self.sink.ours(is_same && id.starts_with(ID_PREFIX), || {
            let expected =
                format!("an id that begins with {ID_PREFIX}, and {names:?} as in the first event");
            Mismatch::new("response", expected, response)
        });
    }

    /// What the answer says, and what it was reported to.
    pub fn end(mut self, ending: Ending) -> (ReadResponse, S) {
        let is_clean = self.frames.is_clean() && ending == Ending::Whole;
        let rest = self.frames.end();
        let unfinished = |received: &Received| matches!(received.frame, Frame::Unfinished(_));
        let Self { mut sink, begun, items, error, last, finish, telemetry, .. } = self;
        let is_over = is_clean && last.is_some() && telemetry.is_some();
        sink.ours(is_over, || {
            Mismatch::new("stream", "its last event and the telemetry", ending.in_words())
        });
        if ending == Ending::Whole && rest.iter().any(unfinished) {
            sink.rule(RuleId::ResponsesBeginAndEnd, false, || {
                Mismatch::new("stream", "events, each with its end", "a part of one")
            });
        }
        let is_begun = begun == ["response.created", "response.in_progress"];
        // What breaks off has no end, which other rules are about.
        let is_ended = last.is_some() || error.is_some() || ending != Ending::Whole;
        sink.rule(RuleId::ResponsesBeginAndEnd, is_begun && is_ended, || {
            let end = if is_ended { "an end" } else { "no last event" };
            let found = format!("{begun:?} and {end}");
            Mismatch::new("stream", "its first two events and a last one", &found)
        });
        let mut last = last.unwrap_or_default();
        let has_failed = last["type"] == "response.failed";
        if error.is_some() || has_failed {
            check_error(error.as_ref().unwrap_or(&Value::Null), &last, &mut sink);
        }
        let response = &last["response"];
        if last.is_object() && !has_failed {
            let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
            let repeated: Vec<_> = output.iter().map(essence).collect();
            let streamed: Vec<_> = items.iter().map(essence).collect();
            sink.rule(RuleId::ResponsesRepeatsItems, repeated == streamed, || {
                Mismatch::new("output", json!(streamed).to_string(), &json!(repeated))
            });
            let is_cancelled = S::OURS && response["status"] == "cancelled";
            let is_counted = is_cancelled || is_usage(&response["usage"]);
            sink.rule(RuleId::ResponsesUsage, is_counted, || usage_fault(&response["usage"]));
        }
        let has_failed = has_failed || error.is_some();
        let response = last.get_mut("response").map(Value::take).unwrap_or_default();
        (ReadResponse { items, response, error, telemetry, finish, has_failed }, sink)
    }
}

/// A failure must be sent so that some client reads it, and better so that every one does.
fn check_error<S: Sink>(error: &Value, last: &Value, sink: &mut S) {
    let is_flat = error["message"].is_string();
    let is_nested = error["error"]["message"].is_string();
    let is_in_response = last["response"]["error"]["message"].is_string();
    let fault = |expected: &str| {
        Mismatch::new("error", expected, &format!("the error event {error}, the last event {last}"))
    };
    sink.rule(RuleId::ResponsesErrorEvent, is_flat || is_nested || is_in_response, || {
        fault("a message")
    });
    let is_in_every_form = is_flat && is_nested && is_in_response;
    sink.rule(RuleId::ResponsesErrorEveryForm, is_in_every_form, || {
        fault("`message`, `error.message` and `response.error.message`")
    });
}

fn is_standard(kind: &str) -> bool {
    STANDARD.contains(&kind) || HOSTED.iter().any(|begin| kind.starts_with(begin))
}

/// What of an item clients go by.
fn essence(item: &Value) -> Value {
    let call = super::call_of(item);
    json!([item["type"], item["id"], super::text_of(item), call.id, call.name, call.arguments])
}
