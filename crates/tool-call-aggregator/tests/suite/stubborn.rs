//! Servers that count anew, repeat themselves or say one thing in two ways.

use serde_json::{Value, json};
use tool_call_aggregator::{
    Arguments, CallEvent, FragmentMode, Limit, Limits, Position, TextCalls, ToolCallAggregator,
    extract_use_tool_blocks,
};

use crate::criteria::names_and_arguments;

/// What comes of these events.
fn calls_of(events: &[Value]) -> ToolCallAggregator {
    let mut calls = ToolCallAggregator::new();
    for event in events {
        calls.ingest_delta(event, 0);
    }
    calls
}

fn entry(arguments: &str) -> Value {
    json!({"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]})
}

fn added(index: u64, item: &str, call: &str, name: &str) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item":
        {"type": "function_call", "id": item, "call_id": call, "name": name, "arguments": ""}})
}

fn part(index: u64, item: &str, text: &str) -> Value {
    json!({"type": "response.function_call_arguments.delta", "output_index": index, "item_id": item, "delta": text})
}

#[test]
fn a_later_response_that_uses_an_item_id_again() {
    let created = |id: &str| json!({"type": "response.created", "response": {"id": id}});
    let done = json!({"type": "response.function_call_arguments.done", "item_id": "fc_0",
        "output_index": 0, "name": "g", "arguments": "{\"b\":2}"});
    let calls = calls_of(&[
        created("r1"),
        added(0, "fc_0", "A", "f"),
        part(0, "fc_0", "{}"),
        created("r2"),
        added(0, "fc_0", "B", "g"),
        added(1, "fc_1", "C", "h"),
        part(0, "fc_0", "{\"b\":"),
        part(1, "fc_1", "[]"),
        done,
    ]);
    assert_eq!(
        names_and_arguments(&calls.snapshot(0)),
        [("f", "{}"), ("g", "{\"b\":2}"), ("h", "[]")]
    );
}

#[test]
fn an_item_id_that_is_another_calls_id() {
    let calls = calls_of(&[
        added(0, "1", "2", "f"),
        added(1, "2", "3", "g"),
        part(0, "1", "A"),
        part(1, "2", "B"),
    ]);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "A"), ("g", "B")]);
}

#[test]
fn an_item_id_under_the_name_of_a_call_id() {
    let mut calls = ToolCallAggregator::new();
    for (place, (id, name)) in [("i", "f"), ("j", "g")].into_iter().enumerate() {
        let position = Some(Position::ChatIndex(place as u64));
        let event = CallEvent { name: Some(name), position, ..CallEvent::increment(id, "") };
        calls.ingest(0, &event);
    }
    let position = Some(Position::ChatIndex(1));
    let event = CallEvent {
        call_id: Some("i"),
        position,
        arguments: Arguments::Increment("x"),
        ..CallEvent::default()
    };
    calls.ingest(0, &event);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "x"), ("g", "")]);
}

#[test]
fn one_id_for_every_call() {
    let frame = |index: u64, name: Option<&str>, text: &str| {
        json!({"tool_calls": [
        {"index": index, "id": "x", "function": {"name": name, "arguments": text}}]})
    };
    let calls = calls_of(&[
        frame(0, Some("f"), ""),
        frame(1, Some("f"), ""),
        frame(0, None, "[0]"),
        frame(1, None, "[1]"),
    ]);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "[0]"), ("f", "[1]")]);

    let entry =
        |name: &str, text: &str| json!({"id": "x", "function": {"name": name, "arguments": text}});
    let message = json!({"tool_calls": [entry("a", "{}"), entry("b", "{\"b\":1}")]});
    let mut calls = ToolCallAggregator::new();
    for expected in [2, 0, 0] {
        assert_eq!(calls.ingest_message(&message, 0, TextCalls::Ignore).deltas.len(), expected);
    }
    let mut calls = calls_of(&[frame(0, Some("a"), "{}"), frame(1, Some("b"), "{\"b\":1}")]);
    assert!(!calls.ingest_message(&message, 0, TextCalls::Ignore).updated);
}

fn item(id: Option<&str>, call: &str, name: &str, arguments: &str) -> Value {
    json!({"type": "function_call", "id": id, "call_id": call, "name": name, "arguments": arguments})
}

#[test]
fn one_call_id_on_items_with_different_ids() {
    let (first, second) =
        (item(Some("fc_1"), "x", "f", "[1]"), item(Some("fc_2"), "x", "f", "[1]"));
    let both = [("f", "[1]"), ("f", "[1]")];
    let response = json!({"type": "response.completed", "response": {"output": [first, second]}});
    let lists = [json!([first, second]), json!([second]), json!([first])];
    let steps = [vec![first.clone(), second.clone()], vec![response], lists.to_vec()];
    for one in &steps {
        for other in &steps {
            let mut calls = calls_of(one);
            assert_eq!(names_and_arguments(&calls.snapshot(0)), both, "{one:?}");
            for event in other {
                assert!(!calls.ingest_delta(event, 0).updated, "{one:?}, then {event}");
            }
        }
    }
}

#[test]
fn an_item_id_that_is_the_call_id() {
    // As `item/started` has it.
    let calls = calls_of(&[
        item(Some("x"), "x", "f", ""),
        item(Some("fc_1"), "x", "f", ""),
        item(Some("x"), "x", "f", "{}"),
    ]);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{}")]);
    // The call id in the place of the item id, then both, then the item id alone.
    let increment = |item: &str, text: &str| json!({"type": "response.function_call_arguments.delta", "item_id": item, "delta": text});
    let added =
        json!({"type": "response.output_item.added", "item": item(Some("fc_1"), "x", "f", "")});
    let calls = calls_of(&[increment("x", "{"), added, increment("fc_1", "}")]);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{}")]);
}

#[test]
fn an_output_index_is_one_call_whatever_its_item_ids_are() {
    let calls = calls_of(&[
        added(0, "fc_1", "x", "f"),
        part(0, "fc_2", "[1]"),
        added(0, "fc_3", "x", "f"),
        added(1, "fc_4", "x", "f"),
        part(1, "fc_5", "[2]"),
    ]);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "[1]"), ("f", "[2]")]);
}

#[test]
fn requests_for_calls_with_one_id_are_matched_by_name() {
    let request = |tool: &str| json!({"method": "item/tool/call", "params": {"callId": "x", "tool": tool, "arguments": {}}});
    let mut calls = calls_of(&[
        item(Some("fc_1"), "x", "f", "[1]"),
        item(Some("fc_2"), "x", "g", "[2]"),
        item(Some("fc_3"), "x", "h", "[3]"),
    ]);
    for tool in ["f", "g", "h"] {
        assert!(!calls.ingest_delta(&request(tool), 0).updated, "{tool}");
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "[1]"), ("g", "[2]"), ("h", "[3]")]);
}

#[test]
fn messages_without_ids_said_again_and_again() {
    let mut calls = ToolCallAggregator::new();
    for _ in 0..3 {
        for message in [entry("{\"a\":1}"), entry("{\"a\":2}"), entry("")] {
            calls.ingest_message(&message, 0, TextCalls::Ignore);
        }
        let list = Value::from(vec![entry("{\"a\":1}"), entry("{\"a\":2}"), entry("{\"a\":3}")]);
        calls.ingest_message(&list, 0, TextCalls::Ignore);
    }
    let snapshot = calls.snapshot(0);
    let texts: Vec<&str> = snapshot.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(texts, ["{\"a\":1}", "{\"a\":2}", "", "{\"a\":3}"]);
}

#[test]
fn a_message_without_ids_whose_calls_stood_in_the_text() {
    let block = "<use_tool><name>f</name><args>{ \"a\": 1 }</args></use_tool>";
    let message = json!({"tool_calls": [
        {"function": {"name": "f", "arguments": "{\"a\":1}"}}, {"function": {"name": "g", "arguments": "{}"}}]});
    let mut calls = ToolCallAggregator::new();
    calls.ingest_block(&extract_use_tool_blocks(block, 0).blocks[0], 0);
    for expected in [1, 0, 0] {
        assert_eq!(calls.ingest_message(&message, 0, TextCalls::Ignore).deltas.len(), expected);
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{ \"a\": 1 }"), ("g", "{}")]);
}

#[test]
fn a_whole_call_without_arguments_is_the_block_without_any() {
    let block = &extract_use_tool_blocks("<use_tool><name>f</name></use_tool>", 0).blocks[0];
    let call = json!({"method": "item/tool/call", "params": {"callId": "c", "tool": "f", "arguments": null}});
    let mut calls = ToolCallAggregator::new();
    calls.ingest_block(block, 0);
    assert!(!calls.ingest_delta(&call, 0).updated);
}

#[test]
fn the_place_of_a_refused_call() {
    let limits = Limits { calls: 1, ..Limits::default() };
    let frame = |id: Option<&str>, name: Option<&str>, text: &str| {
        json!({"tool_calls": [
        {"index": 0, "id": id, "function": {"name": name, "arguments": text}}]})
    };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    calls.ingest_delta(&frame(Some("a"), Some("f"), "{}"), 0);
    for event in [frame(Some("b"), Some("g"), ""), frame(None, None, "{\"rm\":1}")] {
        assert_eq!(calls.ingest_delta(&event, 0).limit, Some(Limit::Calls));
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{}")]);
    let legacy = |name: Option<&str>, text: &str| json!({"function_call": {"name": name, "arguments": text}});
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    for event in [legacy(Some("f"), "{}"), legacy(Some("g"), ""), legacy(None, "X")] {
        calls.ingest_delta(&event, 0);
    }
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{}")]);
}

#[test]
fn what_is_no_call() {
    let block = "<use_tool><name>f</name></use_tool>";
    let echo = json!({"method": "rawResponseItem/completed", "params": {"turnId": "auto-compact-0", "item":
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": block}]}}});
    for event in [
        json!({"method": "thread/updated", "params": {"id": "t1", "name": "My thread"}}),
        json!({"id": "gpt-5", "name": "GPT 5"}),
        json!({"type": "custom", "id": "x", "name": "y"}),
        json!({"role": "function", "name": "f", "arguments": "{}"}),
        echo,
    ] {
        let mut calls = ToolCallAggregator::new();
        assert!(!calls.ingest_message(&event, 0, TextCalls::EmitIfMissing).updated, "{event}");
        assert!(!calls.ingest_delta(&event, 0).updated, "{event}");
    }
}

#[test]
fn the_event_knows_better_than_the_item_how_far_it_is() {
    let item = |status: &str, text: &str| {
        json!({"type": "function_call", "id": "fc_0", "call_id": "A",
        "name": "f", "arguments": text, "status": status})
    };
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": item("in_progress", "{\"a\":1}")});
    let completed = json!({"type": "response.completed", "response": {"id": "r", "output": [item("in_progress", "{\"a\":1}")]}});
    for last in [done, completed] {
        let calls = calls_of(&[added(0, "fc_0", "A", "f"), part(0, "fc_0", "{\"a\""), last]);
        assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{\"a\":1}")]);
        assert!(calls.is_complete(0, 0));
    }
    let running = json!({"type": "response.in_progress", "response": {"id": "r", "output": [item("in_progress", "")]}});
    let started = json!({"method": "item/started", "params": {"item": {"type": "functionCall", "id": "fc_0",
        "callId": "A", "name": "f", "arguments": "", "status": "inProgress"}}});
    for first in [running, started] {
        let calls = calls_of(&[first, part(0, "fc_0", "[")]);
        assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "[")]);
        assert!(!calls.is_complete(0, 0));
    }
}

#[test]
fn repetitions_that_look_like_progress() {
    let event = |name, arguments, complete| CallEvent {
        name,
        item_id: Some("i"),
        arguments,
        complete,
        ..CallEvent::default()
    };
    let mut calls = ToolCallAggregator::new();
    calls.ingest(0, &event(Some("f"), Arguments::Rewritten("{}"), false));
    for _ in 0..3 {
        calls.ingest(0, &event(None, Arguments::Increment("ha"), false));
    }
    calls.ingest(0, &event(None, Arguments::Increment("}"), true));
    calls.ingest(0, &event(None, Arguments::Increment("}"), false));
    assert_eq!(calls.snapshot(0)[0].arguments, "hahaha}");
    assert!(calls.is_complete(0, 0));

    let mut calls = ToolCallAggregator::builder().fragments(FragmentMode::Cumulative).build();
    for (text, complete) in [("{\"a\"", false), ("{\"a\":1}", true), ("{\"a\"", false)] {
        calls.ingest(0, &event(Some("f"), Arguments::Increment(text), complete));
    }
    assert_eq!(calls.snapshot(0)[0].arguments, "{\"a\":1}");
}

#[test]
fn what_adds_nothing_reaches_no_limit() {
    let limits = Limits { argument_bytes: 40, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    let frame = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "x".repeat(30)}}]});
    assert!(calls.ingest_delta(&frame, 0).updated);
    assert_eq!(calls.ingest_delta(&frame, 0).limit, None);
    calls.ingest(0, &CallEvent::whole("a", "f", ""));
    let late = CallEvent {
        call_id: Some("a"),
        arguments: Arguments::Increment("0123456789"),
        ..CallEvent::default()
    };
    assert_eq!(calls.ingest(0, &late).limit, None);
    assert!(!calls.is_cut_off(0, 0));
}

#[test]
fn a_call_that_was_cut_off_is_never_finished() {
    let limits = Limits { argument_bytes: 10, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    calls.ingest(0, &CallEvent { name: Some("f"), ..CallEvent::increment("i", "") });
    calls.ingest(0, &CallEvent::increment("i", "0123456789"));
    let ingest = calls.finish(0);
    assert_eq!((ingest.updated, ingest.limit), (false, Some(Limit::ArgumentBytes)));
    assert!(calls.is_cut_off(0, 0) && !calls.is_complete(0, 0));
}

#[test]
fn a_message_without_ids_after_indices_from_one() {
    let frame = |index: u64, name: &str| json!({"tool_calls": [{"index": index, "function": {"name": name, "arguments": "{}"}}]});
    let mut calls = calls_of(&[frame(1, "a"), frame(2, "b")]);
    let entry = |name: &str| json!({"function": {"name": name, "arguments": "{}"}});
    let message = json!({"tool_calls": [entry("a"), entry("b")]});
    assert!(!calls.ingest_message(&message, 0, TextCalls::Ignore).updated);
}
