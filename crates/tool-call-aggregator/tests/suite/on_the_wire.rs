//! Deltas and records in OpenAI's shape, taken in as a real client takes them in.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_call_aggregator::{
    Arguments, CallEvent, Position, Replaced, TextCalls, ToolCallAggregator, ToolCallDelta,
};

/// Puts frames together the way the OpenAI SDKs do: header fields once, arguments appended.
#[derive(Default)]
struct Client {
    calls: Vec<Value>,
}

impl Client {
    fn receive(&mut self, delta: &ToolCallDelta<'_>) {
        let frame = serde_json::to_value(delta).unwrap();
        let index = usize::try_from(frame["index"].as_u64().unwrap()).unwrap();
        if index == self.calls.len() {
            let mut header = frame;
            header.as_object_mut().unwrap().remove("index");
            self.calls.push(header);
            return;
        }
        assert_eq!(frame.as_object().unwrap().len(), 2, "only index and function: {frame}");
        assert_eq!(frame["function"].as_object().unwrap().len(), 1, "only arguments: {frame}");
        let held = &mut self.calls[index]["function"]["arguments"];
        *held = format!(
            "{}{}",
            held.as_str().unwrap(),
            frame["function"]["arguments"].as_str().unwrap()
        )
        .into();
    }
}

proptest! {
    #[test]
    fn a_client_holds_what_the_snapshot_says(parts in vec((0_u64..3, "[a}\"é{]{0,3}"), 0..24)) {
        let mut calls = ToolCallAggregator::new();
        let mut client = Client::default();
        for (index, text) in &parts {
            let name = ["f", "g", "h"][usize::try_from(*index).unwrap()];
            let is_known = calls.snapshot(0).iter().any(|call| call.name == name);
            let event = CallEvent {
                position: Some(Position::ChatIndex(*index)),
                name: (!is_known).then_some(name),
                arguments: Arguments::Increment(text),
                ..CallEvent::default()
            };
            for delta in calls.ingest(0, &event).deltas {
                client.receive(&delta);
            }
        }
        // Only now is it known that a call has no arguments.
        for delta in calls.finish(0).deltas {
            client.receive(&delta);
        }
        prop_assert_eq!(Value::from(client.calls), json!(calls.snapshot(0)));
    }
}

#[test]
fn a_whole_call_is_one_frame_and_a_record_has_the_same_shape() {
    let mut calls = ToolCallAggregator::new();
    let ingest = calls.ingest(0, &CallEvent::whole("call_9", "get_time", ""));
    let frames: Vec<String> =
        ingest.deltas.map(|delta| serde_json::to_string(&delta).unwrap()).collect();
    assert_eq!(
        frames,
        [
            r#"{"index":0,"id":"tool_0_0","type":"function","function":{"name":"get_time","arguments":"{}"}}"#
        ]
    );
    let record = &calls.snapshot(0)[0];
    assert_eq!((record.backend_id.as_deref(), record.arguments.as_str()), (Some("call_9"), ""));
    assert_eq!(
        serde_json::to_string(record).unwrap(),
        r#"{"id":"tool_0_0","type":"function","function":{"name":"get_time","arguments":"{}"}}"#
    );
    let legacy = json!({"name": "get_time", "arguments": "{}"});
    assert_eq!(json!(record.as_function_call()), legacy);
}

#[test]
fn what_was_sent_cannot_be_taken_back() {
    let mut calls = ToolCallAggregator::new();
    let done = |arguments| CallEvent {
        item_id: Some("fc_1"),
        ..CallEvent::whole("call_1", "f", arguments)
    };
    calls.ingest(0, &done("{\"a\":1}"));
    let ingest = calls.ingest(0, &done("{\"a\":2}"));
    let delta = ingest.deltas.clone().next().unwrap();
    assert_eq!(delta.sendable(), Err(Replaced));
    assert!(serde_json::to_string(&delta).unwrap_err().to_string().contains("replaced"));
    assert_eq!((delta.arguments, delta.appended, delta.replaced), ("{\"a\":2}", "{\"a\":2}", true));
    // A name that is taken back is no better.
    let renamed = calls.ingest(0, &CallEvent::whole("call_1", "g", "{\"a\":2}"));
    assert_eq!(
        renamed.deltas.map(|delta| (delta.name, delta.replaced)).collect::<Vec<_>>(),
        [("g", true)]
    );
}

#[test]
fn the_borrowed_way_in_says_the_same_as_the_parsed_one() {
    let mut parsed = ToolCallAggregator::new();
    let mut borrowed = ToolCallAggregator::new();
    let added = json!({"type": "response.output_item.added", "output_index": 2, "item": {
        "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": ""}});
    parsed.ingest_delta(&added, 1);
    borrowed.ingest(
        1,
        &CallEvent {
            call_id: Some("call_1"),
            item_id: Some("fc_1"),
            position: Some(Position::OutputIndex(2)),
            name: Some("f"),
            arguments: Arguments::Initial(""),
            complete: false,
        },
    );
    for text in ["{\"a\":", "{\"a\":1}", "}", "", "é"] {
        let event = json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1",
            "output_index": 2, "delta": text});
        let one: Vec<String> =
            parsed.ingest_delta(&event, 1).deltas.map(|delta| format!("{delta:?}")).collect();
        let position = Some(Position::OutputIndex(2));
        let event = CallEvent { position, ..CallEvent::increment("fc_1", text) };
        let other: Vec<String> =
            borrowed.ingest(1, &event).deltas.map(|delta| format!("{delta:?}")).collect();
        assert_eq!(one, other);
    }
    assert_eq!(parsed.snapshot(1), borrowed.snapshot(1));
}

proptest! {
    #[test]
    fn events_as_text_say_the_same_as_parsed_ones(
        events in vec((0_u64..3, "[a}\"é\\\\{]{0,3}", 0_usize..6, 0_u64..12), 0..16),
        choice in option::of(0_u32..2),
    ) {
        let (mut text, mut parsed) = (ToolCallAggregator::new(), ToolCallAggregator::new());
        for (index, delta, shape, sequence) in events {
            let item = format!("fc_{index}");
            let increment = "response.function_call_arguments.delta";
            let event = match shape {
                0 => json!({"type": "response.output_item.added", "output_index": index, "item":
                    {"type": "function_call", "id": item, "call_id": index.to_string(), "name": "f"}}),
                1 => json!({"type": increment, "item_id": item, "delta": delta}),
                2 => json!({"type": increment, "output_index": index, "delta": delta, "obfuscation": "x"}),
                3 => json!({"type": increment, "item_id": item, "delta": delta, "sequence_number": sequence}),
                4 => json!({"type": increment, "item_id": "\n", "delta": delta, "choice_index": 1}),
                _ => json!({"type": increment, "item_id": item, "delta": 7}),
            };
            let one: Vec<String> = parsed.ingest_delta(&event, choice).deltas.map(|delta| format!("{delta:?}")).collect();
            let ingest = text.ingest_json(&event.to_string(), choice).unwrap();
            prop_assert_eq!(ingest.deltas.map(|delta| format!("{delta:?}")).collect::<Vec<_>>(), one);
        }
        prop_assert_eq!(text.snapshot(0), parsed.snapshot(0));
        prop_assert_eq!(text.snapshot(1), parsed.snapshot(1));
    }
}

#[test]
fn what_is_not_json_is_an_error_and_changes_nothing() {
    let mut calls = ToolCallAggregator::new();
    assert!(calls.ingest_json("{", 0).is_err());
    let half = r#"{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"x""#;
    assert!(calls.ingest_json(half, 0).is_err());
    assert!(!calls.has_any_calls());
}

#[test]
fn text_blocks_of_a_message_become_calls_only_where_asked_for() {
    let message = json!({"choices": [
        {"index": 0, "message": {"content": "See <use_tool><name>a</name></use_tool>"}},
        {"index": 1, "message": {"content": [{"type": "text", "text": "<use_tool><name>b</name></use_tool>"}]}},
    ]});
    let mut calls = ToolCallAggregator::new();
    assert!(!calls.ingest_message(&message, None, TextCalls::Ignore).updated);
    assert_eq!(calls.extract_blocks("<use_tool><name>b</name></use_tool>", 0).blocks.len(), 1);
    assert!(!calls.has_any_calls());
    assert!(calls.ingest_message(&message, None, TextCalls::EmitIfMissing).updated);
    let names =
        |choice| calls.snapshot(choice).into_iter().map(|call| call.name).collect::<Vec<_>>();
    assert_eq!((names(0), names(1)), (vec!["a".to_owned()], vec!["b".to_owned()]));
}
