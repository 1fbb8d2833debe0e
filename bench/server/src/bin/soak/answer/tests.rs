use super::*;

#[test]
fn a_stream_of_chunks_is_put_together() {
    let frame = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":7,\
             \"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{{delta}}},\
             \"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let telemetry = ": {\"tool_call_count\":0,\"tool_call_truncated\":false,\
        \"stop_after_tools_mode\":\"burst\"}\n\n";
    let stream = [
        &frame("\"role\":\"assistant\",\"content\":\"\"", "null"),
        ": keep-alive\n\n",
        &frame("\"content\":\"ab\"", "null"),
        &frame("\"content\":\"c\"", "null"),
        &frame("", "\"stop\""),
        telemetry,
        "data: [DONE]\n\n",
    ]
    .concat();
    let answer = Answer::read(Api::Chat, Delivery::Streamed, &stream).unwrap();
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("abc", 0));
    let cut = stream.strip_suffix("data: [DONE]\n\n").unwrap();
    assert!(Answer::read(Api::Chat, Delivery::Streamed, cut).is_err());
    let wrong_end = stream.replace("\"stop\"", "\"tool_calls\"");
    assert!(Answer::read(Api::Chat, Delivery::Streamed, &wrong_end).is_err());
}

#[test]
fn text_begins_behind_the_role() {
    let role = br#"{"delta":{"role":"assistant","content":""}}"#;
    assert!(!Api::Chat.has_text(role));
    assert!(Api::Chat.has_text(&[role.as_slice(), br#"{"delta":{"content":"a"}}"#].concat()));
}

#[test]
fn a_response_that_is_not_complete_is_wrong() {
    let body = r#"{"id":"resp_1","status":"failed","output":[]}"#;
    assert!(Answer::read(Api::Responses, Delivery::Whole, body).is_err());
}
