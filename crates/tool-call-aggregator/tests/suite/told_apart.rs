//! Which call an event is about, where only one detail decides.

use serde_json::{Value, json};
use tool_call_aggregator::{
    Arguments, CallEvent, Limit, Limits, Position, TextCalls, ToolCallAggregator,
    extract_use_tool_blocks,
};

use crate::criteria::{added, names_and_arguments};

fn message(calls: &mut ToolCallAggregator, entries: &Value) -> usize {
    calls.ingest_message(&json!({ "tool_calls": entries }), 0, TextCalls::Ignore).deltas.len()
}

#[test]
fn entries_of_a_message_without_ids() {
    let entry = |arguments: Value| json!([{"function": {"name": "f", "arguments": arguments}}]);
    let mut calls = ToolCallAggregator::new();
    assert_eq!(message(&mut calls, &entry(json!("{\"a\": 1}"))), 1);
    assert_eq!(message(&mut calls, &entry(json!({"a": 1}))), 0, "the same, parsed");
    assert_eq!(message(&mut calls, &entry(json!("{\"a\": 2}"))), 1, "another text is another call");
    assert_eq!(message(&mut calls, &entry(json!("{\"a\": 2}"))), 0);
    let with_id = json!([{"id": "call_1", "function": {"name": "f", "arguments": "{\"a\": 3}"}}]);
    assert_eq!(message(&mut calls, &with_id), 1);
    let texts: Vec<String> = calls.snapshot(0).into_iter().map(|call| call.arguments).collect();
    assert_eq!(texts, ["{\"a\": 1}", "{\"a\": 2}", "{\"a\": 3}"]);
}

#[test]
fn calls_of_a_list() {
    let call = |text: &str| json!({"name": "f", "arguments": text});
    let mut calls = ToolCallAggregator::new();
    let list = json!([{"type": "message"}, call("1"), call("1"), call("2")]);
    for expected in [3, 0] {
        let ingest = calls.ingest_delta(&list, 0);
        assert!(ingest.deltas.clone().all(|delta| delta.complete));
        assert_eq!(ingest.deltas.len(), expected);
    }
    // Only a list itself is a list of calls.
    assert!(!calls.ingest_delta(&json!([[call("3")]]), 0).updated);
    let indexed = json!([{"index": 0, "function": {"name": "g", "arguments": "{"}}]);
    assert!(
        calls.ingest_message(&indexed, 1, TextCalls::Ignore).deltas.all(|delta| delta.complete)
    );
}

#[test]
fn envelopes_are_opened_up_to_eight_deep() {
    let wrapped = |depth: usize| {
        let call = json!({"callId": "call_1", "tool": "f", "arguments": {}});
        (0..depth).fold(call, |inner, _| json!({ "params": inner }))
    };
    for (depth, is_read) in [(0, true), (1, true), (8, true), (9, false)] {
        let mut calls = ToolCallAggregator::new();
        assert_eq!(calls.ingest_delta(&wrapped(depth), 0).updated, is_read, "{depth}");
    }
}

#[test]
fn increments_by_item_id() {
    let mut calls = ToolCallAggregator::new();
    for item in ["a", "b"] {
        calls.ingest(0, &CallEvent { name: Some(item), ..CallEvent::increment(item, "") });
    }
    for (item, text) in [("a", "1"), ("b", "2"), ("a", "3"), ("a", "4"), ("b", "5")] {
        calls.ingest(0, &CallEvent::increment(item, text));
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("a", "134"), ("b", "25")]);
}

#[test]
fn empty_ids_and_names_are_none() {
    let mut calls = ToolCallAggregator::new();
    let event = |index, name, text| CallEvent {
        call_id: Some(""),
        item_id: Some(""),
        position: Some(Position::ChatIndex(index)),
        name: Some(name),
        arguments: Arguments::Increment(text),
        complete: false,
    };
    for (index, name, text) in [(0, "f", "1"), (1, "g", "2"), (0, "", "3"), (1, "", "4")] {
        calls.ingest(0, &event(index, name, text));
    }
    let snapshot = calls.snapshot(0);
    assert_eq!(names_and_arguments(&snapshot), [("f", "13"), ("g", "24")]);
    assert!(snapshot.iter().all(|call| call.backend_id.is_none()));
}

#[test]
fn places_of_another_response() {
    let mut calls = ToolCallAggregator::new();
    let response = |id: &str| json!({"type": "response.created", "response": {"id": id}});
    let part = |text: &str| json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": text});
    calls.ingest_delta(&response("r1"), 0);
    calls.ingest_delta(&added("1", "one"), 0);
    calls.ingest_delta(&part("1"), 0);
    calls.ingest_delta(&response("r2"), 0);
    assert!(!calls.ingest_delta(&part("2"), 0).updated, "nobody there yet");
    calls.ingest_delta(&added("2", "two"), 0);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("one", "1"), ("two", "2")]);
}

#[test]
fn a_response_may_name_itself_late() {
    let numbered = |mut event: Value, sequence: u64| {
        event["sequence_number"] = sequence.into();
        event
    };
    let part = |sequence| {
        numbered(
            json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "x"}),
            sequence,
        )
    };
    let named = json!({"type": "response.in_progress", "response": {"id": "r1"}});
    for (naming, is_same) in [
        (named.clone(), true),
        (numbered(named.clone(), 3), true),
        (numbered(named.clone(), 2), false),
        (numbered(named, 0), false),
    ] {
        let mut calls = ToolCallAggregator::new();
        calls.ingest_delta(&numbered(added("1", "f"), 2), 0);
        calls.ingest_delta(&naming, 0);
        assert_eq!(calls.ingest_delta(&part(4), 0).updated, is_same, "{naming}");
    }
}

#[test]
fn twins_mean_the_same_and_have_the_same_name() {
    let block = |args: &str| {
        let text = format!("<use_tool><name>f</name><args>{args}</args></use_tool>");
        extract_use_tool_blocks(&text, 0).blocks.remove(0)
    };
    for (text, name, arguments, is_twin) in [
        ("{\"a\": [1, {\"b\": null}]}", "f", "{\"a\":[1,{\"b\":null}]}", true),
        ("{\"a\": [1, {\"b\": null}]}", "g", "{\"a\":[1,{\"b\":null}]}", false),
        ("{\"a\": 1}", "f", "{\"a\": 2}", false),
        ("{\"a\": 1}", "f", "{\"b\": 1}", false),
        ("{\"a\": \"1\"}", "f", "{\"a\": 1}", false),
        ("{\"a\": true}", "f", "{\"a\": false}", false),
        ("[1, 2]", "f", "[2, 1]", false),
        ("[1, 2]", "f", "[ 1,2 ]", true),
        ("null", "f", "false", false),
        ("not JSON", "f", "not JSON", true),
        ("not JSON", "f", "not json", false),
        ("{}", "f", "", true),
        ("[12345678901234567890123]", "f", "[12345678901234567890124]", false),
        ("[12345678901234567890123]", "f", "[ 12345678901234567890123 ]", true),
        ("[1]", "f", "[1.0]", false),
        ("[1e0]", "f", "[1]", false),
        ("{\"a\":1,\"a\":2}", "f", "{\"a\":2}", true),
        ("[\"\\u00e9\"]", "f", "[\"é\"]", true),
    ] {
        let mut calls = ToolCallAggregator::new();
        calls.ingest_block(&block(text), 0);
        let is_new = calls.ingest(0, &CallEvent::whole("call_1", name, arguments)).updated;
        assert_eq!(is_new, !is_twin, "{text}, then {name} {arguments}");
        let mut calls = ToolCallAggregator::new();
        calls.ingest(0, &CallEvent::whole("call_1", name, arguments));
        assert_eq!(
            calls.ingest_block(&block(text), 0).updated,
            !is_twin,
            "{arguments}, then {text}"
        );
    }
}

#[test]
fn parsed_arguments_are_the_text_that_they_were_parsed_from() {
    let text = "{\"a\": 10.50, \"b\": 1e2, \"c\": 12345678901234567890123}";
    let parsed: Value = serde_json::from_str(text).unwrap();
    let block = format!("<use_tool><name>f</name><args>{text}</args></use_tool>");
    let block = &extract_use_tool_blocks(&block, 0).blocks[0];
    let request =
        |arguments: &Value| json!({"callId": "call_1", "tool": "f", "arguments": arguments});
    let mut calls = ToolCallAggregator::new();
    calls.ingest_block(block, 0);
    assert!(!calls.ingest_delta(&request(&parsed), 0).updated);
    let mut calls = ToolCallAggregator::new();
    calls.ingest_delta(&request(&parsed), 0);
    assert!(!calls.ingest_block(block, 0).updated);
    let entry = |arguments: Value| json!([{"function": {"name": "f", "arguments": arguments}}]);
    let mut calls = ToolCallAggregator::new();
    assert_eq!(message(&mut calls, &entry(json!(text))), 1);
    assert_eq!(message(&mut calls, &entry(parsed)), 0);
    assert_eq!(message(&mut calls, &entry(json!({"a": 10.75}))), 1);
}

#[test]
fn a_call_of_the_text_that_the_backend_confirms_is_a_structured_call() {
    let text = "<use_tool><name>f</name></use_tool>";
    let mut calls = ToolCallAggregator::new();
    let block = |text: &str| extract_use_tool_blocks(text, 0).blocks.remove(0);
    calls.ingest_block(&block(text), 0);
    calls.ingest_block(&block(&format!("and {text}")), 0);
    for id in ["call_1", "call_2"] {
        assert_eq!(calls.snapshot(0).len(), 2);
        assert!(!calls.ingest(0, &CallEvent::whole(id, "f", "{ }")).updated);
    }
    let other = json!({"content": "<use_tool><name>g</name></use_tool>"});
    assert!(!calls.ingest_message(&other, 0, TextCalls::EmitIfMissing).updated);
    // It can still be contradicted.
    let ingest = calls.ingest(0, &CallEvent::whole("call_1", "f", "{\"a\":1}"));
    assert_eq!(
        ingest.deltas.map(|delta| (delta.index, delta.replaced)).collect::<Vec<_>>(),
        [(0, true)]
    );
    assert!(calls.ingest(0, &CallEvent::whole("call_3", "f", "{ }")).updated, "a third one");
}

#[test]
fn a_reset_choice_gives_back_what_was_streamed() {
    let limits = Limits { argument_bytes: 20, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    for _ in 0..30 {
        calls.ingest(3, &CallEvent { name: Some("f"), ..CallEvent::increment("i", "12") });
        for _ in 0..3 {
            let ingest = calls.ingest(3, &CallEvent::increment("i", "12345"));
            assert_eq!((ingest.updated, ingest.limit), (true, None));
        }
        assert_eq!(
            calls.ingest(3, &CallEvent::increment("i", "1")).limit,
            Some(Limit::ArgumentBytes)
        );
        calls.reset_turn(Some(3));
    }
    let names =
        [Limit::Calls, Limit::NameBytes, Limit::ArgumentBytes].map(|limit| limit.to_string());
    assert_eq!(names, ["calls", "name_bytes", "argument_bytes"]);
}

#[test]
fn items_of_two_lists_that_share_a_call_id_and_a_place() {
    let list = |item: &str, arguments: &str| json!([{"type": "function_call", "id": item, "call_id": "call_x", "name": "f", "arguments": arguments}]);
    let mut calls = ToolCallAggregator::new();
    for (item, arguments) in [("fc_1", "[1]"), ("fc_2", "[2]"), ("fc_1", "[1]")] {
        calls.ingest_message(&list(item, arguments), None, TextCalls::Ignore);
    }
    let snapshot = calls.snapshot(0);
    let arguments: Vec<&str> = snapshot.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, ["[1]", "[2]"]);
}
