use super::*;

fn describe(line: &str) -> String {
    match Message::parse(line.as_bytes()) {
        Ok(Message::Response { id, outcome: Ok(result) }) => {
            format!("response {id} ok {}", result.map_or("null", RawValue::get))
        }
        Ok(Message::Response { id, outcome: Err(error) }) => format!("response {id} {error}"),
        Ok(Message::Request { id, method, .. }) => format!("request {id} {method}"),
        Ok(Message::Turn(event)) => format!("turn {} {:?}", event.thread_id, event.event),
        Ok(Message::Notification { method, .. }) => format!("notification {method}"),
        Err(error) => format!("error: {error}").split(':').next().unwrap().to_owned(),
    }
}

#[test]
fn requests_of_the_server_and_responses_to_ours_are_told_apart() {
    let cases = [
        (r#"{"id":0,"method":"item/tool/call","params":{}}"#, "request 0 item/tool/call"),
        (r#"{"method":"item/tool/call","id":"a","params":{}}"#, "request \"a\" item/tool/call"),
        (r#"{"id":0,"result":{"a":1}}"#, r#"response 0 ok {"a":1}"#),
        (r#"{"id":7,"result":null}"#, "response 7 ok null"),
        (
            r#"{"id":7,"error":{"code":-32600,"message":"no","data":[1]}}"#,
            "response 7 no (code -32600)",
        ),
        (
            r#"{"method":"account/updated","params":{},"emittedAtMs":1}"#,
            "notification account/updated",
        ),
        (
            r#"{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U","status":"inProgress"}}}"#,
            "turn T TurnStarted",
        ),
        (
            r#"{"method":"item/started","params":{"threadId":"T","turnId":"U","item":{"type":"x","id":"i"}}}"#,
            "turn T Other",
        ),
        (r#"{"params":{"b":1},"method":"a/b"}"#, "notification a/b"),
        (r#"{"id":"ours are numbers","result":{}}"#, "error"),
        (r#"{"result":{}}"#, "error"),
        ("[]", "error"),
        ("", "error"),
        ("\u{0}", "error"),
    ];
    for (line, expected) in cases {
        assert_eq!(describe(line), expected, "{line}");
    }
}

#[test]
fn an_error_does_not_quote_the_line() {
    let secret = br#"{"method":"turn/started","params":{"threadId":"T","turn":"secret"}}"#;
    assert_eq!(Message::parse(secret).unwrap_err().to_string(), "Data error at byte 65");
}

#[test]
fn invalid_utf8_is_an_error_and_not_a_panic() {
    assert!(Message::parse(b"{\"method\":\"\xff\"}").is_err());
}

#[test]
fn echoes_of_the_history_are_recognised_by_their_prefix() {
    let id = "01a1e0b7-22a4-7f71-a8cc-e7526891dc6f";
    let line = |turn: &str| {
        format!(
            r#"{{"method":"rawResponseItem/completed","params":{{"threadId":"{id}","turnId":"{turn}","item":{{}}}}}}"#
        )
    };
    assert!(is_history_echo(line("auto-compact-0").as_bytes()));
    assert!(!is_history_echo(line(id).as_bytes()));
    assert!(!is_history_echo(b"{}"));
}
