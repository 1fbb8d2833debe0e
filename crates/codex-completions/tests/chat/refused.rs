//! Requests that cannot be served say what is wrong with them, and where.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};

use crate::asking::{ask, tools, with};
use crate::http::Answer;
use crate::proxy::{CHAT, Proxy};
use crate::reply::Reply;

async fn post(proxy: &Proxy, body: impl Into<Bytes>) -> Answer {
    let request = Request::post(CHAT).header("content-type", "application/json");
    proxy.send(request.body(Full::new(body.into())).unwrap()).await.whole().await
}

#[tokio::test]
async fn row_6_an_image_of_too_many_pixels_is_refused() {
    let proxy = Proxy::start(&[]).await;
    let shown = |sizes: &[(u16, u16)]| {
        let part = |(width, height): &(u16, u16)| {
            let url = testkit::gray_jpeg(*width, *height);
            json!({"type": "image_url", "image_url": {"url": url}})
        };
        let parts: Vec<_> = sizes.iter().map(part).collect();
        json!({"model": "gpt-5.5", "messages": [{"role": "user", "content": parts}]})
    };
    for (sizes, place, words) in [
        (&[(20_000, 20_000)][..], 0, "20000 x 20000 counts as 400000000 pixels. At most 50000000"),
        (&[(7000, 7000); 3], 2, "147000000 pixels. At most 100000000"),
    ] {
        let refused = proxy.chat(&shown(sizes)).await;
        let place = format!("messages[0].content[{place}].image_url");
        assert_eq!(refused.error(), (400, json!(place), json!("image_too_large")));
        assert!(refused.body.contains(words), "{}", refused.body);
    }
    assert_eq!(proxy.model.requests(), 0);
    let allowed = proxy.chat(&shown(&[(7000, 7000)])).await;
    assert_eq!(allowed.status, 200, "{}", allowed.body);
}

on_one_server! {
    bad_fields_are_named,
    failures_of_the_upstream_have_their_status,
    words_before_a_failure_are_not_lost,
}

async fn bad_fields_are_named(proxy: &Proxy) {
    let image = |url: &str| {
        json!({"messages": [{"role": "user", "content": [
            {"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}},
        ]}]})
    };
    for (members, param, code) in [
        (json!({"model": null}), "model", "missing_required_parameter"),
        (json!({"model": 5}), "model", "invalid_type"),
        (json!({"messages": null}), "messages", "missing_required_parameter"),
        (json!({"messages": []}), "messages", "empty_array"),
        (json!({"messages": "hello"}), "messages", "invalid_type"),
        (json!({"messages": ["hello"]}), "messages[0]", "invalid_type"),
        (json!({"messages": [{"content": "a"}]}), "messages[0].role", "missing_required_parameter"),
        (json!({"messages": [{"role": "king"}]}), "messages[0].role", "invalid_value"),
        (
            json!({"messages": [{"role": "user", "content": 5}]}),
            "messages[0].content",
            "invalid_type",
        ),
        (image("https://example.org/a.png"), "messages[0].content[1].image_url", "invalid_value"),
        (
            json!({"messages": [{"role": "user", "content": [{"type": "file", "file": {}}]}]}),
            "messages[0].content[0].type",
            "invalid_value",
        ),
        (
            json!({"messages": [{"role": "tool", "tool_call_id": "lost", "content": "a"}]}),
            "messages[0].tool_call_id",
            "invalid_value",
        ),
        (
            json!({"messages": [{"role": "assistant", "tool_calls": [
                {"id": "open", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]}]}),
            "messages[0].tool_calls[0].id",
            "invalid_value",
        ),
        (json!({"tools": {}}), "tools", "invalid_type"),
        (json!({"tool_choice": {"type": "web_search"}}), "tool_choice.type", "invalid_value"),
        (json!({"tools": tools(&["a", "a"])}), "tools[1].function.name", "invalid_value"),
        (json!({"tool_choice": "required"}), "tool_choice", "invalid_value"),
        (json!({"tool_choice": "must"}), "tool_choice", "invalid_value"),
        (
            json!({"tools": tools(&["a"]), "tool_choice": {"type": "function", "function": {"name": "b"}}}),
            "tool_choice.function.name",
            "invalid_value",
        ),
        (json!({"response_format": {"type": "xml"}}), "response_format.type", "invalid_value"),
        (
            json!({"response_format": {"type": "json_schema", "json_schema": {"name": "a"}}}),
            "response_format.json_schema.schema",
            "missing_required_parameter",
        ),
        (json!({"stop": ["a", "b", "c", "d", "e"]}), "stop", "array_above_max_length"),
        (json!({"stop": ["a", ""]}), "stop[1]", "invalid_value"),
        (json!({"max_tokens": 0}), "max_tokens", "integer_below_min_value"),
        (json!({"max_tokens": "9"}), "max_tokens", "invalid_type"),
        (json!({"n": 0}), "n", "integer_below_min_value"),
        (json!({"n": 6}), "n", "integer_above_max_value"),
        (json!({"stream": "yes"}), "stream", "invalid_type"),
        (json!({"audio": {"voice": "a"}}), "audio", "invalid_value"),
    ] {
        let answer = proxy.chat(&with(ask("[[text]]"), members.clone())).await;
        assert_eq!(answer.error(), (400, json!(param), json!(code)), "{members}: {}", answer.body);
        assert_eq!(answer.json()["error"]["type"], "invalid_request_error");
    }
    // The lost and the open call are named.
    let lost = json!({"messages": [{"role": "tool", "tool_call_id": "call_lost", "content": "a"}]});
    assert!(proxy.chat(&with(ask(""), lost)).await.body.contains("call_lost"));
    // None of them has cost a turn.
    assert_eq!(proxy.model.requests(), 0);
}

#[tokio::test]
async fn bad_bodies_are_told_apart() {
    let settings = [("PROXY_MAX_BODY_BYTES", "2000"), ("PROXY_MAX_JSON_DEPTH", "8")];
    let proxy = Proxy::start(&settings).await;
    for (body, status, code) in [
        (&b""[..], 400, Value::Null),
        (b"hello", 400, Value::Null),
        (b"{\"model\":", 400, Value::Null),
        (b"{\"model\": \"\xff\"}", 400, Value::Null),
        (b"[]", 400, json!("invalid_type")),
        (b"{\"a\":[[[[[[[[8]]]]]]]]}", 400, json!("json_too_deep")),
    ] {
        let answer = post(&proxy, body).await;
        assert_eq!(answer.error(), (status, Value::Null, code), "{body:?}: {}", answer.body);
    }
    let large = ask(&"x".repeat(2_000)).to_string();
    let answer = post(&proxy, large).await;
    assert_eq!(answer.error(), (413, Value::Null, json!("request_too_large")));
    assert!(answer.body.contains("PROXY_MAX_BODY_BYTES"), "{}", answer.body);
    let plain = Request::post(CHAT).header("content-type", "text/plain");
    let plain = plain.body(Full::from(ask("a").to_string())).unwrap();
    assert_eq!(proxy.send(plain).await.status, 415);
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
}

/// Failures of the upstream keep their meaning.
async fn failures_of_the_upstream_have_their_status(proxy: &Proxy) {
    for (mark, status, r#type, code, should_retry) in [
        ("[[http:400]]", 400, "invalid_request_error", "invalid_value", None),
        ("[[http:400,ctx]]", 400, "invalid_request_error", "context_length_exceeded", None),
        ("[[http:401]]", 401, "authentication_error", "codex_login_required", None),
        ("[[http:404]]", 404, "invalid_request_error", "model_not_found", None),
        ("[[http:429]]", 429, "rate_limit_error", "rate_limit_exceeded", None),
        ("[[http:429,usage]]", 429, "rate_limit_error", "insufficient_quota", Some("false")),
        ("[[http:500]]", 502, "server_error", "upstream_error", None),
        ("[[http:503]]", 503, "server_error", "overloaded", None),
        (
            "[[failed:context_length_exceeded]]",
            400,
            "invalid_request_error",
            "context_length_exceeded",
            None,
        ),
        ("[[cut-early]]", 502, "server_error", "stream_cut", None),
    ] {
        for stream in [false, true] {
            let answer = proxy.chat(&with(ask(mark), json!({"stream": stream}))).await;
            let error = answer.json()["error"].take();
            assert_eq!(
                (answer.status, &error["type"], &error["code"], answer.header("x-should-retry")),
                (status, &json!(r#type), &json!(code), should_retry),
                "{mark}: {}",
                answer.body
            );
        }
    }
}

/// What can be mended before the client has seen anything is not its business.
#[tokio::test]
async fn a_failure_is_tried_again_as_long_as_nothing_was_said() {
    let proxy = Proxy::start(&[("PROXY_UPSTREAM_RETRIES", "1")]).await;
    for stream in [false, true] {
        let request = with(ask(&format!("{stream}[[http:500,x1]]")), json!({"stream": stream}));
        let reply = Reply::of(&proxy.chat(&request).await);
        assert_eq!(reply.choice().text(), stream.to_string());
        // Text would come twice.
        let request = with(ask(&format!("{stream}[[cut-once]]")), json!({"stream": stream}));
        let reply = Reply::of(&proxy.chat(&request).await);
        assert_eq!(reply.error.expect("an error")["code"], "stream_cut");
    }
    assert_eq!(proxy.model.requests(), 6);
}

/// Whether both come in one piece or not: what the model said before it failed has been said.
async fn words_before_a_failure_are_not_lost(proxy: &Proxy) {
    for _ in 0..5 {
        let request = with(ask(r#"[[items:["well", null]]]"#), json!({"stream": true}));
        let reply = Reply::of(&proxy.chat(&request).await);
        assert_eq!(reply.choice().text(), "well");
        assert_eq!(reply.error.expect("an error")["code"], "stream_cut");
    }
}
