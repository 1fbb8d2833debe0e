use serde_json::{Value, json};

use super::*;
use crate::reading::{Call, Choice};

fn chunk(choices: &Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "demo",
        "choices": choices,
    });
    format!("data: {chunk}\n\n")
}

fn delta(delta: &Value) -> String {
    chunk(&json!([{"index": 0, "delta": delta, "finish_reason": null}]))
}

fn finish() -> String {
    chunk(&json!([{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]))
}

fn usage() -> String {
    let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
    chunk(&json!([])).replace("\"choices\":[]", &format!("\"choices\":[],\"usage\":{usage}"))
}

fn role() -> String {
    delta(&json!({"role": "assistant", "content": ""}))
}

fn call(entry: &Value) -> String {
    delta(&json!({"tool_calls": [entry]}))
}

fn header(index: usize, id: &str) -> String {
    let function = json!({"name": "f", "arguments": ""});
    call(&json!({"index": index, "id": id, "type": "function", "function": function}))
}

fn more(index: usize, arguments: &str) -> String {
    call(&json!({"index": index, "function": {"arguments": arguments}}))
}

const TELEMETRY: &str = ": {\"tool_call_count\":1,\"tool_call_truncated\":false,\"stop_after_tools_mode\":\"burst\"}\n\n";
const ERROR: &str =
    "data: {\"error\":{\"message\":\"x\",\"type\":\"t\",\"param\":null,\"code\":null}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn right() -> Vec<String> {
    let keep_alive = ": keep-alive\n\n".to_owned();
    let content = delta(&json!({"content": "Hm."}));
    let calls = [header(0, "a"), more(0, "{\"x\""), more(0, ":1}"), header(1, "b")];
    let end = [finish(), TELEMETRY.to_owned(), usage(), DONE.to_owned()];
    [role(), keep_alive, content].into_iter().chain(calls).chain(end).collect()
}

fn read(frames: &[String]) -> Result<Completion, Mismatch> {
    let usage = UsageWish::Asked;
    let terms = Terms { model: Some("demo".to_owned()), choices: Some(1), usage };
    ChatStream::read(&frames.concat(), terms)
}

fn problem(frames: &[String]) -> String {
    read(frames).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_right_stream_is_taken_in() {
    let call = |id: &str, arguments: &str| Call {
        id: id.to_owned(),
        name: "f".to_owned(),
        arguments: arguments.to_owned(),
        ..Call::default()
    };
    let completion = read(&right()).unwrap();
    let expected = Choice {
        content: Some("Hm.".to_owned()),
        calls: vec![call("a", "{\"x\":1}"), call("b", "")],
        finish: Some("tool_calls".to_owned()),
        ..Choice::default()
    };
    assert_eq!(completion.choices, [expected]);
    assert_eq!(completion.usage.unwrap()["total_tokens"], 3);
    assert_eq!(completion.telemetry.unwrap()["stop_after_tools_mode"], "burst");
    assert_eq!(completion.error, None);
}

#[test]
fn pieces_come_as_soon_as_their_frames() {
    let mut stream = ChatStream::new(Terms::default(), Strict::default());
    let mut pieces = Vec::new();
    for byte in right().concat().as_bytes() {
        pieces.extend(stream.take(&[*byte]));
    }
    stream.finish().unwrap();
    let telemetry = Telemetry::read(TELEMETRY.trim().trim_start_matches(": ")).unwrap();
    let more = |index: usize, arguments: &str| {
        let arguments = arguments.to_owned();
        Piece::Call { choice: 0, index, begun: None, arguments }
    };
    let begun = |index: usize, id: &str| {
        let (id, name) = (id.to_owned(), "f".to_owned());
        let begun = Some(Call { id, name, ..Call::default() });
        Piece::Call { choice: 0, index, begun, arguments: String::new() }
    };
    let expected = [
        Piece::Text(0, "Hm.".to_owned()),
        begun(0, "a"),
        more(0, "{\"x\""),
        more(0, ":1}"),
        begun(1, "b"),
        Piece::Finish(0, "tool_calls".to_owned()),
        Piece::Telemetry(telemetry),
    ];
    assert_eq!(pieces, expected);
}

#[test]
fn a_frame_that_is_missing_is_noticed() {
    // Not the comment, and not what nobody can know of: text, and more of a call.
    for missing in [0, 3, 7, 8, 9, 10] {
        let mut frames = right();
        let frame = frames.remove(missing);
        assert!(read(&frames).is_err(), "{frame}");
    }
}

#[test]
fn a_fault_is_reported_with_what_was_expected() {
    let with = |at: usize, frame: String| {
        let mut frames = right();
        frames.insert(at, frame);
        problem(&frames)
    };
    let last = right().len();
    for (problem, expected) in [
        (with(0, more(0, "")), "choices of the first frame: expected"),
        (with(2, role()), "expected a frame with either content, or a call, or a finish reason"),
        (with(3, more(0, "x")), "expected arguments of the call that was begun last"),
        (with(3, header(1, "z")), "index of a new call: expected 0, but got 1"),
        (with(7, more(0, "x")), "expected arguments of the call that was begun last"),
        (with(last - 3, TELEMETRY.to_owned()), "expected the usage frame after the telemetry"),
        (with(last - 3, role()), "expected the telemetry comment after the finish frame"),
        (with(last, DONE.to_owned()), "expected nothing after data: [DONE], but got data: [DONE]"),
        (with(1, ERROR.replace('x', "")), "error frame: expected message, type, param and code"),
        (with(1, ERROR.to_owned()), "expected the telemetry comment"),
        (with(last, "\n".to_owned()), "expected nothing after data: [DONE]"),
        (
            with(2, role().replace("\"index\":0", "\"index\":1")),
            "index of a choice: expected one of Some(1)",
        ),
        (with(2, delta(&json!({"content": ""}))), "expected a frame with either content"),
        (with(2, delta(&json!({"refusal": "no", "content": "x"}))), "expected a frame with either"),
        (with(3, header(0, &"x".repeat(41))), "call: expected one with id of 1 to 40 bytes"),
        (with(3, header(0, "")), "call: expected one with an id of its own"),
        (with(last - 2, ": keep-alive\n\n".to_owned()), "got the comment \"keep-alive\""),
        (with(1, "event: x\ndata: {}\n\n".to_owned()), "expected data with JSON, or a comment"),
        (with(1, "data:\n\n".to_owned()), "expected data with JSON, or a comment"),
        (with(1, role().replace("chatcmpl-1", "chatcmpl-2")), "id of a frame: expected"),
        (with(1, role().replace("demo", "other")), "model: expected \"demo\""),
    ] {
        assert!(problem.contains(expected), "{problem}\nshould say: {expected}");
    }
}

#[test]
fn a_failure_and_several_choices_are_read() {
    let choice =
        |index: u64, frame: &str| frame.replace("\"index\":0", &format!("\"index\":{index}"));
    let roles = || [role(), choice(1, &role())];
    let several = TELEMETRY.replace("\"burst\"", "\"burst\",\"per_choice\":[{\"tool_call_count\":1,\"tool_call_truncated\":false},{\"tool_call_count\":0,\"tool_call_truncated\":false}]");
    let legacy = |call: &Value| delta(&json!({"function_call": call}));
    let frames = [
        &roles()[..],
        &[
            delta(&json!({"reasoning_content": "why"})),
            choice(1, &delta(&json!({"refusal": "no"}))),
            legacy(&json!({"name": "f", "arguments": ""})),
            choice(1, &finish()),
            legacy(&json!({"arguments": "{}"})),
            finish(),
            several.clone(),
            DONE.to_owned(),
        ],
    ]
    .concat();
    let completion = ChatStream::read(&frames.concat(), Terms::default()).unwrap();
    let [first, second] = &completion.choices[..] else { panic!("{completion:?}") };
    assert_eq!((first.reasoning.as_str(), first.called()), ("why", vec![("f", "{}")]));
    assert_eq!((second.text(), second.refusal.as_deref()), ("", Some("no")));

    let failed = [&roles()[..], &[ERROR.to_owned(), several, DONE.to_owned()]].concat();
    let completion = ChatStream::read(&failed.concat(), Terms::default()).unwrap();
    assert_eq!(completion.error.unwrap()["message"], "x");
    let wrong = failed.concat().replace("per_choice", "per-choice");
    assert!(ChatStream::read(&wrong, Terms::default()).is_err());
}
