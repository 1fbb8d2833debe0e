//! What Codex cannot take is refused by its place in the request.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openai_wire::{ApiError, ErrorType};
use serde_json::{Value, json};

use super::{PIXEL, calls, prepare_with, result, with};
use crate::policy::TurnSettings;

#[track_caller]
fn refuses(body: &Value, param: &str, code: &str, words: &str) {
    let error = prepare_with(&TurnSettings::default(), body).expect_err("an error");
    let expected = ApiError {
        status: 400,
        r#type: ErrorType::InvalidRequestError,
        message: error.message.clone(),
        param: Some(param.to_owned()),
        code: Some(code.to_owned().into()),
        retry_after: None,
        should_retry: true,
    };
    assert_eq!(error, expected, "{body}");
    assert!(error.message.contains(words), "{:?} does not say {words:?}", error.message);
}

#[track_caller]
fn refuses_messages(messages: &Value, param: &str, words: &str) {
    refuses(&with(&json!({"messages": messages})), param, "invalid_value", words);
}

#[test]
fn images_that_are_no_data() {
    let place = "messages[0].content[1].image_url";
    let not_data = [
        "https://example.com/a.png",
        "http://example.com/a.png",
        "file:///a.png",
        "",
        "data:",
        "data:image/png",
        "data:image/png;base64,",
        "data:image/png,abc",
        "data:text/plain;base64,AAAA",
        "data:application/pdf;base64,AAAA",
    ];
    for url in not_data {
        let content = json!(["", {"type": "image_url", "image_url": {"url": url}}]);
        let messages = json!([{"role": "user", "content": content}]);
        refuses_messages(&messages, place, "data:image/png;base64,");
    }
}

#[test]
fn images_where_none_may_be() {
    for role in ["system", "developer", "assistant"] {
        let content = json!([{"type": "image_url", "image_url": PIXEL}]);
        let messages = json!([{"role": role, "content": content}]);
        refuses_messages(&messages, "messages[0].content[0].image_url", "in user messages");
    }
}

#[test]
fn results_without_a_call() {
    let place = "messages[1].tool_call_id";
    let user = json!({"role": "user", "content": "Hi"});
    refuses_messages(&json!([user, result("x", "")]), place, "no call 'x'");
    // Before its call, and another after it was answered.
    refuses_messages(&json!([user, result("x", ""), calls(&["x"])]), place, "no call 'x'");
    let twice = json!([calls(&["x"]), result("x", ""), result("x", "other")]);
    refuses_messages(&twice, "messages[2].tool_call_id", "The call 'x' has another result");
    // An id of ours and the backend's own are two ids.
    let other = json!([calls(&["tool_0_0_a"]), result("call_a", "")]);
    refuses_messages(&other, place, "no call 'call_a'");
    let legacy = json!([user, {"role": "function", "name": "f", "content": ""}]);
    refuses_messages(&legacy, "messages[1].name", "no call of 'f'");
    let mixed = json!([calls(&["x"]), {"role": "function", "name": "f", "content": ""}]);
    refuses_messages(&mixed, "messages[1].name", "no call of 'f'");
}

#[test]
fn calls_without_a_result() {
    let messages =
        json!([calls(&["x", "y", "z"]), result("x", ""), {"role": "user", "content": "Hi"}]);
    refuses_messages(&messages, "messages[0].tool_calls[1].id", "The call 'y' has no result");
    let repeated = json!([calls(&["1"]), calls(&["1"]), result("1", "")]);
    refuses_messages(&repeated, "messages[1].tool_calls[0].id", "The call '1' has no result");
    let legacy = json!([{"role": "assistant", "function_call": {"name": "f"}}, {"role": "user"}]);
    refuses_messages(&legacy, "messages[0].function_call", "The call of 'f' has no result");
}

#[test]
fn nothing_to_answer() {
    let messages = json!([{"role": "system", "content": ""}, {"role": "assistant"}]);
    refuses_messages(&messages, "messages", "no message with any content");
    // What is said about the form of an answer is no question.
    let body = with(&json!({"messages": messages, "response_format": {"type": "json_object"}}));
    refuses(&body, "messages", "invalid_value", "no message");
    let instructions = Some("Be kind.".into());
    let settings = TurnSettings { instructions, ..TurnSettings::default() };
    assert!(prepare_with(&settings, &with(&json!({"messages": messages}))).is_ok());
}

#[test]
fn too_many_choices() {
    let code = "integer_above_max_value";
    refuses(&with(&json!({"n": 6})), "n", code, "<= 5 (PROXY_MAX_CHAT_CHOICES), but got 6");
    assert!(prepare_with(&TurnSettings::default(), &with(&json!({"n": 5}))).is_ok());
}

/// The header of a PNG, which is as far as anybody looks here.
fn png(width: u32, height: u32) -> Value {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let bytes = [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], &size].concat();
    let url = format!("data:image/png;base64,{}", STANDARD.encode(bytes));
    json!({"type": "image_url", "image_url": {"url": url}})
}

#[test]
fn row_6_images_of_too_many_pixels() {
    let shown = |content: Value| with(&json!({"messages": [{"role": "user", "content": content}]}));
    let allowed = shown(json!([png(10_000, 5000), png(50_000_000, 1)]));
    assert!(prepare_with(&TurnSettings::default(), &allowed).is_ok());

    let code = "image_too_large";
    let one = shown(json!(["see", png(10_000, 5001)]));
    let words = "10000 x 5001 counts as 50010000 pixels. At most 50000000 are allowed";
    refuses(&one, "messages[0].content[1].image_url", code, words);
    let huge = shown(json!([png(u32::MAX, u32::MAX)]));
    refuses(&huge, "messages[0].content[0].image_url", code, "At most 50000000");
    // Those of all messages count together.
    let words = "100000001 pixels. At most 100000000 are allowed together";
    let messages = json!([
        {"role": "user", "content": [png(10_000, 5000)]},
        calls(&["x"]),
        result("x", json!(["", png(10_000, 5000), png(1, 1)])),
    ]);
    let together = with(&json!({"messages": messages}));
    refuses(&together, "messages[2].content[2].image_url", code, words);
    let unclear = STANDARD.encode(b"GIF89a\x01\0\x01\0\0\0\0\x21\xfe\0");
    let url = format!("data:image/gif;base64,{unclear}");
    let gif = shown(json!([{"type": "image_url", "image_url": url}]));
    refuses(&gif, "messages[0].content[0].image_url", "invalid_image", "Send it as a PNG");
}
