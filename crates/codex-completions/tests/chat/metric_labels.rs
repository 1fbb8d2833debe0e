//! Whatever clients send, the series in `/metrics` stay the same few.

use std::collections::BTreeSet;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::AUTHORIZATION;
use hyper::{Method, Request};
use serde_json::json;

use crate::asking::{ask, items, streamed, tools, with};
use crate::proxy::{CHAT, Proxy};

/// Everything that a client chooses has this in it.
const HOSTILE: &str = "hostile";

/// Every series there is, by name and labels, without its value.
async fn series(proxy: &Proxy) -> BTreeSet<String> {
    let metrics = proxy.metrics().await;
    let samples = metrics.lines().filter(|line| !line.starts_with('#'));
    samples.map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
}

/// Requests that nobody has sent before, in every part that could become a label.
async fn send_hostile_requests(proxy: &Proxy, round: u32) {
    let word = format!("{HOSTILE}-{round}");
    let requests = [
        Request::get(format!("/{word}/path")),
        Request::get(format!("/v1/models/{word}")),
        Request::post(format!("/v1/{word}")),
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
}

#[tokio::test]
async fn row_16_labels_are_bounded() {
    let proxy = Proxy::start(&[]).await;
    send_hostile_requests(&proxy, 0).await;
    let first = series(&proxy).await;
    for round in 1..6 {
        send_hostile_requests(&proxy, round).await;
    }
    assert_eq!(series(&proxy).await, first, "there are more series after more requests");
    assert!(!first.iter().any(|series| series.contains(HOSTILE)), "{first:?}");

    // Names and labels of every series, with the values that a label can have.
    let reasons = [
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
        "client_gone",
        "slow_client",
    ];
    let mut known: BTreeSet<_> =
        reasons.map(|reason| format!(r#"turns_total{{end="{reason}"}}"#)).into();
    known.extend(
        [
            "tool_call_count_total",
            "tool_call_truncated_total",
            "codex_restarts_total",
            "codex_declined_requests_total",
            "turns_running",
            "turns_waiting",
        ]
        .map(str::to_owned),
    );
    let refusals = [
        "queue_full",
        "too_many_turns",
        "too_many_large_requests",
        "rate_limit_exceeded",
        "shutting_down",
    ];
    known.extend(refusals.map(|reason| format!(r#"requests_refused_total{{reason="{reason}"}}"#)));
    let unknown: Vec<_> = first.difference(&known).collect();
    assert_eq!(unknown, [""; 0]);
}
