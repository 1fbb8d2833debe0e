//! What a user of the library relies on, one test each, in the plainest words. The laws and the corpus
//! go further; these say what is meant.

use serde_json::{Value, json};
use tool_call_aggregator::{
    Arguments, CallEvent, Limits, PatternError, Position, ScanEvent, TextCalls, TextPatterns,
    ToolCallAggregator, ToolCallJson, ToolCallRecord, UseTool, extract_use_tool_blocks,
};

use crate::bracket::Bracket;

pub(crate) fn added(item: &str, name: &str) -> Value {
    json!({"type": "response.output_item.added", "output_index": 0, "item": {
        "type": "function_call", "id": format!("fc_{item}"), "call_id": format!("call_{item}"),
        "name": name, "arguments": ""}})
}

fn more(item: &str, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "item_id": format!("fc_{item}"), "delta": text})
}

fn done(item: &str, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.done", "item_id": format!("fc_{item}"), "arguments": text})
}

pub(crate) fn names_and_arguments(records: &[ToolCallRecord]) -> Vec<(&str, &str)> {
    records.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
}

#[test]
fn a_delta_goes_out_as_soon_as_the_name_is_known() {
    let mut calls = ToolCallAggregator::new();
    assert!(!calls.has_calls(0) && !calls.has_any_calls());
    let first = calls.ingest_delta(&added("1", "search"), 0);
    assert!(first.updated);
    let delta = first.deltas.clone().next().unwrap();
    assert_eq!(
        (delta.id, delta.name, delta.arguments, delta.complete),
        ("tool_0_0", "search", "", false)
    );
    assert!(calls.has_calls(0) && calls.has_any_calls() && !calls.has_calls(1));
    for (part, so_far) in [("{\"q\":", "{\"q\":"), ("\"a\"}", "{\"q\":\"a\"}")] {
        let ingest = calls.ingest_delta(&more("1", part), 0);
        let delta = ingest.deltas.clone().next().unwrap();
        assert_eq!((delta.id, delta.arguments, delta.appended), ("tool_0_0", so_far, part));
    }
    assert!(!calls.is_complete(0, 0));
    assert!(!calls.ingest_delta(&done("1", "{\"q\":\"a\"}"), 0).updated);
    assert!(calls.is_complete(0, 0) && !calls.is_complete(0, 1) && !calls.is_complete(1, 0));
}

#[test]
fn arguments_before_the_name_wait_for_it() {
    let mut calls = ToolCallAggregator::new();
    assert!(!calls.ingest_delta(&more("1", "{\"q\":"), 0).updated);
    assert!(calls.snapshot(0).is_empty() && !calls.has_any_calls());
    let ingest = calls.ingest_delta(&added("1", "search"), 0);
    assert_eq!(ingest.deltas.map(|delta| delta.appended).collect::<Vec<_>>(), ["{\"q\":"]);
    calls.ingest_delta(&more("1", "1}"), 0);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("search", "{\"q\":1}")]);
}

#[test]
fn interleaved_calls_keep_their_own_fragments_and_their_order() {
    let mut calls = ToolCallAggregator::new();
    for event in [
        added("a", "one"),
        json!({"type": "response.output_text.delta", "delta": "noise"}),
        json!({"type": "response.output_item.added", "output_index": 1, "item": {
            "type": "function_call", "id": "fc_b", "call_id": "call_b", "name": "two", "arguments": ""}}),
        more("b", "{"),
        more("a", "{"),
        more("b", "}"),
        json!({"unknown": true}),
        more("a", "}"),
    ] {
        calls.ingest_delta(&event, 0);
    }
    let snapshot = calls.snapshot(0);
    assert_eq!(names_and_arguments(&snapshot), [("one", "{}"), ("two", "{}")]);
    assert_eq!(
        snapshot.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(),
        ["tool_0_0", "tool_0_1"]
    );
    assert_eq!(calls.snapshot(0), snapshot);
}

#[test]
fn choices_are_apart_and_are_reset_apart() {
    let mut calls = ToolCallAggregator::new();
    let chunk = json!({"choices": [
        {"index": 2, "delta": {"tool_calls": [{"index": 0, "function": {"name": "two", "arguments": "2"}}]}},
        {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "zero", "arguments": "0"}}]}},
    ]});
    calls.ingest_delta(&chunk, None);
    calls.ingest_delta(
        &json!({"choice_index": 5, "tool_calls": [{"index": 0, "function": {"name": "five"}}]}),
        None,
    );
    assert_eq!(calls.choices().collect::<Vec<_>>(), [0, 2, 5]);
    assert_eq!(names_and_arguments(&calls.snapshot(2)), [("two", "2")]);
    assert_eq!(calls.snapshot(2)[0].id, "tool_2_0");
    calls.reset_turn(Some(2));
    assert_eq!(calls.choices().collect::<Vec<_>>(), [0, 5]);
    calls.reset_turn(Some(9));
    assert!(calls.has_calls(0));
    calls.reset_turn(None);
    assert!(!calls.has_any_calls());
}

#[test]
fn a_reset_frees_what_the_caps_count_and_keeps_the_patterns() {
    let limits = Limits { calls: 2, argument_bytes: 40, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    calls.patterns_mut().register("bracket", Bracket).unwrap();
    for _ in 0..50 {
        for choice in [0, 1] {
            let event = CallEvent {
                position: Some(Position::ChatIndex(0)),
                ..CallEvent::whole("c", "f", "0123456789")
            };
            let ingest = calls.ingest(choice, &event);
            assert_eq!((ingest.updated, ingest.limit), (true, None));
        }
        calls.reset_turn(Some(0));
        calls.reset_turn(Some(1));
    }
    // To the byte: a name of one, an id of one that is kept twice, and the arguments.
    let fits = |calls: &mut ToolCallAggregator, bytes: usize| {
        let updated = calls.ingest(0, &CallEvent::whole("c", "f", &"x".repeat(bytes))).updated;
        calls.reset_turn(Some(0));
        updated
    };
    assert!(fits(&mut calls, 37) && !fits(&mut calls, 38) && fits(&mut calls, 37));
    calls.ingest(0, &CallEvent::whole("c", "f", "0123456789"));
    calls.reset_turn(None);
    assert!(fits(&mut calls, 37));
    assert!(calls.patterns().contains("bracket"));
}

#[test]
fn a_new_turn_forgets_numbers_and_flags() {
    let mut calls = ToolCallAggregator::new();
    assert!(calls.supports_parallel_calls());
    let created = json!({"type": "response.created", "sequence_number": 9,
        "response": {"id": "resp_1", "parallel_tool_calls": false, "output": []}});
    calls.ingest_delta(&created, 0);
    assert!(!calls.supports_parallel_calls());
    calls.ingest_delta(&json!({"parallel_tool_calls": true}), 0);
    assert!(!calls.supports_parallel_calls());
    let mut numbered = added("1", "f");
    numbered["sequence_number"] = 3.into();
    assert!(!calls.ingest_delta(&numbered, 0).updated);
    calls.reset_turn(None);
    assert!(calls.supports_parallel_calls());
    assert!(calls.ingest_delta(&numbered, 0).updated);
}

#[test]
fn a_final_message_is_enough() {
    let mut calls = ToolCallAggregator::new();
    let message = json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "a", "arguments": "{\"broken"}},
        {"id": "call_2", "type": "function", "function": {"name": "b"}},
        {"id": "call_3", "type": "function", "function": {"name": "c", "arguments": null}},
    ]});
    assert_eq!(calls.ingest_message(&message, 0, TextCalls::Ignore).deltas.count(), 3);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("a", "{\"broken"), ("b", ""), ("c", "")]);
    assert!(!calls.ingest_message(&message, 0, TextCalls::Ignore).updated);

    let mut calls = ToolCallAggregator::new();
    let message = json!({"message": {"function_call": {"name": "a", "arguments": "{}"}}});
    calls.ingest_message(&message, 0, TextCalls::Ignore);
    assert_eq!(
        json!(calls.snapshot(0)[0].as_function_call()),
        json!({"name": "a", "arguments": "{}"})
    );
}

#[test]
fn a_block_is_the_structured_call_that_means_the_same() {
    let text = r#"<use_tool><name>f</name><args>{ "b": [1, 2], "a": "x" }</args></use_tool>"#;
    let block = &extract_use_tool_blocks(text, 0).blocks[0];
    let mut calls = ToolCallAggregator::new();
    calls.ingest(0, &CallEvent::whole("call_1", "f", r#"{"a":"x","b":[1,2]}"#));
    assert!(!calls.ingest_block(block, 0).updated);
    assert!(calls.ingest_block(block, 1).updated, "another choice is another matter");
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", r#"{"a":"x","b":[1,2]}"#)]);

    // The other way round the text's bytes were first, and stay.
    let mut calls = ToolCallAggregator::new();
    assert!(calls.ingest_block(block, 0).updated);
    assert!(!calls.ingest_block(block, 0).updated);
    for _ in 0..2 {
        assert!(
            !calls.ingest(0, &CallEvent::whole("call_1", "f", r#"{"a":"x","b":[1,2]}"#)).updated
        );
    }
    let snapshot = calls.snapshot(0);
    assert_eq!(names_and_arguments(&snapshot), [("f", r#"{ "b": [1, 2], "a": "x" }"#)]);
    assert_eq!(snapshot[0].backend_id.as_deref(), Some("call_1"));
    for other in [r#"{"a":"x","b":[2,1]}"#, r#"{"a":"x"}"#, r#"{"a":"x","b":[1,2],"c":null}"#, "x"]
    {
        assert!(calls.ingest(0, &CallEvent::whole(other, "f", other)).updated, "{other}");
    }
    assert!(calls.ingest(0, &CallEvent::whole("call_g", "g", &block.args_text)).updated);
}

#[test]
fn blocks_without_arguments_are_the_call_without_arguments() {
    let block = &extract_use_tool_blocks("<use_tool><name>f</name></use_tool>", 0).blocks[0];
    let mut calls = ToolCallAggregator::new();
    calls.ingest(0, &CallEvent::whole("call_1", "f", ""));
    assert!(!calls.ingest_block(block, 0).updated);
    assert_eq!(calls.snapshot(0)[0].arguments, "");
}

#[test]
fn equal_blocks_in_two_places_are_two_calls() {
    let text = "<use_tool><name>f</name></use_tool> and <use_tool><name>f</name></use_tool>";
    let message = json!({ "content": text });
    let mut calls = ToolCallAggregator::new();
    assert_eq!(calls.ingest_message(&message, 0, TextCalls::EmitIfMissing).deltas.count(), 2);
    for block in &extract_use_tool_blocks(text, 0).blocks {
        assert!(!calls.ingest_block(block, 0).updated);
    }
    // Texts of one message are counted through.
    let parts = json!({"content": [{"type": "text", "text": "<use_tool><name>f</name></use_tool>"},
        {"type": "reasoning", "text": "<use_tool><name>r</name></use_tool>"},
        {"type": "text", "text": "<use_tool><name>f</name></use_tool>"}]});
    let mut calls = ToolCallAggregator::new();
    assert_eq!(calls.ingest_message(&parts, 0, TextCalls::EmitIfMissing).deltas.count(), 2);
    assert!(!calls.ingest_message(&parts, 0, TextCalls::EmitIfMissing).updated);
}

#[test]
fn structured_calls_win_over_the_text_of_their_message() {
    let message = json!({"content": "<use_tool><name>b</name></use_tool>",
        "tool_calls": [{"id": "call_1", "function": {"name": "a", "arguments": "{}"}}]});
    let mut calls = ToolCallAggregator::new();
    calls.ingest_message(&message, 0, TextCalls::EmitIfMissing);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("a", "{}")]);
}

#[test]
fn patterns_are_a_value_that_every_consumer_honours() {
    let mut calls = ToolCallAggregator::new();
    assert_eq!(calls.patterns().names().collect::<Vec<_>>(), ["use_tool"]);
    calls.patterns_mut().register("bracket", Bracket).unwrap();
    let taken = calls.patterns_mut().register("bracket", ToolCallJson).unwrap_err();
    assert_eq!(taken, PatternError::Taken("bracket".to_owned()));
    assert!(taken.to_string().contains("\"bracket\" is already registered"));

    let text = "a [[call x 1]] b";
    let blocks = calls.extract_blocks(text, 0).blocks;
    assert_eq!((blocks[0].start, blocks[0].end, blocks[0].name.as_str()), (2, 14, "x"));
    assert_eq!(calls.extract_blocks(text, 3).blocks.len(), 0);
    assert_eq!(extract_use_tool_blocks(text, 0).blocks.len(), 0, "the built-in alone");
    let found =
        calls.scanner().push(text).filter(|event| matches!(event, ScanEvent::Block(_))).count();
    assert_eq!(found, 1);
    calls.ingest_message(&json!({ "content": text }), 0, TextCalls::EmitIfMissing);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("x", "1")]);

    assert!(calls.patterns_mut().remove("bracket"));
    assert!(!calls.patterns_mut().remove("bracket"));
    assert_eq!(calls.extract_blocks(text, 0).blocks.len(), 0);
    assert_eq!(
        TextPatterns::none().extract_blocks("<use_tool><name>x</name></use_tool>", 0).blocks.len(),
        0
    );
    let built = ToolCallAggregator::builder().patterns(TextPatterns::none()).build();
    assert!(!built.patterns().contains(UseTool::NAME));
}

#[test]
fn extraction_goes_on_where_it_left_off() {
    let text = "é<use_tool><name>a</name></use_tool> <use_tool><name>b</name></use_tool> <use_to";
    let all = extract_use_tool_blocks(text, 0);
    assert_eq!(all.blocks.len(), 2);
    assert_eq!(&text[all.next..], "<use_to");
    assert_eq!(extract_use_tool_blocks(text, 1).blocks.len(), 2, "inside é begins after it");
    let second = extract_use_tool_blocks(text, all.blocks[0].end);
    assert_eq!(second.blocks, all.blocks[1..]);
    assert!(extract_use_tool_blocks(text, text.len() + 5).blocks.is_empty());
    assert_eq!(extract_use_tool_blocks("abc", 9).next, 3);
}

#[test]
fn anonymous_events_follow_the_call_that_was_spoken_of() {
    let mut calls = ToolCallAggregator::new();
    let say = |name: Option<&'static str>, arguments| CallEvent {
        name,
        arguments,
        ..CallEvent::default()
    };
    calls.ingest(0, &say(None, Arguments::Increment("{")));
    calls.ingest(0, &say(Some("a"), Arguments::Increment("}")));
    calls.ingest(0, &say(Some("a"), Arguments::Increment("2")));
    calls.ingest(0, &say(None, Arguments::Increment("3")));
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("a", "{}"), ("a", "23")]);
    // A whole call that is said again is the same; another one is not.
    assert!(calls.ingest(0, &say(Some("b"), Arguments::Snapshot("x"))).updated);
    assert!(!calls.ingest(0, &say(Some("b"), Arguments::Snapshot("x"))).updated);
    assert!(calls.ingest(0, &say(Some("b"), Arguments::Snapshot("y"))).updated);
    assert_eq!(calls.snapshot(0).len(), 4);
}
