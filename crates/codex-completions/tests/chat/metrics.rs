//! Every metric changes when it should, and nothing else does.

mod codex;
mod continuity;

use std::collections::BTreeMap;
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use hyper::header::AUTHORIZATION;
use serde_json::{Value, json};
use server::METRICS;
use testkit::http::Connection;

use crate::asking::{ask, call, items, streamed, with, with_tools};
use crate::proxy::{CHAT, Proxy};
use crate::samples::Samples;

/// How much each series has changed.
type Changes = BTreeMap<String, f64>;

/// What is different now.
async fn changes_by(proxy: &Proxy, deed: impl Future<Output = ()>) -> Changes {
    changes_beside(0, proxy, deed).await
}

/// The same while so many turns run, before and after. A place is free soon after the answer.
async fn changes_beside(running: u64, proxy: &Proxy, deed: impl Future<Output = ()>) -> Changes {
    proxy.until_log_is_checked().await;
    proxy.until_running(running).await;
    let before = Samples::of(proxy).await;
    deed.await;
    proxy.until_running(running).await;
    let mut changes = Samples::of(proxy).await.changed_since(&before);
    changes.retain(|series, _| is_steady(series));
    changes
}

/// Whether a series changes for no other reason than what clients do, and by how much is known.
fn is_steady(series: &str) -> bool {
    let unsteady = [
        "_bucket{",
        "_seconds_sum",
        "frame_gap_seconds",
        "process_",
        // How much is said; that it is counted has a test of its own.
        "kept_thread_bytes",
        // Those who look are counted too.
        "/v1/metrics",
        // What comes from Codex's log has tests of its own.
        "codex_completions_early_arguments",
        "codex_completions_tool_calls",
        "codex_completions_argument_",
        "codex_completions_unattributed_fragments",
        "codex_completions_log_mismatches",
        // These come by themselves, or when they come.
        "method=thread/loaded/list",
        "method=thread/unsubscribe",
        "method=turn/interrupt",
        "method=model/list",
        "method=account/",
        "kind=stale_event",
    ];
    !unsteady.iter().any(|part| series.contains(part))
}

/// What every turn adds that begins a conversation, and that Codex was asked for once.
fn turn(end: &str, calls: u32, more: Value) -> Changes {
    let fresh = json!({
        "turn_continuity_total{continuity=fresh,reason=first}": 1,
        "codex_request_seconds_count{method=thread/start}": 1,
        "codex_request_seconds_count{method=thread/inject_items}": 1,
        "codex_request_seconds_count{method=turn/start}": 1,
    });
    turn_anywhere(end, calls, with(fresh, more))
}

/// What every turn adds, whichever thread it has.
fn turn_anywhere(end: &str, calls: u32, more: Value) -> Changes {
    let mut changes = changes(json!({
        "queue_wait_seconds_count": 1,
        (format!("turns_total{{end={end}}}")): 1,
        "turn_tool_calls_count": 1,
        "turn_tool_calls_sum": calls,
        "tool_call_count_total": calls,
    }));
    changes.extend(self::changes(more));
    changes
}

/// What the scripted model says that a response costs.
fn tokens() -> Value {
    json!({
        "usage_tokens_total{kind=prompt}": 123,
        "usage_tokens_total{kind=cached}": 100,
        "usage_tokens_total{kind=completion}": 45,
        "usage_tokens_total{kind=reasoning}": 7,
    })
}

/// So many more threads are kept.
fn kept(state: &str, change: i32) -> Value {
    json!({(format!("kept_threads{{state={state}}}")): change})
}

/// A request of this route that ended like this.
fn request(route: &str, status: &str, outcome: &str) -> Value {
    json!({
        (format!("requests_total{{outcome={outcome},route={route},status={status}}}")): 1,
        (format!("request_duration_seconds_count{{route={route}}}")): 1,
    })
}

fn chat(status: &str, outcome: &str) -> Value {
    request(CHAT, status, outcome)
}

fn changes(values: Value) -> Changes {
    let Value::Object(values) = values else { panic!("no changes: {values}") };
    let changes = values.into_iter().map(|(series, value)| (series, value.as_f64().unwrap()));
    changes.filter(|(_, change)| *change != 0.0).collect()
}

fn all(parts: impl IntoIterator<Item = Value>) -> Value {
    parts.into_iter().reduce(with).unwrap()
}

#[tokio::test]
async fn a_turn_changes_what_it_is_counted_in_and_nothing_else() {
    let proxy = Proxy::start(&[]).await;
    // The catalog is asked for once.
    proxy.chat(&ask("[[text]]")).await;
    let begun = || json!({"first_token_seconds_count": 1});
    let xml = [("x-proxy-output-mode", "obsidian-xml")];
    let block = "<use_tool><name>get_time</name><city>Rome</city></use_tool>";

    let two_calls = with_tools(ask("[[parallel:2]]"));
    assert_eq!(
        changes_by(&proxy, async { drop(proxy.chat(&streamed(two_calls)).await) }).await,
        turn(
            "tool_calls",
            2,
            all([
                chat("200", "ok"),
                begun(),
                tokens(),
                kept("held", 1),
                json!({"tool_calls_total{mode=openai-json,source=structured}": 2}),
            ])
        )
    );

    let said =
        items(&[json!(format!("Well. {block}")), call("get_time", "<b>Oslo</b>"), json!("Äfter.")]);
    let mixed = with_tools(ask(&said));
    assert_eq!(
        changes_by(&proxy, async { drop(proxy.chat_with(&mixed, &xml).await) }).await,
        turn(
            "tool_calls",
            2,
            all([
                chat("200", "ok"),
                begun(),
                tokens(),
                json!({
                    "tool_calls_total{mode=obsidian-xml,source=structured}": 1,
                    "tool_calls_total{mode=obsidian-xml,source=text}": 1,
                    "tool_blocks_total{state=started}": 1,
                    "tool_blocks_total{state=flushed}": 1,
                    "codex_completions_xml_values_altered_total": 1,
                    "suppressed_bytes_total": "Äfter.".len(),
                }),
            ])
        )
    );

    let open = with_tools(ask(&items(&[json!("<use_tool><name>get_time</name>")])));
    assert_eq!(
        changes_by(&proxy, async { drop(proxy.chat(&open).await) }).await,
        turn(
            "completed",
            0,
            all([
                chat("200", "ok"),
                begun(),
                tokens(),
                kept("idle", 1),
                json!({
                    "tool_blocks_total{state=started}": 1,
                    "tool_blocks_total{state=aborted}": 1,
                }),
            ])
        )
    );

    let stopped = with(ask("one two three[[echo-whole]]"), json!({"stop": "two"}));
    assert_eq!(
        changes_by(&proxy, async { drop(proxy.chat(&streamed(stopped)).await) }).await,
        turn(
            "stop_sequence",
            0,
            all([
                chat("200", "ok"),
                begun(),
                json!({
                    "turn_cuts_total{reason=stop_sequence}": 1,
                    "tool_call_truncated_total": 1,
                }),
            ])
        )
    );

    let broken = streamed(ask("one two three[[echo-cut]]"));
    assert_eq!(
        changes_by(&proxy, async { drop(proxy.chat(&broken).await) }).await,
        turn(
            "failed",
            0,
            all([
                chat("200", "failed"),
                begun(),
                json!({
                    "tool_call_truncated_total": 1,
                    "turn_failures_total{kind=stream_cut}": 1,
                }),
            ])
        )
    );

    let failed = changes_by(&proxy, async { drop(proxy.chat(&ask("[[http:500]]")).await) }).await;
    assert_eq!(
        failed,
        turn(
            "failed",
            0,
            all([
                chat("502", "failed"),
                json!({
                    "tool_call_truncated_total": 1,
                    "turn_failures_total{kind=server_error}": 1,
                }),
            ])
        )
    );
}

#[tokio::test]
async fn a_response_is_counted_as_a_turn_and_where_it_is_stored() {
    const RESPONSES: &str = "/v1/responses";
    let proxy = Proxy::start(&[]).await;
    proxy.chat(&ask("[[text]]")).await;
    let respond = async |body: Value| {
        let request = Request::post(RESPONSES).header("content-type", "application/json");
        let request = request.body(Full::from(body.to_string())).unwrap();
        assert_eq!(proxy.send(request).await.whole().await.status, 200);
    };
    let response = json!({"model": "demo", "input": "[[text]]"});
    let counted = || {
        all([request(RESPONSES, "200", "ok"), json!({"first_token_seconds_count": 1}), tokens()])
    };
    let unstored = with(response.clone(), json!({"store": false}));
    let first = with(counted(), kept("idle", 1));
    assert_eq!(changes_by(&proxy, respond(unstored)).await, turn("completed", 0, first));
    // The thread of the same conversation takes the place of the first one's.
    let mut stored = changes_by(&proxy, respond(streamed(response))).await;
    let bytes = stored.remove("stored_response_bytes");
    assert!(bytes.is_some_and(|bytes| bytes > 0.0), "{bytes:?}");
    assert_eq!(stored, turn("completed", 0, with(counted(), json!({"responses_stored_total": 1}))));
}

#[tokio::test]
async fn a_request_without_a_turn_changes_what_it_is_counted_in() {
    let proxy = Proxy::start(&[]).await;
    let send = async |request: hyper::http::request::Builder, body: &'static str| {
        proxy.send(request.body(Full::<Bytes>::from(body)).unwrap()).await.whole().await;
    };
    let post = || Request::post(CHAT).header("content-type", "application/json");
    let unreadable = async {
        let garbage = b"\x16\x03\x01\r\n\r\n";
        Connection::open_with(proxy.address(), garbage).await.unwrap().rest_text().await.unwrap();
    };
    let refused = changes(json!({"connections_refused_total{reason=invalid_http}": 1}));
    assert_eq!(changes_by(&proxy, unreadable).await, refused);
    for (deed, expected) in [
        (send(post(), "{"), chat("400", "refused")),
        (send(post().header(AUTHORIZATION, "Bearer x"), "{}"), chat("401", "refused")),
        (send(Request::get("/v1/models"), ""), request("/v1/models", "200", "ok")),
        (send(Request::get("/models/none"), ""), request("/v1/models/{id}", "404", "refused")),
        (send(Request::get("/livez"), ""), request("/livez", "200", "ok")),
        (send(Request::get("/v1/nowhere"), ""), request("other", "404", "refused")),
        (send(Request::delete(CHAT), ""), chat("405", "refused")),
    ] {
        assert_eq!(changes_by(&proxy, deed).await, changes(expected));
    }
}

#[tokio::test]
async fn clients_that_leave_or_wait_are_counted() {
    let settings = [("PROXY_MAX_CONCURRENT_TURNS", "1"), ("PROXY_QUEUE_MAX", "1")];
    let proxy = Proxy::start(&settings).await;
    let mut stream = proxy.open(&streamed(ask("[[hang]]"))).await;
    stream.until("content").await;
    let plain = ask("[[text]]");
    let left = changes_beside(1, &proxy, async {
        tokio::select! {
            _ = proxy.open(&plain) => panic!("there is only one place"),
            () = proxy.until_waiting(1) => {}
        }
        proxy.until_waiting(0).await;
    });
    assert_eq!(left.await, changes(chat("none", "client_gone")));

    let mut waiting = std::pin::pin!(proxy.chat(&plain));
    tokio::select! {
        _ = &mut waiting => panic!("there is only one place"),
        () = proxy.until_waiting(1) => {}
    }
    let now = Samples::of(&proxy).await;
    for (series, value) in
        [("turns_running", 1), ("turns_waiting", 1), ("turns_limit", 1), ("streams_active", 1)]
    {
        assert_eq!(now.value(series), Some(f64::from(value)), "{series}");
    }
    assert_eq!(
        changes_beside(1, &proxy, async { drop(proxy.chat(&plain).await) }).await,
        changes(with(
            chat("429", "refused"),
            json!({"requests_refused_total{reason=queue_full}": 1})
        ))
    );

    let before = Samples::of(&proxy).await;
    drop(stream);
    waiting.await;
    proxy.until_running(0).await;
    let mut changed = Samples::of(&proxy).await.changed_since(&before);
    changed.retain(|series, _| is_steady(series));
    let expected = all([
        chat("200", "client_gone"),
        json!({
            "requests_total{outcome=ok,route=/v1/chat/completions,status=200}": 1,
            "request_duration_seconds_count{route=/v1/chat/completions}": 2,
            "queue_wait_seconds_count": 1,
            "first_token_seconds_count": 2,
            "turns_total{end=client_gone}": 1,
            "turns_total{end=completed}": 1,
            "turn_cuts_total{reason=client_gone}": 1,
            "tool_call_truncated_total": 1,
            "turn_continuity_total{continuity=fresh,reason=first}": 2,
            "turn_tool_calls_count": 2,
            "codex_request_seconds_count{method=thread/start}": 1,
            "codex_request_seconds_count{method=thread/inject_items}": 1,
            "codex_request_seconds_count{method=turn/start}": 1,
            "turns_running": -1,
            "turns_waiting": -1,
            "streams_active": -1,
        }),
        tokens(),
        kept("idle", 1),
    ]);
    assert_eq!(changed, changes(expected));
}

/// The real gaps, and what the system says about the process.
#[tokio::test]
async fn what_is_measured_is_plausible() {
    let proxy = Proxy::start(&[]).await;
    proxy.chat(&streamed(ask("one two three four five[[echo-slow:300]]"))).await;
    let now = Samples::of(&proxy).await;
    let value = |series: &str| now.value(series).unwrap_or_else(|| panic!("no {series}"));
    let (gaps, silence) = (value("frame_gap_seconds_count"), value("frame_gap_seconds_sum"));
    assert!(gaps >= 2.0 && (0.2..5.0).contains(&silence), "{gaps} gaps of {silence} s in all");
    assert!(value("process_resident_memory_bytes") > 4e6);
    let open = std::fs::read_dir(format!("/proc/{}/fd", proxy.process_id())).unwrap().count();
    // A connection more or less.
    assert!((value("process_open_fds") - f64::from(u32::try_from(open).unwrap())).abs() <= 2.0);
    let started = UNIX_EPOCH.elapsed().unwrap().as_secs_f64() - value("process_start_time_seconds");
    assert!((0.0..60.0).contains(&started), "started {started} s ago");
    let [token, whole] =
        ["first_token_seconds_sum", "request_duration_seconds_sum{route=/v1/chat/completions}"]
            .map(value);
    assert!(0.0 < token && token < whole, "{token} of {whole} s");
}

/// A metric that nobody has seen to move may never do so.
#[test]
fn every_metric_is_tried_here() {
    // The first cannot be made to happen; that it is passed on is tried where it is counted. The
    // others have tests beside those of `/v1/usage` and of stored responses.
    const ELSEWHERE: [&str; 5] = [
        "codex_extra_model_requests",
        "account_limit_used_percent",
        "account_limit_resets_at_seconds",
        "usage_rows_lost",
        "responses_not_stored",
    ];
    let here = concat!(
        include_str!("metrics.rs"),
        include_str!("early_arguments.rs"),
        include_str!("other_tools/custom.rs"),
        include_str!("metrics/codex.rs"),
        include_str!("metrics/continuity.rs")
    );
    let is_tried = |name: &str| here.contains(&format!("\"{name}")) || ELSEWHERE.contains(&name);
    let names = METRICS.iter().map(|metric| metric.name);
    assert_eq!(names.filter(|name| !is_tried(name)).collect::<Vec<_>>(), [""; 0]);
}
