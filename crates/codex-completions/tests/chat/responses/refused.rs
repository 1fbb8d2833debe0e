//! Requests that cannot be served say what is wrong with them, and where.

use serde_json::{Value, json};

use super::asking::{RESPONSES, ask, post, respond, tools, with_tools};
use super::reply::Reply;
use crate::asking::with;
use crate::proxy::Proxy;

on_one_server! {
    bad_fields_are_named,
    calls_of_an_earlier_response_need_their_results,
    failures_of_the_upstream_have_their_status,
}

async fn bad_fields_are_named(proxy: &Proxy) {
    let item = |item: Value| json!({"input": [item]});
    let part = |part: Value| item(json!({"role": "user", "content": [part]}));
    let tool = |kind: &str| json!({"tools": [{"type": kind}]});
    let notes = |count: u8| -> Value { (0..count).map(|n| (n.to_string(), json!("a"))).collect() };
    let invalid = "invalid_value";
    let missing = "missing_required_parameter";
    for (members, param, code) in [
        (json!({"model": null}), "model", missing),
        (json!({"model": 5}), "model", "invalid_type"),
        (json!({"input": null}), "input", missing),
        (json!({"input": 5}), "input", "invalid_type"),
        (json!({"input": []}), "input", "empty_array"),
        (json!({"input": ["hello"]}), "input[0]", "invalid_type"),
        (item(json!({"content": "a"})), "input[0].type", missing),
        (item(json!({"type": "message"})), "input[0].role", missing),
        (item(json!({"role": "king"})), "input[0].role", invalid),
        (item(json!({"role": "tool", "content": "a"})), "input[0].role", invalid),
        (item(json!({"role": "user", "content": 5})), "input[0].content", "invalid_type"),
        (item(json!({"type": "web_search_call"})), "input[0].type", invalid),
        (
            item(json!({"type": "function_call", "name": "f", "arguments": ""})),
            "input[0].call_id",
            missing,
        ),
        (
            item(json!({"role": "assistant", "tool_calls": [{"id": "a"}]})),
            "input[0].tool_calls",
            invalid,
        ),
        (part(json!({"type": "input_file", "file_id": "a"})), "input[0].content[0].type", invalid),
        (
            part(json!({"type": "input_image", "image_url": "https://example.org/a.png"})),
            "input[0].content[0].image_url",
            invalid,
        ),
        (
            item(json!({"type": "function_call_output", "call_id": "lost", "output": "a"})),
            "input[0].call_id",
            invalid,
        ),
        (
            item(json!({"type": "function_call", "call_id": "open", "name": "f", "arguments": ""})),
            "input[0].call_id",
            invalid,
        ),
        (
            item(json!({"type": "item_reference", "id": "msg_lost"})),
            "input[0].id",
            "item_not_found",
        ),
        (json!({"tools": {}}), "tools", "invalid_type"),
        (tool("custom"), "tools[0].name", missing),
        (tool("namespace"), "tools[0].name", missing),
        (json!({"tools": tools(&["a", "a"])}), "tools[1].name", invalid),
        (json!({"tool_choice": "required"}), "tool_choice", invalid),
        (
            json!({"tools": tools(&["a"]), "tool_choice": {"type": "function", "name": "b"}}),
            "tool_choice.name",
            invalid,
        ),
        (json!({"text": {"format": {"type": "xml"}}}), "text.format.type", invalid),
        (
            json!({"text": {"format": {"type": "json_schema", "name": "a"}}}),
            "text.format.schema",
            missing,
        ),
        (json!({"reasoning": {"summary": "all"}}), "reasoning.summary", invalid),
        (json!({"max_output_tokens": 0}), "max_output_tokens", "integer_below_min_value"),
        (json!({"max_output_tokens": "9"}), "max_output_tokens", "invalid_type"),
        (json!({"stream": "yes"}), "stream", "invalid_type"),
        (json!({"store": "no"}), "store", "invalid_type"),
        (json!({"include": ["everything"]}), "include[0]", invalid),
        (json!({"truncation": "middle"}), "truncation", invalid),
        (json!({"metadata": notes(17)}), "metadata", invalid),
        (json!({"metadata": {"a": "x".repeat(513)}}), "metadata.a", invalid),
        (json!({"metadata": {"x".repeat(65): "a"}}), "metadata", invalid),
        (json!({"metadata": {"a": 1}}), "metadata.a", "invalid_type"),
        (json!({"background": true}), "background", invalid),
        (json!({"conversation": "conv_1"}), "conversation", invalid),
        (json!({"prompt": {"id": "pmpt_1"}}), "prompt", invalid),
        (json!({"audio": {"voice": "a"}}), "audio", invalid),
        (json!({"messages": []}), "messages", invalid),
        (json!({"response_format": {"type": "text"}}), "response_format", invalid),
        (json!({"max_tokens": 5}), "max_tokens", invalid),
        (
            json!({"previous_response_id": "resp_lost"}),
            "previous_response_id",
            "previous_response_not_found",
        ),
    ] {
        for stream in [false, true] {
            let request = with(ask("[[text]]"), json!({"stream": stream}));
            let answer = respond(proxy, &with(request, members.clone())).await;
            let error = (400, json!(param), json!(code));
            assert_eq!(answer.error(), error, "{members}: {}", answer.body);
            assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
        }
    }
    // None of them has cost a turn.
    assert_eq!(proxy.model.requests(), 0);
}

/// Whatever calls an earlier response has made need their results, once.
async fn calls_of_an_earlier_response_need_their_results(proxy: &Proxy) {
    let first = Reply::of(&respond(proxy, &with_tools(ask("[[parallel:2]]"))).await);
    let [one, other] = [&first.calls()[0].id, &first.calls()[1].id];
    let result = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "a"});
    let another = |id: &str| with(result(id), json!({"output": "b"}));
    let user = json!({"role": "user", "content": "Go on."});
    for (input, param, named) in [
        (json!([user]), "input", one.as_str()),
        (json!([result(one)]), "input", other),
        (json!([result(one), result(other), another(one)]), "input[2].call_id", one),
        (json!([result("lost")]), "input[0].call_id", "lost"),
    ] {
        let request = with(ask(input), json!({"previous_response_id": first.id()}));
        let answer = respond(proxy, &request).await;
        assert_eq!(answer.error(), (400, json!(param), json!("invalid_value")), "{request}");
        assert!(answer.body.contains(&format!("'{named}'")), "{}", answer.body);
    }
    let both = with(
        ask(json!([result(other), result(one), user])),
        json!({"previous_response_id": first.id()}),
    );
    assert_eq!(respond(proxy, &both).await.status, 200);
}

#[tokio::test]
async fn bad_bodies_are_told_apart() {
    let settings = [("PROXY_MAX_BODY_BYTES", "2000"), ("PROXY_MAX_JSON_DEPTH", "8")];
    let proxy = Proxy::start(&settings).await;
    for (body, code) in [
        (&b""[..], Value::Null),
        (b"hello", Value::Null),
        (b"{\"model\": \"\xff\"}", Value::Null),
        (b"[]", json!("invalid_type")),
        (b"{\"a\":[[[[[[[[8]]]]]]]]}", json!("json_too_deep")),
    ] {
        let answer = post(&proxy, RESPONSES, body, &[]).await.whole().await;
        assert_eq!(answer.error(), (400, Value::Null, code), "{body:?}: {}", answer.body);
    }
    let answer = respond(&proxy, &ask("x".repeat(2_000))).await;
    assert_eq!(answer.error(), (413, Value::Null, json!("request_too_large")));
    assert_eq!(respond(&proxy, &ask("[[text]]")).await.status, 200);
}

/// Failures of the upstream keep their meaning.
async fn failures_of_the_upstream_have_their_status(proxy: &Proxy) {
    for (mark, status, code) in [
        ("[[http:400,ctx]]", 400, "context_length_exceeded"),
        ("[[http:401]]", 401, "codex_login_required"),
        ("[[http:404]]", 404, "model_not_found"),
        ("[[http:429,usage]]", 429, "insufficient_quota"),
        ("[[http:500]]", 502, "upstream_error"),
        ("[[http:503]]", 503, "overloaded"),
        ("[[cut-early]]", 502, "stream_cut"),
    ] {
        for stream in [false, true] {
            let answer = respond(proxy, &with(ask(mark), json!({"stream": stream}))).await;
            let (told, _, told_code) = answer.error();
            assert_eq!((told, told_code), (status, json!(code)), "{mark}: {}", answer.body);
        }
    }
}
