//! What only our own server promises: every other way of saying the same is a fault.

use super::*;
use crate::reading::Mismatch;

const TELEMETRY: &str = ": {\"tool_call_count\":2,\"tool_call_truncated\":false,\"stop_after_tools_mode\":\"burst\"}\n\n";

/// A right stream with an item of each kind: what differs in its events.
const EVENTS: &str = r#"[
{"type":"response.created","response":HEAD},
{"type":"response.in_progress","response":HEAD},
{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}},
{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}},
{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"why"},
{"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"why"},
{"type":"response.reasoning_summary_part.done","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":"why"}},
{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"why"}]}},
{"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1","status":"in_progress","content":[],"role":"assistant"}},
{"type":"response.content_part.added","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}},
{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"ab","logprobs":[]},
{"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"ab","logprobs":[]},
{"type":"response.content_part.done","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"ab","annotations":[]}},
{"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","status":"completed","content":[{"type":"output_text","text":"ab","annotations":[]}],"role":"assistant"}},
{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","status":"in_progress","arguments":"","call_id":"c1","name":"f"}},
{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{}"},
{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":2,"name":"f","arguments":"{}"},
{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","status":"completed","arguments":"{}","call_id":"c1","name":"f"}},
{"type":"response.output_item.added","output_index":3,"item":{"type":"custom_tool_call","id":"ctc_1","status":"in_progress","call_id":"c2","input":"","name":"g"}},
{"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":3,"delta":"in"},
{"type":"response.custom_tool_call_input.done","item_id":"ctc_1","output_index":3,"input":"in"},
{"type":"response.output_item.done","output_index":3,"item":{"type":"custom_tool_call","id":"ctc_1","status":"completed","call_id":"c2","input":"in","name":"g"}}
]"#;

fn head(status: &str, output: &Value) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 7, "model": "m",
        "status": status, "output": output, "error": null})
}

/// The item that ends with this event.
fn item(event: usize) -> Value {
    right()[event]["item"].clone()
}

fn with(mut value: Value, pointer: &str, member: Value) -> Value {
    *value.pointer_mut(pointer).unwrap() = member;
    value
}

fn right() -> Vec<Value> {
    let begun = head("in_progress", &json!([])).to_string();
    let mut events: Vec<Value> = serde_json::from_str(&EVENTS.replace("HEAD", &begun)).unwrap();
    let items = [7, 13, 17, 21].map(|event: usize| events[event]["item"].clone());
    let mut response = head("completed", &json!(items));
    response["usage"] = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3,
        "input_tokens_details": {}, "output_tokens_details": {}});
    events.push(json!({"type": "response.completed", "response": response}));
    events
}

fn read(events: &[Value]) -> Result<ReadResponse, Mismatch> {
    ResponseStream::read(&(body(events) + TELEMETRY))
}

#[test]
fn a_right_stream_is_read() {
    let read = read(&right()).unwrap();
    assert_eq!(read.items, [7, 13, 17, 21].map(item));
    assert_eq!((&read.response["status"], &read.error), (&json!("completed"), &None));
    assert_eq!(read.telemetry.as_ref().unwrap()["tool_call_count"], 2);
    let answer = read.answer();
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("ab", 2));
    assert_eq!(answer.finish.as_deref(), Some("tool_calls"));
}

#[test]
fn no_event_can_be_missing_doubled_or_in_another_place() {
    for index in 0..right().len() {
        let mut missing = right();
        missing.remove(index);
        assert!(read(&missing).is_err(), "without event {index}");
        let mut doubled = right();
        doubled.insert(index, doubled[index].clone());
        assert!(read(&doubled).is_err(), "event {index} twice");
        if index > 0 {
            let mut swapped = right();
            swapped.swap(index - 1, index);
            assert!(read(&swapped).is_err(), "events {} and {index} swapped", index - 1);
        }
    }
}

#[test]
fn nothing_else_is_sent() {
    let annotation = json!({"type": "response.output_text.annotation.added", "item_id": "msg_1",
        "output_index": 1, "content_index": 0, "annotation": {}});
    for other in [
        annotation,
        json!({"type": "keepalive"}),
        json!({"type": "response.queued"}),
        right()[1].clone(),
        json!({"type": "response.web_search_call.searching", "item_id": "msg_1", "output_index": 1}),
    ] {
        let mut events = right();
        events.insert(11, other.clone());
        assert!(read(&events).is_err(), "{other}");
    }
}

#[test]
fn no_member_can_be_another() {
    let changes: [(usize, &str, Value); 41] = [
        (0, "/response/status", json!("completed")),
        (0, "/response/output", json!([{}])),
        (1, "/response/model", json!("n")),
        (2, "/item/id", json!("r_1")),
        (2, "/item/summary", json!([{}])),
        (2, "/output_index", json!(1)),
        (3, "/summary_index", json!(1)),
        (3, "/part/text", json!("x")),
        (3, "/item_id", json!("rs_2")),
        (4, "/delta", json!("")),
        (5, "/text", json!("x")),
        (6, "/part/text", json!("x")),
        (7, "/item/summary", json!([])),
        (8, "/item/content", json!([{}])),
        (8, "/item/role", json!("user")),
        (8, "/item/status", json!("completed")),
        (8, "/item/id", json!("rs_1")),
        (9, "/part/annotations", json!([{}])),
        (9, "/part/text", json!("x")),
        (9, "/content_index", json!(1)),
        (10, "/logprobs", json!(null)),
        (10, "/delta", json!("")),
        (11, "/logprobs", json!([{}])),
        (11, "/text", json!("x")),
        (12, "/part/annotations", json!([{}])),
        (13, "/item/status", json!("in_progress")),
        (13, "/item/content/0/text", json!("x")),
        (14, "/item/arguments", json!("{}")),
        (14, "/item/name", json!(null)),
        (14, "/item/call_id", json!(null)),
        (15, "/delta", json!("")),
        (16, "/name", json!("g")),
        (16, "/arguments", json!("{ }")),
        (18, "/item/input", json!("in")),
        (18, "/item/type", json!("other")),
        (20, "/input", json!("x")),
        (22, "/response/output/0/id", json!("rs_2")),
        (22, "/response/id", json!("resp_2")),
        (22, "/response/created_at", json!(8)),
        (22, "/response/status", json!("failed")),
        (22, "/response/usage/total_tokens", json!(4)),
    ];
    for (index, pointer, value) in changes {
        let mut events = right();
        events[index] = with(events[index].clone(), pointer, value);
        assert!(read(&events).is_err(), "{pointer} of event {index}");
    }
}

#[test]
fn every_frame_has_its_place_and_its_form() {
    let right = body(&right());
    for wrong in [
        right.clone(),
        right.clone() + TELEMETRY + TELEMETRY,
        right.clone() + ": keep-alive\n\n" + TELEMETRY,
        right.clone() + TELEMETRY + ": keep-alive\n\n",
        right.clone() + ": {}\n\n",
        right.clone() + TELEMETRY + "\n",
        right.clone() + TELEMETRY.trim_end(),
        right.clone() + "data: [DONE]\n\n" + TELEMETRY,
        String::from(TELEMETRY) + &right,
        right.replacen("event: response.created\n", "", 1) + TELEMETRY,
        right.replacen("data: ", "data:", 1) + TELEMETRY,
        right.replacen("\"sequence_number\":4", "\"sequence_number\":5", 1) + TELEMETRY,
    ] {
        assert!(ResponseStream::read(&wrong).is_err(), "{wrong}");
    }
    let alive = right.replace("\n\nevent", "\n\n: keep-alive\n\nevent") + TELEMETRY;
    assert_eq!(ResponseStream::read(&alive).map(|_| ()), Ok(()));
}

#[test]
fn an_item_stays_open_at_an_error_and_a_call_where_it_is_cancelled() {
    let ended = |kind: &str, status: &str, output: Value, before: &[Value]| {
        let response = with(head(status, &output), "/error", json!({"message": "no"}));
        let end = json!({"type": kind, "response": response});
        read(&[before, &[end]].concat()).map(|read| read.items)
    };
    let half = |item: Value, text: &str, so_far: Value| {
        with(with(item, text, so_far), "/status", json!("incomplete"))
    };
    // In the middle of the call, and of the message.
    let (called, spoken) = (&right()[..16], &right()[..11]);
    let half_call = json!([item(7), item(13), half(item(17), "/arguments", json!("{}"))]);
    let half_message = json!([item(7), half(item(13), "/content/0/text", json!("ab"))]);
    let incomplete = "response.incomplete";
    assert!(ended(incomplete, "cancelled", half_call.clone(), called).is_ok());
    assert!(ended(incomplete, "incomplete", half_call.clone(), called).is_err());
    assert!(ended(incomplete, "cancelled", half_message.clone(), spoken).is_err());
    assert!(ended(incomplete, "cancelled", json!([item(7), item(13)]), called).is_err());
    let error = json!({"type": "error", "code": "c", "message": "no", "param": null,
        "error": {"type": "t", "code": "c", "message": "no", "param": null}});
    let failed = |before: &[Value], error: &Value| [before, std::slice::from_ref(error)].concat();
    for (before, output) in [(called, &half_call), (spoken, &half_message)] {
        let outcome = ended("response.failed", "failed", output.clone(), &failed(before, &error));
        assert_eq!(outcome, Ok(output.as_array().unwrap().clone()));
        assert!(ended("response.failed", "failed", output.clone(), before).is_err());
        for member in ["/code", "/message", "/error/type", "/error/param"] {
            let wrong = failed(before, &with(error.clone(), member, json!(1)));
            assert!(
                ended("response.failed", "failed", output.clone(), &wrong).is_err(),
                "{member}"
            );
        }
        assert!(
            ended("response.completed", "completed", output.clone(), &failed(before, &error))
                .is_err()
        );
    }
}
