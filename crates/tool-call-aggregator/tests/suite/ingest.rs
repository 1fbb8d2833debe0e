//! The aggregator's answers as JSON, in the words of the corpus.

use serde_json::{Map, Value, json};
use tool_call_aggregator::{FragmentMode, RepeatPolicy, TextCalls, ToolCallAggregator};

pub(crate) fn aggregator(options: &Value) -> ToolCallAggregator {
    let mut builder = ToolCallAggregator::builder();
    match options["repeat_policy"].as_str() {
        None => {}
        Some("drop_immediate_repeats") => {
            builder = builder.repeat_policy(RepeatPolicy::DropImmediateRepeats);
        }
        Some(other) => panic!("repeat_policy {other}"),
    }
    match options["fragments"].as_str() {
        None => {}
        Some("cumulative") => builder = builder.fragments(FragmentMode::Cumulative),
        Some(other) => panic!("fragments {other}"),
    }
    builder.build()
}

/// Takes one step of a case.
pub(crate) fn ingest(calls: &mut ToolCallAggregator, step: &Value) -> Value {
    let choice: Option<u32> = step["choice"].as_u64().map(|choice| choice.try_into().unwrap());
    let ingest = match step.get("message") {
        Some(message) => {
            let emit = step["emit_if_missing"] == true;
            let text = if emit { TextCalls::EmitIfMissing } else { TextCalls::Ignore };
            calls.ingest_message(message, choice, text)
        }
        None => calls.ingest_delta(&step["event"], choice),
    };
    let updated = ingest.updated;
    let deltas: Vec<Value> = ingest
        .deltas
        .map(|delta| {
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
        })
        .collect();
    json!({"updated": updated, "deltas": deltas})
}

/// The snapshots of the choices that are keys of `choices`, and of all that have calls.
pub(crate) fn snapshots(calls: &ToolCallAggregator, choices: &Value) -> Value {
    let snapshot = |choice: &String| {
        let records = calls.snapshot(choice.parse().unwrap());
        let records: Vec<Value> = records
            .into_iter()
            .map(|record| {
                json!({
                    "id": record.id,
                    "backend_id": record.backend_id,
                    "name": record.name,
                    "arguments": record.arguments,
                })
            })
            .collect();
        (choice.clone(), Value::from(records))
    };
    let mut asked: Vec<String> = choices.as_object().unwrap().keys().cloned().collect();
    asked.extend(calls.choices().map(|choice| choice.to_string()));
    let snapshots: Map<String, Value> = asked.iter().map(snapshot).collect();
    Value::from(snapshots)
}
