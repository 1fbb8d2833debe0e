//! Clients that leave, children that die, and responses that break off.

mod leaving;
mod lost_child;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::asking::{ask, streamed, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::telemetry::{Told, both_ways};

/// What must not take longer; on a quiet machine it takes a few milliseconds.
const SOON: Duration = Duration::from_secs(1);

/// The time until the upstream has been left so many times.
async fn until_left(proxy: &Proxy, times: u64) -> Duration {
    let left = Instant::now();
    proxy.model.until(|counters| counters.disconnects == times && counters.in_flight == 0).await;
    left.elapsed()
}

async fn assert_works(proxy: &Proxy) {
    let reply = Reply::of(&proxy.chat(&ask("[[text]]")).await);
    assert_eq!(reply.choice().text(), "Hello from the scripted model.");
}

/// Every choice has a slot, and all of them at once.
#[tokio::test]
async fn choices_take_their_slots_together() {
    let settings = [("PROXY_MAX_CONCURRENT_TURNS", "2"), ("PROXY_QUEUE_WAIT_MS", "200")];
    let proxy = Proxy::start(&settings).await;
    let two = |text: &str| with(ask(text), json!({"n": 2}));
    let mut both = proxy.open(&streamed(two("[[hang]]"))).await;
    both.until("This").await;
    proxy.model.until(|counters| counters.in_flight == 2).await;
    let refused = proxy.chat(&ask("[[text]]")).await;
    assert_eq!(refused.error(), (429, Value::Null, json!("too_many_turns")));
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(both);
    until_left(&proxy, 2).await;

    let mut one = proxy.open(&streamed(ask("[[hang]]"))).await;
    one.until("This").await;
    let asked = proxy.model.requests();
    assert_eq!(proxy.chat(&two("[[text]]")).await.error().0, 429);
    // None of the two has begun, and the slot that was free still is.
    assert_eq!(proxy.model.requests(), asked);
    assert_works(&proxy).await;
    drop(one);
    let reply = Reply::of(&proxy.chat(&two("[[text]]")).await);
    assert_eq!(reply.choices.len(), 2);
}

#[tokio::test]
async fn a_choice_that_fails_fails_the_request() {
    let proxy = Proxy::start(&[]).await;
    // The scripted model refuses one of the two, and answers the other.
    for (number, request) in [streamed(ask("")), ask("")].into_iter().enumerate() {
        let text = format!("{number} [[http:500,x1]]");
        let messages = json!([{"role": "user", "content": text}]);
        let answer = proxy.chat(&with(request, json!({"n": 2, "messages": messages}))).await;
        let error = Reply::of(&answer).error.expect("an error");
        assert_eq!(error["code"], "upstream_error", "{answer:?}");
        // A stream may have begun with the other choice.
        assert!(answer.status == 502 || (answer.status == 200 && number == 0), "{answer:?}");
    }
    proxy.model.until(|counters| counters.in_flight == 0).await;
    assert_works(&proxy).await;
}

/// Codex hides what happens after a whole call; a probe brings it out.
#[tokio::test]
async fn a_response_that_breaks_off_after_its_calls_ends_with_them() {
    let proxy = Proxy::start(&[("PROXY_CALL_PROBE_MS", "300")]).await;
    for (mark, calls) in [
        ("[[call-cut]]", 1),
        ("[[call-failed]]", 1),
        ("[[call-incomplete]]", 1),
        ("[[call-incomplete:content_filter]]", 1),
        ("[[two-calls-cut]]", 2),
    ] {
        let told =
            Told { calls, truncated: true, mode: "burst", stop_reason: "failed_after_calls" };
        let asked = Instant::now();
        let (stream, whole) = both_ways(&proxy, &with_tools(ask(mark)), &told).await;
        let elapsed = asked.elapsed() / 2;
        println!("{mark} ended after {elapsed:?}");
        assert!(elapsed < Duration::from_secs(5));
        for reply in [stream, whole] {
            assert_eq!(reply.choice().finish.as_deref(), Some("tool_calls"));
            assert_eq!(reply.choice().calls.len(), calls);
        }
    }
    // What is only slow goes on: a probe cuts nothing.
    let told = Told { calls: 2, truncated: false, mode: "burst", stop_reason: "tool_calls" };
    both_ways(&proxy, &with_tools(ask("[[parallel-slow:900]]")), &told).await;
}

/// Images that Codex has to decode for a while, as many as may come at once.
#[tokio::test]
async fn row_6_large_images_do_not_keep_others_waiting() {
    let proxy = Arc::new(Proxy::start(&[]).await);
    assert_works(&proxy).await;
    let mut shown = JoinSet::new();
    for number in 0..12 {
        // All different, because Codex remembers what it has decoded.
        let url = testkit::gray_jpeg(7000, 7000 - number);
        let content = json!(["[[text]]", {"type": "image_url", "image_url": {"url": url}}]);
        let request = with(ask(""), json!({"messages": [{"role": "user", "content": content}]}));
        let proxy = Arc::clone(&proxy);
        shown.spawn(async move { proxy.chat(&request).await });
    }
    let (begun, mut longest) = (Instant::now(), Duration::ZERO);
    while !shown.is_empty() {
        let asked = Instant::now();
        assert_works(&proxy).await;
        longest = longest.max(asked.elapsed());
        while let Some(answer) = shown.try_join_next() {
            let reply = Reply::of(&answer.unwrap());
            assert_eq!(reply.choice().text(), "Hello from the scripted model.");
        }
    }
    println!("twelve turns with images took {:?}", begun.elapsed());
    println!("the longest of the plain ones meanwhile took {longest:?}");
    assert!(longest < Duration::from_secs(5));
}

/// Its own turn is ended and its connection closed, and nobody else has to wait for it.
#[tokio::test]
async fn row_12_a_client_that_reads_too_slowly_is_cut_off() {
    let settings =
        [("PROXY_MAX_STREAM_BUFFER_BYTES", "1000000"), ("PROXY_MAX_CONCURRENT_TURNS", "2")];
    let proxy = Proxy::start(&settings).await;
    let mut other = proxy.open(&streamed(ask("[[echo-slow:3000]] one two three four five"))).await;
    other.until("one").await;
    let asked = Instant::now();
    // More than we and the system keep together.
    let lazy = proxy.open(&streamed(ask("[[big:20000000]]"))).await;
    let id = lazy.headers["x-request-id"].to_str().unwrap().to_owned();
    let line = proxy.turn_lines(&id, 1).await.remove(0);
    println!("a client that does not read was cut off after {:?}", asked.elapsed());
    assert_eq!(line["stop_reason"], "slow_client");
    let cut_off = Instant::now();
    proxy.model.until(|counters| counters.disconnects == 1).await;
    println!("the upstream was left {:?} after that", cut_off.elapsed());
    assert!(cut_off.elapsed() < SOON);
    // Its slot is free while it still holds on to its end of the connection.
    assert_works(&proxy).await;
    let reply = Reply::of(&other.whole().await);
    assert_eq!(reply.choice().finish.as_deref(), Some("stop"));
    assert!(reply.choice().text().ends_with("five"), "{}", reply.choice().text());

    let read = lazy.until_cut().await;
    println!("it finds {} bytes, and a connection that was reset", read.len());
    assert!(!read.contains("[DONE]"));
    assert_eq!(proxy.counter(r#"turns_total{end="slow_client"}"#).await, 1);
    let requests =
        r#"requests_total{route="/v1/chat/completions",status="200",outcome="slow_client"}"#;
    assert_eq!(proxy.counter(requests).await, 1);
}

/// What fits our buffers is not left lying there for ever.
#[tokio::test]
async fn row_12_a_client_that_reads_nothing_is_cut_off_after_the_idle_time() {
    let settings =
        [("PROXY_MAX_STREAM_BUFFER_BYTES", "100000000"), ("PROXY_IDLE_TIMEOUT_MS", "3000")];
    let proxy = Proxy::start(&settings).await;
    let asked = Instant::now();
    let lazy = proxy.open(&streamed(ask("[[big:20000000]]"))).await;
    let id = lazy.headers["x-request-id"].to_str().unwrap().to_owned();
    assert_works(&proxy).await;
    let line = proxy.turn_lines(&id, 1).await.remove(0);
    println!("a client that does not read was cut off after {:?}", asked.elapsed());
    assert_eq!(line["stop_reason"], "slow_client");
    assert!(!lazy.until_cut().await.contains("[DONE]"));
    assert_eq!(proxy.counter(r#"turns_total{end="slow_client"}"#).await, 1);
}
