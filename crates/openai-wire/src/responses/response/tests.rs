use model_turn::MessagePhase;
use serde_json::json;

use super::*;
use crate::ErrorType;
use crate::responses::{
    FunctionCall, ItemStatus, MessageRole, OutputContent, OutputMessage, OutputText, Reasoning,
    ResponsesRequest, SummaryText,
};

const BEGUN: ResponseState<'_> =
    ResponseState { status: &ResponseStatus::InProgress, output: &[], usage: None };

fn written(echo: &Echo, state: &ResponseState<'_>, encrypted: EncryptedContent) -> String {
    let head = ResponseHead {
        id: "resp_1",
        created_at: 7,
        model: "a \"model\"",
        instructions: Some("Be brief."),
        max_output_tokens: Some(30),
        parallel_tool_calls: true,
        previous_response_id: Some("resp_0"),
        store: true,
        echo,
    };
    let mut buffer = BytesMut::new();
    ResponseWriter::new(&head).write(state, encrypted, &mut buffer);
    String::from_utf8(buffer.to_vec()).unwrap()
}

/// The same for a response without anything in it.
fn empty(status: &ResponseStatus) -> Value {
    let state = ResponseState { status, output: &[], usage: None };
    let written = written(&Echo::default(), &state, EncryptedContent::LeftOut);
    serde_json::from_str(&written).unwrap()
}

#[test]
fn every_member_is_there_in_openais_order() {
    let written = written(&Echo::default(), &BEGUN, EncryptedContent::LeftOut);
    assert_eq!(
        written,
        concat!(
            r#"{"id":"resp_1","object":"response","created_at":7,"status":"in_progress","#,
            r#""background":false,"completed_at":null,"error":null,"incomplete_details":null,"#,
            r#""instructions":"Be brief.","max_output_tokens":30,"max_tool_calls":null,"#,
            r#""model":"a \"model\"","output":[],"parallel_tool_calls":true,"#,
            r#""previous_response_id":"resp_0","prompt_cache_key":null,"#,
            r#""reasoning":{"effort":null,"summary":null},"safety_identifier":null,"#,
            r#""service_tier":"default","store":true,"temperature":null,"#,
            r#""text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"#,
            r#""top_logprobs":null,"top_p":null,"truncation":"disabled","usage":null,"#,
            r#""user":null,"metadata":{}}"#,
        )
    );
}

#[test]
fn what_the_request_said_is_repeated() {
    let request = json!({
        "model": "m",
        "input": "hi",
        "max_tool_calls": 3,
        "prompt_cache_key": "key",
        "reasoning": {"effort": "low", "summary": "auto"},
        "safety_identifier": "person",
        "text": {"verbosity": "low"},
        "tool_choice": {"type": "function", "name": "f"},
        "tools": [{"type": "function", "name": "f", "parameters": {}}],
        "truncation": "auto",
        "user": "user",
        "metadata": {"a": "b"},
    });
    let echo = ResponsesRequest::parse(request.to_string().as_bytes()).unwrap().echo;
    let written = written(&echo, &BEGUN, EncryptedContent::LeftOut);
    let written: Value = serde_json::from_str(&written).unwrap();
    let mut expected = empty(&ResponseStatus::InProgress);
    let repeated = [
        "max_tool_calls",
        "prompt_cache_key",
        "reasoning",
        "safety_identifier",
        "tool_choice",
        "truncation",
        "user",
        "metadata",
    ];
    for member in repeated {
        expected[member] = request[member].clone();
    }
    expected["text"] = json!({"format": {"type": "text"}, "verbosity": "low"});
    expected["tools"] = json!([{
        "type": "function", "name": "f", "description": null, "parameters": {}, "strict": false,
    }]);
    assert_eq!(written, expected);
}

#[test]
fn an_end_shows_in_its_own_members() {
    let error = ApiError::new(429, ErrorType::RateLimitError, "Too fast.");
    let cases = [
        (ResponseStatus::Completed { at: 9 }, "completed", vec![("completed_at", json!(9))]),
        (
            ResponseStatus::Incomplete(IncompleteReason::MaxOutputTokens),
            "incomplete",
            vec![("incomplete_details", json!({"reason": "max_output_tokens"}))],
        ),
        (
            ResponseStatus::Incomplete(IncompleteReason::ContentFilter),
            "incomplete",
            vec![("incomplete_details", json!({"reason": "content_filter"}))],
        ),
        (
            ResponseStatus::Failed(ResponseError::from(&error)),
            "failed",
            vec![("error", json!({"code": "rate_limit_exceeded", "message": "Too fast."}))],
        ),
        (ResponseStatus::Cancelled, "cancelled", vec![]),
    ];
    for (status, name, members) in cases {
        let mut expected = empty(&ResponseStatus::InProgress);
        expected["status"] = json!(name);
        for (member, value) in members {
            expected[member] = value;
        }
        assert_eq!(empty(&status), expected);
    }
}

#[test]
fn an_error_has_one_of_openais_codes() {
    let code = |status| {
        ResponseError::from(&ApiError::new(status, ErrorType::ServerError, "no").with_code("own"))
            .code
    };
    assert_eq!(
        [400, 401, 404, 429, 500, 502].map(code),
        [
            "invalid_prompt",
            "server_error",
            "invalid_prompt",
            "rate_limit_exceeded",
            "server_error",
            "server_error"
        ]
    );
}

#[test]
fn items_and_usage_are_whole() {
    let output = [
        OutputItem::Reasoning(Reasoning {
            id: "rs_1".to_owned(),
            summary: vec![SummaryText { text: "why".to_owned() }],
            encrypted_content: Some("secret".to_owned()),
        }),
        OutputItem::Message(OutputMessage {
            id: "msg_1".to_owned(),
            status: ItemStatus::Completed,
            content: vec![OutputContent::Text(OutputText {
                text: "hi".to_owned(),
                ..OutputText::default()
            })],
            role: MessageRole::Assistant,
            phase: Some(MessagePhase::FinalAnswer),
        }),
        OutputItem::FunctionCall(FunctionCall {
            id: "fc_1".to_owned(),
            status: ItemStatus::Incomplete,
            arguments: "{ }".to_owned(),
            call_id: "tool_0_0_a".to_owned(),
            name: "f".to_owned(),
            namespace: None,
        }),
    ];
    let mut usage =
        Usage { prompt_tokens: 10, completion_tokens: 7, total_tokens: 17, ..Usage::default() };
    usage.prompt_tokens_details.cached_tokens = 4;
    usage.completion_tokens_details.reasoning_tokens = 2;
    let mut reasoning = json!({
        "type": "reasoning", "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "why"}],
    });
    for encrypted in [EncryptedContent::LeftOut, EncryptedContent::Included] {
        if encrypted == EncryptedContent::Included {
            reasoning["encrypted_content"] = json!("secret");
        }
        let status = ResponseStatus::Completed { at: 9 };
        let state = ResponseState { status: &status, output: &output, usage: Some(&usage) };
        let written = written(&Echo::default(), &state, encrypted);
        let mut expected = empty(&status);
        expected["output"] = json!([
            reasoning,
            {
                "type": "message", "id": "msg_1", "status": "completed",
                "content": [
                    {"type": "output_text", "annotations": [], "logprobs": [], "text": "hi"},
                ],
                "role": "assistant", "phase": "final_answer",
            },
            {
                "type": "function_call", "id": "fc_1", "status": "incomplete",
                "arguments": "{ }", "call_id": "tool_0_0_a", "name": "f",
            },
        ]);
        expected["usage"] = json!({
            "input_tokens": 10,
            "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 4},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 2},
            "total_tokens": 17,
        });
        assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), expected);
    }
}

#[test]
fn items_are_put_into_a_response_that_was_written_without_any() {
    let request = json!({
        "model": r#","output":[]"#, "input": "hi", "instructions": r#""output":[] ,"output":[]"#,
        "tools": [{"type": "function", "name": "f", "parameters": {"a": {}, "output": []}}],
        "metadata": {"output": "[]"},
    });
    let request = ResponsesRequest::parse(request.to_string().as_bytes()).unwrap();
    let head = ResponseHead {
        id: "resp_1",
        created_at: 1,
        model: &request.model,
        instructions: request.instructions.as_deref(),
        max_output_tokens: None,
        parallel_tool_calls: true,
        previous_response_id: None,
        store: true,
        echo: &request.echo,
    };
    let mut empty = BytesMut::new();
    ResponseWriter::new(&head).write(&BEGUN, EncryptedContent::LeftOut, &mut empty);
    let empty = std::str::from_utf8(&empty).unwrap();
    let filled = with_output(empty, ["1", r#"{"a":2}"#]);
    let mut expected: Value = serde_json::from_str(empty).unwrap();
    expected["output"] = json!([1, {"a": 2}]);
    assert_eq!(serde_json::from_str::<Value>(&filled).unwrap(), expected);
    assert_eq!(with_output(empty, []), empty);
}
