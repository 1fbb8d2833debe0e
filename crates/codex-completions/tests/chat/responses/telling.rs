//! What is told about a turn: the line in the log, the usage, the metrics, the headers.

use serde_json::json;

use super::asking::{ask, respond, respond_with, with_tools};
use super::reply::Reply;
use crate::asking::{call, items, streamed, with};
use crate::proxy::Proxy;
use crate::samples::Samples;
use crate::turn_log::steady;
use crate::usage::until_turns;

#[tokio::test]
async fn row_9_each_turn_has_a_line_without_any_content() {
    let proxy = Proxy::start(&[("PROXY_TOOL_BLOCK_MAX", "7")]).await;
    let request = with(
        with_tools(ask("very private [[parallel:2]]")),
        json!({"model": "chat", "instructions": "instructed", "metadata": {"noted": "noted"}}),
    );
    for (request, stream) in [(streamed(request.clone()), true), (request, false)] {
        let answer = respond(&proxy, &request).await;
        let calls = Reply::of(&answer).calls();
        let line = proxy.turn_lines(answer.header("x-request-id").unwrap(), 1).await.remove(0);
        assert_eq!(line["tool_call_ids"], format!("{},{}", calls[0].id, calls[1].id));
        assert_eq!(
            steady(line),
            json!({
                "level": "INFO", "target": "turn", "message": "a turn has ended",
                "endpoint": "responses", "key": "default", "choice": 0, "model": "chat",
                "backend_model": answer.header("x-proxy-model"),
                "stream": stream, "output_mode": "openai-json",
                "has_tool_calls": true, "tool_call_count": 2,
                "tool_call_names": "get_weather,get_time", "tool_call_truncated": false,
                "stop_after_tools_mode": "burst", "stop_reason": "tool_calls",
                "suppressed_bytes": 0, "continuity": "fresh", "fresh_reason": "first",
                "settings": "PROXY_TOOL_BLOCK_MAX=7",
                "ignored_params": "",
                "prompt_tokens": 123, "cached_tokens": 100,
                "completion_tokens": 45, "reasoning_tokens": 7,
            })
        );
    }
    let log = proxy.log().to_string();
    for secret in ["very private", "instructed", "noted"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

on_one_server! {
    text_that_is_not_sent_is_counted,
    what_has_no_effect_is_named,
}

/// Text beside calls has items of its own. Only in XML mode what follows the last call is left out.
async fn text_that_is_not_sent_is_counted(proxy: &Proxy) {
    let said = items(&[json!("Before."), call("get_time", "Rome"), json!("Äfter.")]);
    let request = with_tools(ask(said));
    for request in [streamed(request.clone()), request] {
        for (mode, suppressed) in [("openai-json", 0), ("obsidian-xml", 7)] {
            let answer = respond_with(proxy, &request, &[("x-proxy-output-mode", mode)]).await;
            let line = proxy.turn_lines(answer.header("x-request-id").unwrap(), 1).await.remove(0);
            assert_eq!(line["suppressed_bytes"], suppressed, "{request} in {mode}");
            let text = Reply::of(&answer).text();
            assert!(text.starts_with("Before."), "{text}");
            assert_eq!(text.ends_with("Äfter."), suppressed == 0, "{text}");
        }
    }
}

async fn what_has_no_effect_is_named(proxy: &Proxy) {
    let ignored = json!({
        "temperature": 0, "top_p": 1, "top_logprobs": 3, "truncation": "auto", "seed": 7,
        "include": ["message.output_text.logprobs"], "text": {"verbosity": "low"}, "user": "me",
        "service_tier": "flex", "stop": ["a"],
    });
    let request = with(ask("[[text]]"), ignored);
    for request in [streamed(request.clone()), request] {
        assert_eq!(
            respond(proxy, &request).await.header("x-proxy-ignored-params"),
            Some("temperature, top_p, seed, top_logprobs, stop, truncation, include")
        );
    }
    assert_eq!(respond(proxy, &ask("[[text]]")).await.header("x-proxy-ignored-params"), None);
}

#[tokio::test]
async fn turns_are_counted_and_summed_up() {
    let proxy = Proxy::start(&[]).await;
    let before = Samples::of(&proxy).await;
    assert_eq!(respond(&proxy, &with_tools(ask("[[parallel:2]]"))).await.status, 200);
    assert_eq!(respond(&proxy, &streamed(ask("[[text]]"))).await.status, 200);
    assert_eq!(respond(&proxy, &ask("[[http:500]]")).await.status, 502);
    proxy.until_running(0).await;
    let changes = Samples::of(&proxy).await.changed_since(&before);
    for (series, change) in [
        ("requests_total{outcome=ok,route=/v1/responses,status=200}", 2.0),
        ("requests_total{outcome=failed,route=/v1/responses,status=502}", 1.0),
        ("turns_total{end=tool_calls}", 1.0),
        ("turns_total{end=completed}", 1.0),
        ("turns_total{end=failed}", 1.0),
        ("tool_calls_total{mode=openai-json,source=structured}", 2.0),
        ("usage_tokens_total{kind=completion}", 90.0),
        ("first_token_seconds_count", 2.0),
    ] {
        assert_eq!(changes.get(series), Some(&change), "{series} in {changes:?}");
    }
    let told = until_turns(&proxy, 3).await;
    let expected = json!({
        "turns": 3, "requests": 3, "failed": 1, "truncated": 1, "tool_calls": 2,
        "prompt_tokens": 246, "cached_tokens": 200, "completion_tokens": 90,
        "reasoning_tokens": 14, "turns_without_tokens": 1,
    });
    assert_eq!(told["totals"], expected);
}
