//! Shapes of payloads, where one detail of reading them decides.

use serde_json::{Value, json};
use tool_call_aggregator::{FragmentMode, ScanEvent, TextCalls, TextPatterns, ToolCallAggregator};

use crate::criteria::{added, names_and_arguments};

fn chat(entries: &Value) -> Value {
    json!({ "tool_calls": entries })
}

#[test]
fn chat_entries_without_index_or_id() {
    let mut calls = ToolCallAggregator::new();
    for entries in [
        json!([{"function": {"name": "a"}}, {"function": {"name": "b"}}]),
        json!([{"function": {"arguments": "1"}}, {"function": {"arguments": "2"}}]),
        json!([{"function": {"arguments": "3"}}]),
        json!([{"function": {"name": "c", "arguments": "4"}}]),
        json!([{"function": {"arguments": "5"}}]),
    ] {
        calls.ingest_delta(&chat(&entries), 0);
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("a", "1"), ("b", "23"), ("c", "45")]);
}

#[test]
fn a_single_chat_entry_on_its_own() {
    let entry = |name: Option<&str>, text: &str| json!({"index": 0, "function": {"name": name, "arguments": text}});
    let mut calls = ToolCallAggregator::new();
    calls.ingest_delta(&entry(Some("f"), "{"), 0);
    assert!(!calls.is_complete(0, 0));
    calls.ingest_delta(&entry(None, "}"), 0);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{}")]);
    let mut calls = ToolCallAggregator::new();
    calls.ingest_message(&entry(Some("f"), "{"), 0, TextCalls::Ignore);
    assert!(calls.is_complete(0, 0));
    // With an index, but whole by its own shape.
    let mut calls = ToolCallAggregator::new();
    calls.ingest_delta(&json!({"index": 0, "name": "f", "arguments": "{}"}), 0);
    assert!(calls.is_complete(0, 0));
}

#[test]
fn arguments_beside_the_function() {
    let entry = |name: Option<&str>, inner: Value, outer: Value| json!([{"index": 0, "function": {"name": name, "arguments": inner}, "arguments": outer}]);
    let frames = [
        entry(Some("f"), json!(null), json!("[1")),
        entry(None, json!(""), json!(",2")),
        entry(None, json!(",3"), json!(",4")),
        entry(None, json!(""), json!("")),
        entry(None, json!("]"), json!(null)),
    ];
    let mut calls = ToolCallAggregator::new();
    for frame in &frames {
        calls.ingest_delta(&chat(frame), 0);
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "[1,2,3]")]);

    let mut calls = ToolCallAggregator::builder().fragments(FragmentMode::Cumulative).build();
    for text in ["[", "[1", "[1]"] {
        calls.ingest_delta(&chat(&entry(Some("f"), json!(null), json!(text))), 0);
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "[1]")]);

    for (inner, outer, expected) in [
        (json!(null), json!("{ }"), "{ }"),
        (json!(""), json!({"a": 1}), r#"{"a":1}"#),
        (json!({}), json!("[2]"), "{}"),
        (json!("[1]"), json!("[2]"), "[1]"),
    ] {
        // Neither an id nor an index: the arguments make it a call.
        let call = json!({"function": {"name": "f", "arguments": inner}, "arguments": outer});
        let mut calls = ToolCallAggregator::new();
        calls.ingest_message(&chat(&json!([call])), 0, TextCalls::Ignore);
        assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", expected)]);
        assert!(!calls.ingest_delta(&json!([call]), 0).updated);
    }
    let whole = json!({"function": {"name": "f"}, "arguments": "{}"});
    let mut calls = ToolCallAggregator::new();
    assert!(calls.ingest_delta(&whole, 0).deltas.all(|delta| delta.arguments == "{}"));
    assert!(calls.is_complete(0, 0));
}

#[test]
fn the_legacy_call_of_a_message_is_whole() {
    let mut calls = ToolCallAggregator::new();
    let function = json!({"function_call": {"name": "f", "arguments": "{}"}});
    calls.ingest_delta(&json!({ "delta": function }), 0);
    assert!(!calls.is_complete(0, 0));
    calls.ingest_delta(&json!({ "message": function }), 0);
    assert!(calls.is_complete(0, 0));
}

#[test]
fn starts_never_take_anything_back() {
    let mut calls = ToolCallAggregator::new();
    calls.ingest_delta(&added("1", "f"), 0);
    let part = json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{\"a\""});
    calls.ingest_delta(&part, 0);
    let mut again = added("1", "f");
    again["item"]["arguments"] = "zzz".into();
    assert!(!calls.ingest_delta(&again, 0).updated);
    let item = json!({"item": {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f",
        "arguments": "yyy", "status": "in_progress"}});
    assert!(!calls.ingest_delta(&item, 0).updated);
    assert_eq!(calls.snapshot(0)[0].arguments, "{\"a\"");
}

#[test]
fn items_without_ids_have_those_of_their_event() {
    let mut calls = ToolCallAggregator::new();
    let event = json!({"type": "response.output_item.added", "item_id": "fc_1", "output_index": 3,
        "item": {"type": "function_call", "name": "f", "arguments": ""}});
    calls.ingest_delta(&event, 0);
    calls.ingest_delta(
        &json!({"type": "response.output_item.added", "output_index": 0,
        "item": {"type": "function_call", "name": "g", "arguments": ""}}),
        0,
    );
    let part =
        json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": "{}"});
    calls.ingest_delta(&part, 0);
    let completed = json!({"type": "response.completed", "response": {"output": [
        {"type": "function_call", "name": "g", "arguments": "[]"}]}});
    calls.ingest_delta(&completed, 0);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{}"), ("g", "[]")]);
}

#[test]
fn other_increments_are_not_arguments() {
    let mut calls = ToolCallAggregator::new();
    calls.ingest_delta(&added("1", "f"), 0);
    for kind in ["response.output_text.delta", "response.reasoning_summary_text.delta"] {
        let event = json!({"type": kind, "item_id": "fc_1", "output_index": 0, "delta": "x"});
        assert!(!calls.ingest_json(&event.to_string(), 0).unwrap().updated);
        assert!(!calls.ingest_delta(&event, 0).updated);
    }
}

#[test]
fn texts_of_a_message() {
    let block = "<use_tool><name>f</name></use_tool>";
    let count = |message: &Value| {
        let mut calls = ToolCallAggregator::new();
        calls.ingest_message(message, 0, TextCalls::EmitIfMissing).deltas.len()
    };
    assert_eq!(count(&json!(block)), 1);
    assert_eq!(
        count(&json!([{"role": "user", "content": block}, {"content": block}, {"content": block}])),
        2
    );
    assert_eq!(count(&json!([block])), 0);
    let wrapped =
        |depth| (0..depth).fold(json!({ "content": block }), |inner, _| json!({ "msg": inner }));
    assert_eq!([0, 1, 8, 9].map(|depth| count(&wrapped(depth))), [1, 1, 1, 0]);
}

#[test]
fn bytes_and_text_may_alternate() {
    let mut scanner = TextPatterns::default().scanner();
    let mut passed = String::new();
    let mut take = |event: ScanEvent<'_>| {
        if let ScanEvent::Text(text) = event {
            passed.push_str(text);
        }
    };
    scanner.push_bytes(b"a\xc3").for_each(&mut take);
    scanner.push("b").for_each(&mut take);
    scanner.push_bytes(b"\xc3").for_each(&mut take);
    scanner.push_bytes(b"\xa9\xe2\x82").for_each(&mut take);
    scanner.push("").for_each(&mut take);
    scanner.finish().for_each(&mut take);
    scanner.push("c").for_each(&mut take);
    assert_eq!(passed, "a\u{fffd}bé\u{fffd}c");
}
