//! What Codex cannot take is refused by its place in the request.

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
    // Before its call, and after it was answered.
    refuses_messages(&json!([user, result("x", ""), calls(&["x"])]), place, "no call 'x'");
    let twice = json!([calls(&["x"]), result("x", ""), result("x", "")]);
    refuses_messages(&twice, "messages[2].tool_call_id", "no call 'x'");
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
