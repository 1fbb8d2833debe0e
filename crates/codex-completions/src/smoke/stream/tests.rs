use serde_json::{Value, json};

use super::*;

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
const DONE: &str = "data: [DONE]\n\n";

fn right() -> Vec<String> {
    let keep_alive = ": keep-alive\n\n".to_owned();
    let content = delta(&json!({"content": "Hm."}));
    let calls = [header(0, "a"), more(0, "{\"x\""), more(0, ":1}"), header(1, "b")];
    let end = [finish(), TELEMETRY.to_owned(), usage(), DONE.to_owned()];
    [role(), keep_alive, content].into_iter().chain(calls).chain(end).collect()
}

fn problem(frames: &[String]) -> String {
    read(&frames.concat(), "demo").map(|_| ()).unwrap_err().to_string()
}

#[test]
fn a_right_stream_is_taken_in() {
    let call = |id: &str, arguments: &str| Call {
        id: id.to_owned(),
        name: "f".to_owned(),
        arguments: arguments.to_owned(),
    };
    let expected = Completion {
        content: Some(vec!["Hm.".to_owned()]),
        calls: vec![call("a", "{\"x\":1}"), call("b", "")],
        finish_reason: "tool_calls".to_owned(),
        telemetry: Telemetry {
            tool_call_count: 1,
            tool_call_truncated: false,
            stop_after_tools_mode: "burst".to_owned(),
        },
    };
    assert_eq!(read(&right().concat(), "demo"), Ok(expected));
}

#[test]
fn a_frame_that_is_missing_is_noticed() {
    // Not the comment, and not what nobody can know of: text, and more of a call.
    for missing in [0, 3, 7, 8, 9, 10] {
        let mut frames = right();
        let frame = frames.remove(missing);
        assert!(read(&frames.concat(), "demo").is_err(), "{frame}");
    }
}

#[test]
fn what_is_wrong_is_told_with_what_was_expected() {
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
        (with(1, "data: {\"error\":{\"message\":\"no\"}}\n\n".to_owned()), "got an error: no"),
        (with(1, "event: x\ndata: {}\n\n".to_owned()), "expected data with JSON, or a comment"),
        (with(1, "data:\n\n".to_owned()), "expected data with JSON, or a comment"),
        (with(1, role().replace("chatcmpl-1", "chatcmpl-2")), "id of a frame: expected"),
        (with(1, role().replace("demo", "other")), "model: expected \"demo\""),
    ] {
        assert!(problem.contains(expected), "{problem}\nshould say: {expected}");
    }
}
