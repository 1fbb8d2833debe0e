//! `--events` and `--sse`: what each event changes, and the calls at the end.

use serde_json::{Map, Value, json};
use tool_call_aggregator::{Ingest, TextCalls, ToolCallAggregator, ToolCallDelta};

use super::{CallsOptions, Fault, Reader};

/// An aggregator that tells what it learns.
pub(super) struct Events {
    calls: ToolCallAggregator,
}

/// What a record is.
enum Said<'a> {
    Event { event: &'a Value, choice: Option<u32> },
    Message { message: &'a Value, choice: Option<u32>, text_calls: TextCalls },
}

// === impl Events ===

impl Events {
    pub(super) fn new(options: &CallsOptions) -> Self {
        let builder = ToolCallAggregator::builder()
            .repeat_policy(options.repeat_policy.into())
            .fragments(options.fragments.into());
        Self { calls: builder.build() }
    }
}

impl Reader for Events {
    fn take(&mut self, record: Value) -> Result<Vec<Value>, Fault> {
        let ingest = match Said::of(&record)? {
            Said::Event { event, choice } => self.calls.ingest_delta(event, choice),
            Said::Message { message, choice, text_calls } => {
                self.calls.ingest_message(message, choice, text_calls)
            }
        };
        Ok(vec![outcome(ingest)])
    }

    fn end(&mut self) -> Vec<Value> {
        let calls = |choice| self.calls.snapshot(choice).into_iter();
        let snapshot: Map<_, _> = self
            .calls
            .choices()
            .map(|choice| {
                let calls = calls(choice).map(|call| {
                    json!({
                        "id": call.id,
                        "backend_id": call.backend_id,
                        "name": call.name,
                        "arguments": call.arguments,
                    })
                });
                (choice.to_string(), calls.collect())
            })
            .collect();
        vec![json!({"snapshot": snapshot, "parallel": self.calls.supports_parallel_calls()})]
    }
}

fn outcome(ingest: Ingest<'_>) -> Value {
    let deltas: Vec<_> = ingest.deltas.map(delta).collect();
    let mut line = json!({"updated": ingest.updated, "deltas": deltas});
    if let Some(limit) = ingest.limit {
        line["limit"] = limit.to_string().into();
    }
    line
}

/// Every field, and not the delta as a client gets it: one that was replaced has no such form.
fn delta(delta: ToolCallDelta<'_>) -> Value {
    json!({
        "choice": delta.choice,
        "index": delta.index,
        "id": delta.id,
        "name": delta.name,
        "arguments": delta.arguments,
        "appended": delta.appended,
        "replaced": delta.replaced,
        "complete": delta.complete,
    })
}

// === impl Said ===

impl<'a> Said<'a> {
    /// A backend's own event may have a key `message` or `event` too: an object is ours only if all of
    /// its keys are.
    fn of(record: &'a Value) -> Result<Self, Fault> {
        let Value::Object(object) = record else {
            return Ok(Self::Event { event: record, choice: None });
        };
        let has_only = |keys: &[&str]| object.keys().all(|key| keys.contains(&key.as_str()));
        if let Some(event) = object.get("event")
            && has_only(&["choice", "event"])
        {
            return Ok(Self::Event { event, choice: choice(object)? });
        }
        if let Some(emit) = object.get("emit_if_missing")
            && has_only(&["message", "emit_if_missing", "choice"])
        {
            let text_calls = text_calls(emit)?;
            return Ok(Self::Message {
                message: message(object)?,
                choice: choice(object)?,
                text_calls,
            });
        }
        if let Some(message @ Value::Object(_)) = object.get("message")
            && has_only(&["message", "choice"])
        {
            let text_calls = TextCalls::Ignore;
            return Ok(Self::Message { message, choice: choice(object)?, text_calls });
        }
        Ok(Self::Event { event: record, choice: None })
    }
}

/// The choice that a wrapper names, which counts for everything in it.
fn choice(object: &Map<String, Value>) -> Result<Option<u32>, Fault> {
    let Some(choice) = object.get("choice") else {
        return Ok(None);
    };
    let number = choice.as_u64().and_then(|choice| u32::try_from(choice).ok());
    let fault = Fault::Field { name: "choice", allowed: "a whole number from 0 to 4294967295" };
    number.map(Some).ok_or(fault)
}

fn text_calls(emit: &Value) -> Result<TextCalls, Fault> {
    match emit {
        Value::Bool(true) => Ok(TextCalls::EmitIfMissing),
        Value::Bool(false) => Ok(TextCalls::Ignore),
        _ => Err(Fault::Field { name: "emit_if_missing", allowed: "true or false" }),
    }
}

/// The message of an object that also says what to do with its text: some backends have nothing
/// but the text, or a list of items.
fn message(object: &Map<String, Value>) -> Result<&Value, Fault> {
    match object.get("message") {
        Some(message @ (Value::Object(_) | Value::Array(_) | Value::String(_))) => Ok(message),
        _ => Err(Fault::Field { name: "message", allowed: "an object, a list or a string" }),
    }
}
