//! Lines of the real Codex, 0.166.0.

use super::*;

const ADDED: &str = r#"{"timestamp":"2026-11-18T01:31:25.169257Z","level":"TRACE","fields":{"message":"SSE event: {\"type\": \"response.output_item.added\", \"output_index\": 1, \"item\": {\"type\": \"function_call\", \"id\": \"fc_0000020\", \"call_id\": \"call_0000020\", \"name\": \"get_weather\", \"arguments\": \"\", \"status\": \"in_progress\"}}"},"target":"codex_api::sse::responses"}"#;
const DELTA: &str = r#"{"timestamp":"2026-11-18T01:31:25.169290Z","level":"TRACE","fields":{"message":"SSE event: {\"type\": \"response.function_call_arguments.delta\", \"item_id\": \"fc_0000020\", \"output_index\": 1, \"delta\": \"\\\": \\\"Pa\"}"},"target":"codex_api::sse::responses"}"#;
const OWNER: &str = r#"{"timestamp":"2026-11-18T01:31:25.169956Z","level":"DEBUG","fields":{"message":"Output item","item_type":"function_call","item_id":"fc_0000020"},"target":"codex_core::stream_events_utils","span":{"codex.turn.reasoning_effort":"medium","model":"gpt-5.5","otel.name":"session_task.turn","thread.id":"01a1ec47-b604-7793-9da0-1ac6cb23b644","turn.id":"01a1ec47-b632-7173-8030-04a0505871d8","name":"turn"},"spans":[{"codex.turn.reasoning_effort":"medium","model":"gpt-5.5","otel.name":"session_task.turn","thread.id":"01a1ec47-b604-7793-9da0-1ac6cb23b644","turn.id":"01a1ec47-b632-7173-8030-04a0505871d8","name":"turn"}]}"#;

const DONE: &str = r#"{"timestamp":"2026-11-18T01:31:25.169307Z","level":"TRACE","fields":{"message":"SSE event: {\"type\": \"response.function_call_arguments.done\", \"item_id\": \"fc_0000020\", \"output_index\": 1, \"arguments\": \"{\\\"city\\\": \\\"Paris\\\"}\"}"},"target":"codex_api::sse::responses"}"#;

const UNUSED: [&str; 8] = [
    r#"{"timestamp":"2026-11-18T01:31:25.168939Z","level":"TRACE","fields":{"message":"SSE event: {\"type\": \"response.created\", \"response\": {\"id\": \"resp_000001\", \"object\": \"response\", \"status\": \"in_progress\"}}"},"target":"codex_api::sse::responses"}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.169126Z","level":"TRACE","fields":{"message":"SSE event: {\"type\": \"response.output_item.added\", \"output_index\": 0, \"item\": {\"type\": \"message\", \"id\": \"msg_000002\", \"role\": \"assistant\", \"status\": \"in_progress\", \"content\": []}}"},"target":"codex_api::sse::responses"}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.169173Z","level":"TRACE","fields":{"message":"SSE event: {\"type\": \"response.output_text.delta\", \"item_id\": \"msg_000002\", \"output_index\": 0, \"content_index\": 0, \"delta\": \"Let me ch\"}"},"target":"codex_api::sse::responses"}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.169196Z","level":"TRACE","fields":{"message":"unhandled responses event: response.output_text.done"},"target":"codex_api::sse::responses"}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.169285Z","level":"TRACE","fields":{"message":"unhandled responses event: response.function_call_arguments.delta"},"target":"codex_api::sse::responses"}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.107896Z","level":"INFO","fields":{"message":"new"},"target":"codex_core::tasks","span":{"codex.turn.reasoning_effort":"medium","model":"gpt-5.5","otel.name":"session_task.turn","thread.id":"01a1ec47-b604-7793-9da0-1ac6cb23b644","turn.id":"01a1ec47-b632-7173-8030-04a0505871d8","name":"turn"},"spans":[]}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.679661Z","level":"INFO","fields":{"message":"close","time.busy":"6.89ms","time.idle":"543ms"},"target":"codex_core::tasks","span":{"codex.turn.reasoning_effort":"medium","model":"gpt-5.5","otel.name":"session_task.turn","thread.id":"01a1ec47-b604-7793-9da0-1abe6fb9d73c","turn.id":"01a1ec47-b648-77c1-b1c7-205feb6a57ec","name":"turn"},"spans":[]}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.172383Z","level":"INFO","fields":{"message":"ToolCall: get_weather","thread_id":"01a1ec47-b604-7793-9da0-1abe6fb9d73c"},"target":"codex_core::stream_events_utils","span":{"name":"turn"},"spans":[{"name":"turn"}]}"#,
];

const OTHER: [&str; 4] = [
    "",
    r#"WARNING: proceeding, even though we could not create PATH aliases: Refusing to create helper binaries under temporary dir "/tmp""#,
    r#"{"timestamp":"2026-11-18T01:31:24.957905Z","level":"ERROR","fields":{"message":"Codex could not find bubblewrap on PATH."},"target":"codex_app_server"}"#,
    r#"{"timestamp":"2026-11-18T01:31:25.679131Z","level":"ERROR","fields":{"error":"dynamic tool call was cancelled before receiving a response"},"target":"codex_core::tools::router"}"#,
];

#[test]
fn lines_of_the_real_codex_are_read() {
    let item_id = "fc_0000020".to_owned();
    let call = StartedCall {
        output_index: 1,
        item_id: "fc_0000020".into(),
        call_id: "call_0000020".to_owned(),
        name: "get_weather".into(),
    };
    let added = LogLine::CallAdded { sequence: None, call };
    let text = r#"": "Pa"#.to_owned();
    let delta = LogLine::Arguments { item_id: item_id.clone(), sequence: None, text };
    assert_eq!((read(ADDED), read(DELTA)), (added, delta));
    assert_eq!(read(DONE), LogLine::CallDone { item_id });
    let LogLine::Owner { item_id, is_call: true, thread_id, turn_id } = read(OWNER) else {
        panic!("an owner")
    };
    assert_eq!(item_id, "fc_0000020");
    assert_eq!(thread_id, "01a1ec47-b604-7793-9da0-1ac6cb23b644");
    assert_eq!(turn_id, "01a1ec47-b632-7173-8030-04a0505871d8");
    for line in UNUSED {
        assert_eq!(read(line), LogLine::Unused, "{line}");
    }
    for line in OTHER {
        assert_eq!(read(line), LogLine::Other, "{line}");
    }
}

/// The other tests write their lines themselves: in the very form of the real ones.
#[test]
fn the_lines_of_these_tests_have_the_form_of_real_ones() {
    let time = |line: &str| line.replacen("25.169290Z", "25.169280Z", 1);
    let event = r#"{"type": "response.function_call_arguments.delta", "item_id": "fc_0000020", "output_index": 1, "delta": "\": \"Pa"}"#;
    assert_eq!(event_text(event), time(DELTA));
    let owner = owner(
        "function_call",
        "fc_0000020",
        "01a1ec47-b604-7793-9da0-1ac6cb23b644",
        "01a1ec47-b632-7173-8030-04a0505871d8",
    );
    assert_eq!(owner, OWNER.replacen("25.169956Z", "25.169280Z", 1));
}
