use super::*;

#[test]
fn a_stream_of_chunks_is_put_together() {
    let stream = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
        : keep-alive\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"ab\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"c\"}}]}\n\n\
        data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
        data: [DONE]\n\n";
    let answer = Answer::read(Api::Chat, Delivery::Streamed, stream).unwrap();
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
