//! Every way in which an upstream can fail ends in its typed kind, after one model request.

use std::time::{Duration, Instant};

use model_turn::{FailureKind as Kind, TurnEnd};
use serde_json::{Value, json};
use testkit::{TestCodex, tools};

/// Runs a turn that fails as `kind` after one request, and gives what was said before.
async fn text_before(codex: &TestCodex, mark: &str, kind: Kind) -> String {
    let before = codex.model.requests();
    let outcome = codex.run(codex.ask(mark)).await;
    assert_eq!(outcome.failure(), kind, "{mark}: {outcome:?}");
    assert_eq!(codex.model.requests() - before, 1, "{mark}");
    outcome.text
}

#[tokio::test]
async fn every_failure_has_its_kind_and_costs_one_request() {
    let codex = TestCodex::start().await;
    let table = [
        ("[[http:401]]", Kind::Unauthorized),
        ("[[http:403]]", Kind::Unauthorized),
        ("[[http:404]]", Kind::ModelNotFound),
        ("[[http:429]]", Kind::RateLimit),
        ("[[http:429,usage]]", Kind::UsageLimit),
        ("[[http:500]]", Kind::ServerError),
        ("[[http:503]]", Kind::Overloaded),
        ("[[http:400]]", Kind::BadRequest),
        ("[[http:400,ctx]]", Kind::ContextLength),
        ("[[failed:context_length_exceeded]]", Kind::ContextLength),
        ("[[failed:rate_limit_exceeded]]", Kind::RateLimit),
        ("[[failed:insufficient_quota]]", Kind::UsageLimit),
        ("[[failed:server_error]]", Kind::ServerError),
        ("[[cut-early]]", Kind::StreamCut),
    ];
    for (mark, kind) in table {
        assert_eq!(text_before(&codex, mark, kind).await, "", "{mark}");
    }
    for (mark, kind) in [
        ("[[cut]]", Kind::StreamCut),
        ("[[message-cut]]", Kind::StreamCut),
        ("[[incomplete:max_output_tokens]]", Kind::MaxOutput),
        ("[[incomplete:content_filter]]", Kind::ContentFilter),
    ] {
        let text = text_before(&codex, mark, kind).await;
        assert!(!text.is_empty(), "{mark}: the text before the failure is lost");
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn the_upstreams_own_words_are_passed_on() {
    let codex = TestCodex::start().await;
    let refused = codex.run(codex.ask("[[http:400]]")).await.end.unwrap_err();
    assert_eq!(refused.upstream_status, Some(400));
    let body = refused.upstream_body.expect("the body");
    assert_eq!(body["error"]["message"], json!(refused.message));
    assert_eq!(body["error"]["type"], "invalid_request_error");
    let unknown = codex.run(codex.ask("[[http:401]]")).await.end.unwrap_err();
    assert_eq!(unknown.upstream_status, Some(401));
    assert!(unknown.message.contains("Incorrect API key"), "{unknown}");
    codex.client.shutdown().await;
}

#[tokio::test]
async fn an_upstream_that_is_not_there_ends_the_turn() {
    let codex = TestCodex::start().await;
    let mut request = codex.ask("hello");
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    request.upstream.as_mut().unwrap().base_url = format!("http://{nobody}/v1");
    assert_eq!(codex.run(request).await.failure(), Kind::Unreachable);
    codex.client.shutdown().await;
}

/// While a call is pending Codex hides what happens to the stream behind it.
#[tokio::test]
async fn a_call_and_then_a_broken_response_ends_within_the_probe_time() {
    let probe = Duration::from_millis(300);
    let codex = TestCodex::with(|config| config.turns.limits.probe_after = Some(probe)).await;
    for (mark, kind, calls) in [
        ("[[call-cut]]", Kind::StreamCut, 1),
        ("[[two-calls-cut]]", Kind::StreamCut, 2),
        ("[[call-failed:server_error]]", Kind::ServerError, 1),
        ("[[call-failed:rate_limit_exceeded]]", Kind::RateLimit, 1),
        ("[[call-incomplete:max_output_tokens]]", Kind::MaxOutput, 1),
        ("[[call-incomplete:content_filter]]", Kind::ContentFilter, 1),
    ] {
        let (before, probes) = (codex.model.requests(), codex.client.stats().probes);
        let mut request = codex.ask(mark);
        request.tools = tools(&["get_weather", "get_time"]);
        let started = Instant::now();
        let outcome = codex.run(request).await;
        println!("{mark}: ended after {:?}, probe time {probe:?}", started.elapsed());
        assert_eq!((outcome.failure(), outcome.calls.len()), (kind, calls), "{mark}");
        assert_eq!(codex.model.requests() - before, 1, "{mark}");
        assert_eq!(codex.client.stats().probes - probes, 1, "{mark}");
        assert!(started.elapsed() < Duration::from_secs(10), "{mark}");
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_probe_does_no_harm_to_a_response_that_is_alive() {
    let codex = TestCodex::with(|config| {
        config.turns.limits.probe_after = Some(Duration::from_millis(200));
        // What the log has of the second call would be a sign of life.
        config.early_arguments = false;
    })
    .await;
    let mut request = codex.ask("[[slow-second-call:1500]]");
    request.tools = tools(&["get_weather", "get_time"]);
    let outcome = codex.run(request).await;
    assert_eq!((outcome.calls.len(), &outcome.end), (2, &Ok(TurnEnd::ToolCalls)));
    assert!(codex.client.stats().probes > 0);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn silence_is_limited_and_the_upstream_is_let_go() {
    let codex =
        TestCodex::with(|config| config.turns.limits.idle_timeout = Duration::from_millis(300))
            .await;
    let failure = codex.run(codex.ask("[[silent]]")).await.end.unwrap_err();
    assert_eq!(
        (failure.kind, failure.message.as_str()),
        (Kind::Timeout, "no event from Codex for 300ms")
    );
    codex.model.until(|counters| counters.disconnects == 1).await;
    codex.client.shutdown().await;
}

#[tokio::test]
async fn the_length_of_a_turn_is_limited_and_the_upstream_is_let_go() {
    let codex =
        TestCodex::with(|config| config.turns.limits.timeout = Duration::from_millis(500)).await;
    let outcome = codex.run(codex.ask("[[slow:10000]]")).await;
    assert_eq!(outcome.failure(), Kind::Timeout);
    assert!(!outcome.text.is_empty());
    codex.model.until(|counters| counters.disconnects == 1).await;
    codex.client.shutdown().await;
}

/// Why the history's answer is waited for.
#[tokio::test]
async fn a_turn_right_behind_a_refused_history_asks_the_model_all_the_same() {
    let codex = TestCodex::start().await;
    let ask =
        async |method: &'static str, params: Value| codex.client.request(method, &params).await;
    let upstream = json!({
        "model_providers.upstream.base_url": codex.model.base_url(),
        "model_providers.upstream.requires_openai_auth": false,
    });
    let start = json!({"model": "demo", "ephemeral": true, "environments": [], "config": upstream});
    let started = ask("thread/start", start).await.unwrap().unwrap();
    let started: Value = serde_json::from_str(started.get()).unwrap();
    let thread = &started["thread"]["id"];
    let content = json!([{"type": "input_file"}]);
    let items = json!([{"type": "message", "role": "user", "content": content}]);
    let (injected, turn) = tokio::join!(
        ask("thread/inject_items", json!({"threadId": thread, "items": items})),
        ask("turn/start", json!({"threadId": thread, "input": []})),
    );
    assert!(injected.is_err());
    turn.unwrap();
    codex.model.until(|counters| counters.requests == 1).await;
    let body = codex.model.last_request().unwrap().body;
    assert!(!body["input"].to_string().contains("input_file"), "{body}");
    codex.client.shutdown().await;
}
