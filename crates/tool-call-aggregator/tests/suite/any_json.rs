//! Events of any shape: nothing panics, and a client holds what the snapshots say.

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};
use tool_call_aggregator::{Limits, TextCalls, ToolCallAggregator};

use crate::fuzzed::{Checked, KEYS, WORDS};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        select(WORDS).prop_map(Value::from),
        select(WORDS).prop_map(Value::from),
        (0_i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            1 => vec(inner.clone(), 0..4).prop_map(Value::from),
            4 => btree_map(select(KEYS), inner, 0..7).prop_map(|members| {
                Value::from(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect::<Map<_, _>>())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn anything_can_be_said_in_any_order(
        events in vec((any_json(), option::of(0_u32..3), any::<bool>()), 1..12),
        options in 0_u8..8,
    ) {
        let mut checked = Checked::new(options);
        for (event, choice, is_message) in &events {
            checked.ingest(event, *choice, *is_message);
        }
        checked.finish();
    }

    #[test]
    fn a_message_said_again_changes_nothing(
        entries in vec((select(&["f", "g"][..]), select(WORDS), 0_u8..3), 0..5),
        shape in 0_usize..6,
    ) {
        let function = |(name, arguments, _): &(&str, &str, u8)| json!({"name": name, "arguments": arguments});
        let chat: Vec<Value> = entries.iter().enumerate().map(|(place, entry)| match entry.2 {
            0 => json!({"function": function(entry)}),
            _ => json!({"id": format!("call_{place}"), "type": "function", "function": function(entry)}),
        }).collect();
        let bare: Vec<Value> = entries.iter().map(function).collect();
        let items: Vec<Value> = bare.iter().enumerate().map(|(place, item)| {
            let mut item = item.clone();
            item["type"] = "function_call".into();
            item["call_id"] = format!("call_{place}").into();
            item
        }).collect();
        let message = match shape {
            0 => json!({"role": "assistant", "content": "<use_tool><name>x</name></use_tool>", "tool_calls": chat}),
            1 => json!({"choices": [{"index": 1, "message": {"tool_calls": chat}}]}),
            2 => json!({"object": "response", "id": "resp_1", "output": items}),
            3 => Value::from(items),
            4 => Value::from(bare),
            _ => json!({"message": {"function_call": bare.first()}}),
        };
        let mut calls = ToolCallAggregator::new();
        let count = calls.ingest_message(&message, None, TextCalls::EmitIfMissing).deltas.count();
        prop_assert!(!calls.ingest_message(&message, None, TextCalls::EmitIfMissing).updated);
        let of_text = usize::from(shape == 0 && entries.is_empty());
        let of_one = if shape > 4 { entries.len().min(1) } else { entries.len() };
        prop_assert_eq!(count, of_one + of_text);
    }

    #[test]
    fn caps_hold_for_whatever_is_said(events in vec(any_json(), 1..30)) {
        let limits = Limits { calls: 3, name_bytes: 4, argument_bytes: 64, held_bytes: 32 };
        let mut calls = ToolCallAggregator::builder().limits(limits).build();
        for event in &events {
            calls.ingest_message(event, None, TextCalls::EmitIfMissing);
            calls.ingest_delta(event, None);
        }
        let snapshots: Vec<_> = calls.choices().flat_map(|choice| calls.snapshot(choice)).collect();
        prop_assert!(snapshots.len() <= 3);
        prop_assert!(snapshots.iter().all(|call| call.name.len() <= 4));
        let held: usize = snapshots.iter().map(|call| call.name.len() + call.arguments.len()).sum();
        prop_assert!(held <= 64);
    }
}

#[test]
fn a_message_may_be_nested_as_deep_as_it_likes() {
    let mut event = json!({"tool_calls": [{"index": 0, "function": {"name": "f"}}]});
    for _ in 0..100_000 {
        event = Value::from(vec![event]);
    }
    let mut calls = ToolCallAggregator::new();
    calls.ingest_delta(&event, 0);
    calls.ingest_message(&event, 0, TextCalls::EmitIfMissing);
    // Dropping a value of such depth is what overflows a stack, not reading it.
    std::mem::forget(event);
    assert!(!calls.has_any_calls());
}
