//! What counts as a change, and what a client is told of it.

use serde_json::{Value, json};
use tool_call_aggregator::{
    Arguments, CallEvent, FragmentMode, Limits, RepeatPolicy, TextCalls, ToolCallAggregator,
    ToolCallDelta,
};

use crate::criteria::{added, names_and_arguments};

#[test]
fn policies_hold_for_every_way_in() {
    let header = CallEvent { name: Some("f"), ..CallEvent::increment("fc_1", "{") };
    let part = |text| CallEvent::increment("fc_1", text);
    let policy = RepeatPolicy::DropImmediateRepeats;
    let mut calls = ToolCallAggregator::builder().repeat_policy(policy).build();
    calls.ingest(0, &header);
    for (text, updated) in
        [("}", true), ("}", false), ("x", true), ("}", true), ("}}", true), ("}}", false)]
    {
        assert_eq!(calls.ingest(0, &part(text)).updated, updated, "{text}");
    }
    assert_eq!(calls.snapshot(0)[0].arguments, "{}x}}}");

    let mut calls = ToolCallAggregator::builder().fragments(FragmentMode::Cumulative).build();
    calls.ingest(0, &header);
    for text in ["{", "{1", "{12", "{12"] {
        calls.ingest(0, &part(text));
    }
    assert_eq!(calls.snapshot(0)[0].arguments, "{12");

    // Without any identity, too.
    let anonymous = json!({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]});
    for (policy, count) in [(RepeatPolicy::DropImmediateRepeats, 1), (RepeatPolicy::ByIdentity, 2)]
    {
        let mut calls = ToolCallAggregator::builder().repeat_policy(policy).build();
        calls.ingest_delta(&anonymous, 0);
        calls.ingest_delta(&anonymous, 0);
        assert_eq!(calls.snapshot(0).len(), count);
    }
    let mut calls = ToolCallAggregator::builder().repeat_policy(policy).build();
    calls.ingest_delta(&anonymous, 0);
    calls.ingest_delta(&json!({"tool_calls": [{"function": {"name": "g", "arguments": "{}"}}]}), 0);
    assert_eq!(names_and_arguments(&calls.snapshot(0)), [("f", "{}"), ("g", "{}")]);
}

#[test]
fn a_name_is_changed_by_the_last_word_only() {
    let mut calls = ToolCallAggregator::new();
    calls.ingest_delta(&added("1", "first"), 0);
    assert!(!calls.ingest_delta(&added("1", "second"), 0).updated);
    let frame = CallEvent {
        name: Some("third"),
        call_id: Some("call_1"),
        ..CallEvent::increment("fc_1", "{}")
    };
    assert_eq!(
        calls.ingest(0, &frame).deltas.map(|delta| delta.name).collect::<Vec<_>>(),
        ["first"]
    );
    let item = json!({"item": {"type": "function_call", "id": "fc_1", "call_id": "call_1",
        "name": "last", "arguments": "{}"}});
    let ingest = calls.ingest_delta(&item, 0);
    assert_eq!(
        ingest.deltas.map(|delta| (delta.name, delta.replaced)).collect::<Vec<_>>(),
        [("last", true)]
    );
}

#[test]
fn a_call_that_one_payload_speaks_of_twice_changes_once() {
    let mut calls = ToolCallAggregator::new();
    let entry = |name: Option<&str>, text: &str| json!({"index": 0, "function": {"name": name, "arguments": text}});
    let ingest =
        calls.ingest_delta(&json!({"tool_calls": [entry(Some("f"), "a"), entry(None, "b")]}), 0);
    let deltas: Vec<_> =
        ingest.deltas.map(|delta| (delta.appended.to_owned(), delta.is_first())).collect();
    assert_eq!(deltas, [("ab".to_owned(), true)]);
    let ingest =
        calls.ingest_delta(&json!({"tool_calls": [entry(None, "c"), entry(None, "d")]}), 0);
    assert_eq!(
        ingest.deltas.map(|delta| (delta.appended, delta.replaced)).collect::<Vec<_>>(),
        [("cd", false)]
    );

    // What the same payload says and takes back was never sent.
    let whole = |text: &str| json!({"id": "call_1", "function": {"name": "g", "arguments": text}});
    let list = Value::from(vec![whole("x"), whole("y")]);
    let mut calls = ToolCallAggregator::new();
    let deltas = |calls: &mut ToolCallAggregator, list: &Value| {
        let ingest = calls.ingest_message(list, 0, TextCalls::Ignore);
        ingest.deltas.map(|delta| (delta.appended.to_owned(), delta.replaced)).collect::<Vec<_>>()
    };
    assert_eq!(deltas(&mut calls, &list), [("y".to_owned(), false)]);
    assert_eq!(deltas(&mut calls, &list), [("y".to_owned(), true)]);
    assert_eq!(
        deltas(&mut calls, &Value::from(vec![whole("yz"), whole("w"), whole("wv")])),
        [("wv".to_owned(), true)]
    );
}

#[test]
fn a_client_that_was_sent_braces_for_nothing_is_not_sent_more() {
    let item = |arguments: Value| {
        json!({"method": "item/started", "params": {"item":
        {"type": "dynamicToolCall", "id": "call_1", "tool": "f", "arguments": arguments}}})
    };
    let frames = |calls: &mut ToolCallAggregator, event: &Value| -> Vec<Option<String>> {
        let frame = |delta| serde_json::to_value::<ToolCallDelta<'_>>(delta).ok();
        let arguments = |frame: Value| frame["function"]["arguments"].as_str().map(str::to_owned);
        calls.ingest_delta(event, 0).deltas.map(|delta| frame(delta).and_then(arguments)).collect()
    };
    let mut calls = ToolCallAggregator::new();
    assert_eq!(frames(&mut calls, &item(Value::Null)), [Some("{}".to_owned())]);
    assert_eq!(frames(&mut calls, &item(json!({}))), [Some(String::new())]);
    assert_eq!(calls.snapshot(0)[0].arguments, "{}");
    assert_eq!(frames(&mut calls, &item(json!({}))), [] as [Option<String>; 0]);

    let mut calls = ToolCallAggregator::new();
    assert_eq!(frames(&mut calls, &item(Value::Null)), [Some("{}".to_owned())]);
    assert_eq!(frames(&mut calls, &item(json!({"a": 1}))), [None]);
    assert!(!calls.finish(0).updated);
}

#[test]
fn braces_are_sent_once_however_the_end_is_told() {
    let item = |status: &str| {
        json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f",
        "arguments": "", "status": status})
    };
    let list = Value::from(vec![item("in_progress"), item("completed")]);
    let mut calls = ToolCallAggregator::new();
    let ingest = calls.ingest_message(&list, 0, TextCalls::Ignore);
    let frames: Vec<Value> =
        ingest.deltas.map(|delta| serde_json::to_value(delta).unwrap()).collect();
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0]["function"]["arguments"], "{}");
    assert!(!calls.finish(0).updated);
}

#[test]
fn increments_through_the_borrowed_way_in_are_positioned_too() {
    let event = |name, arguments| CallEvent {
        name,
        item_id: Some("fc_1"),
        arguments,
        ..CallEvent::default()
    };
    let mut calls = ToolCallAggregator::new();
    calls.ingest(0, &event(Some("f"), Arguments::Initial("{\"a\"")));
    assert!(!calls.ingest(0, &event(None, Arguments::Increment("{\"a"))).updated);
    assert!(calls.ingest(0, &event(None, Arguments::Increment("\":1}"))).updated);
    assert!(!calls.ingest(0, &event(None, Arguments::Initial("x"))).updated);
    assert_eq!(calls.snapshot(0)[0].arguments, "{\"a\":1}");

    let mut calls = ToolCallAggregator::new();
    calls.ingest(0, &event(Some("f"), Arguments::Rewritten("{}")));
    let replaced: Vec<bool> = calls
        .ingest(0, &event(None, Arguments::Increment("{\"a")))
        .deltas
        .map(|delta| delta.replaced)
        .collect();
    assert_eq!(replaced, [true]);
    calls.ingest(0, &event(None, Arguments::Increment("\":1}")));
    assert_eq!(calls.snapshot(0)[0].arguments, "{\"a\":1}");

    let mut calls = ToolCallAggregator::new();
    calls.ingest(0, &event(Some("f"), Arguments::Absent));
    calls.ingest(0, &event(None, Arguments::Increment("x")));
    assert!(!calls.ingest(0, &event(None, Arguments::Rewritten("{}"))).updated, "a text is known");
}

#[test]
fn numbers_are_kept_for_as_many_choices_as_there_may_be_calls() {
    let limits = Limits { calls: 1, ..Limits::default() };
    let mut calls = ToolCallAggregator::builder().limits(limits).build();
    let numbered = |item: &str, sequence: u64| {
        let mut event = added(item, "f");
        event["sequence_number"] = sequence.into();
        event
    };
    assert!(
        !calls
            .ingest_delta(&json!({"type": "response.in_progress", "sequence_number": 5}), 0)
            .updated
    );
    assert!(!calls.ingest_delta(&numbered("1", 4), 0).updated, "a number that was there");
    for sequence in [9, 8] {
        let ingest = calls.ingest_delta(&numbered("2", sequence), 1);
        assert_eq!(ingest.updated, sequence == 9, "no room to remember, so by identity alone");
    }
}
