//! Events out of order, of foreign shapes and in strange company: nothing panics, and what is said
//! in deltas is always what a snapshot says.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use tool_call_aggregator::ToolCallAggregator;

use crate::client::Client;
use crate::corpus::files;
use crate::ingest::ingest;
use crate::random::runner;

/// What a mutation puts somewhere: the kinds of JSON, and words that mean something elsewhere.
fn leaves() -> impl Strategy<Value = Value> {
    let leaves = json!([
        null, true, false, 0, 1, -1, 1.5, 4_294_967_296_u64, u64::MAX, "", "a", "call_1", "fc_1",
        "call_a", "get_weather", "one", "{}", "{\"a\":1}", "}", "function_call",
        "response.completed", "item/started", "<use_tool><name>x</name></use_tool>", [], {},
        [[]], {"name": "one", "arguments": "{}"}, [{"index": 0, "id": "a"}]
    ]);
    select(leaves.as_array().unwrap().clone())
}

/// Every place of a value, as a path of keys and positions.
fn places(value: &Value, at: &str, places: &mut Vec<String>) {
    places.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (position, item) in items.iter().enumerate() {
                self::places(item, &format!("{at}/{position}"), places);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                let key = key.replace('~', "~0").replace('/', "~1");
                self::places(member, &format!("{at}/{key}"), places);
            }
        }
        _ => {}
    }
}

/// One step with something else in one of its places.
fn mutate(mut step: Value, place: Index, leaf: Value) -> Value {
    let mut all = Vec::new();
    let root = if step.get("message").is_some() { "/message" } else { "/event" };
    places(step.pointer(root).unwrap_or(&Value::Null), root, &mut all);
    if let Some(there) = step.pointer_mut(&all[place.index(all.len())]) {
        *there = leaf;
    }
    step
}

fn steps() -> impl Strategy<Value = Vec<Value>> {
    let corpus: Vec<Value> = files("events")
        .into_iter()
        .flat_map(|(_, case)| case["steps"].as_array().unwrap().clone())
        .collect();
    let known = select(corpus);
    let mutated = (known.clone(), any::<Index>(), leaves())
        .prop_map(|(step, place, leaf)| mutate(step, place, leaf));
    vec(prop_oneof![known, mutated], 0..16)
}

#[test]
fn any_events_in_any_order_leave_deltas_and_snapshots_in_agreement() {
    let law = |steps: Vec<Value>| {
        let (mut calls, mut client) = (ToolCallAggregator::new(), Client::default());
        let mut before: Vec<String> = Vec::new();
        for step in &steps {
            client.take(&ingest(&mut calls, step))?;
            let records: Vec<_> = calls
                .choices()
                .collect::<Vec<_>>()
                .into_iter()
                .flat_map(|choice| calls.snapshot(choice))
                .collect();
            let known: Vec<String> = records.iter().map(|record| record.id.clone()).collect();
            prop_assert!(before.iter().all(|id| known.contains(id)), "{before:?} {known:?}");
            prop_assert_eq!(records.len(), client.texts.len());
            for record in records {
                prop_assert!(!record.name.is_empty());
                prop_assert_eq!(client.texts.get(&record.id), Some(&record.arguments));
            }
            before = known;
        }
        Ok(())
    };
    runner(10_000).run(&steps(), law).unwrap();
}
