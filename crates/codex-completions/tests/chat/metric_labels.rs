//! Whatever clients send, the series in `/metrics` stay the same few.

use std::collections::BTreeSet;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::AUTHORIZATION;
use hyper::{Method, Request};
use model_turn::FailureKind;
use serde_json::json;
use server::METRICS;
use testkit::until;

use crate::asking::{ask, items, streamed, tools, with};
use crate::proxy::{CHAT, Proxy};
use crate::responses::RESPONSES;
use crate::samples::{Samples, Series};

/// Everything that a client chooses has this in it.
const HOSTILE: &str = "hostile";

const JSON: &str = "application/json";

/// Requests that nobody has sent before, in every part that could become a label.
async fn send_hostile_requests(proxy: &Proxy, round: u32) {
    let word = format!("{HOSTILE}-{round}");
    let requests = [
        Request::get(format!("/{word}/path")),
        Request::get(format!("/v1/models/{word}")),
        Request::post(format!("/v1/{word}")),
        Request::get(format!("{RESPONSES}/{word}?include={word}")),
        Request::delete(format!("{RESPONSES}/{word}")),
        Request::get(format!("{RESPONSES}/{word}/input_items?after={word}")),
        Request::post(format!("{RESPONSES}/{word}/cancel")).header("content-type", JSON),
        Request::get(format!("{RESPONSES}/{word}/{word}")),
        Request::builder().method(Method::from_bytes(word.as_bytes()).unwrap()).uri(CHAT),
        Request::get("/metrics").header("origin", format!("https://{word}.example")),
        Request::post(CHAT).header(AUTHORIZATION, format!("Bearer {word}")),
        Request::post(CHAT).header("content-type", format!("text/{word}")),
        Request::get("/readyz").header("x-request-id", word.as_str()).header("user-agent", &word),
    ];
    for request in requests {
        let request = request.body(Full::<Bytes>::default()).unwrap();
        proxy.send(request).await.whole().await;
    }
    let call = items(&[json!({"name": word, "arguments": "{}"})]);
    for body in [
        with(ask("[[text]]"), json!({"model": word})),
        with(ask("[[text]]"), json!({"user": word, "metadata": {"a": word}})),
        with(ask("[[text]]"), json!({"reasoning_effort": word})),
        with(ask(&call), json!({"tools": tools(&[&word])})),
        with(ask(&format!("[[failed:{word}]]")), json!({})),
        with(ask(&format!("[[text:{word}]]")), json!({"stop": word})),
    ] {
        proxy.chat_with(&body, &[("x-proxy-output-mode", "openai-json")]).await;
        proxy.chat_with(&streamed(body), &[("x-proxy-output-mode", &word)]).await;
    }
    for body in [
        json!({"model": word, "input": format!("[[text:{word}]]"), "metadata": {&word: word}}),
        json!({"model": "gpt-5.5", "input": word, "previous_response_id": word}),
        json!({"model": "gpt-5.5", "input": format!("[[failed:{word}]]")}),
    ] {
        for body in [streamed(body.clone()), body] {
            let request = Request::post(RESPONSES).header("content-type", JSON);
            proxy.send(request.body(Full::from(body.to_string())).unwrap()).await.whole().await;
        }
    }
}

/// The values that a label can have; `None` is for those that are checked in another way.
fn values(label: &str) -> Option<&'static [&'static str]> {
    Some(match label {
        "route" => &[
            "/v1/chat/completions",
            "/v1/responses",
            "/v1/responses/input_tokens",
            "/v1/responses/{id}",
            "/v1/responses/{id}/input_items",
            "/v1/responses/{id}/cancel",
            "/v1/models",
            "/v1/models/{id}",
            "/v1/metrics",
            "/livez",
            "/readyz",
            "/healthz",
            "/",
            "/page/{file}",
            "/v1",
            "/v1/proxy/status",
            "/v1/proxy/events",
            "/v1/proxy/turns",
            "/v1/proxy/models",
            "/v1/proxy/settings",
            "/v1/proxy/login",
            "/v1/proxy/login/confirm",
            "/v1/proxy/logout",
            "other",
        ],
        "outcome" => &["ok", "refused", "failed", "client_gone", "slow_client"],
        "reason" | "end" => &[
            "completed",
            "tool_calls",
            "first_call",
            "grace",
            "call_cap",
            "held_text",
            "stop_sequence",
            "max_tokens",
            "upstream_length",
            "content_filter",
            "failed_after_calls",
            "failed",
            "cancelled",
            "client_gone",
            "slow_client",
            "queue_full",
            "too_many_turns",
            "too_many_large_requests",
            "rate_limit_exceeded",
            "shutting_down",
            "too_many_connections",
            "invalid_http",
            "headers_too_large",
            "request_timeout",
            "none",
            "off",
            "first",
            "unknown",
            "taken",
            "expired",
            "evicted",
            "child_gone",
            "outputs",
            "nothing_new",
            "reasoning",
            "not_ready",
        ],
        "continuity" => &["fresh", "reused", "resumed"],
        "window" => &["primary", "secondary"],
        "source" => &["structured", "text"],
        "mode" => &["obsidian-xml", "openai-json"],
        "state" => &[
            "started",
            "flushed",
            "aborted",
            "starting",
            "ready",
            "restarting",
            "untested",
            "stopped",
            "idle",
            "held",
            "off",
            "checking",
            "on",
            "lost",
        ],
        "delivery" => &["streamed", "whole"],
        "kind" => &[
            "prompt",
            "cached",
            "completion",
            "reasoning",
            "retry",
            "codex_retry",
            "reasoning_refused",
            "repeated_output",
            "flood_retry",
            "oversize_line",
            "unreadable_message",
            "unclaimed_response",
            "stale_event",
            "unconfirmed_end",
        ],
        "method" => &[
            "initialize",
            "account/read",
            "model/list",
            "thread/start",
            "thread/inject_items",
            "turn/start",
            "thread/unsubscribe",
            "thread/loaded/list",
        ],
        "input" => &["raw", "malformed"],
        _ => return None,
    })
}

#[tokio::test]
async fn row_16_labels_are_bounded() {
    let proxy = Proxy::start(&[]).await;
    send_hostile_requests(&proxy, 0).await;
    // Who asks is counted too, and so is a sign of life that Codex gives now and then.
    let alive = r#"codex_request_seconds_count{method="thread/loaded/list"}"#;
    until(alive, async || proxy.metrics().await.contains(alive)).await;
    let first = Samples::of(&proxy).await.series();
    for round in 1..6 {
        send_hostile_requests(&proxy, round).await;
    }
    let now = Samples::of(&proxy).await.series();
    let more: Vec<_> = now.difference(&first).map(Series::to_string).collect();
    assert_eq!(more, [""; 0], "there are more series after more requests");
    for Series { name, labels } in now {
        let metric = METRICS.iter().find(|metric| metric.series().contains(&name));
        let metric = metric.unwrap_or_else(|| panic!("{name} is no metric of ours"));
        let mut known: BTreeSet<_> = metric.labels.iter().copied().collect();
        if name.ends_with("_bucket") {
            known.insert("le");
        }
        assert_eq!(labels.keys().map(String::as_str).collect::<BTreeSet<_>>(), known, "{name}");
        for (label, value) in labels {
            match (label.as_str(), values(&label)) {
                ("kind", _) if name == "turn_failures_total" => {
                    assert!(FailureKind::ALL.iter().any(|kind| kind.as_str() == value), "{value}");
                }
                (_, Some(values)) => {
                    assert!(values.contains(&value.as_str()), "{name} has {label}={value}");
                }
                ("status", None) => assert!(value == "none" || value.parse::<u16>().is_ok()),
                ("le", None) => assert!(value.parse::<f64>().is_ok(), "{name} has {label}={value}"),
                ("version" | "codex", None) => assert_eq!(value.split('.').count(), 3, "{value}"),
                (unknown, None) => panic!("{name} has {unknown}={value}"),
            }
        }
    }
}
