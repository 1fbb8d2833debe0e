//! Clients that leave or do not read.

use std::time::Instant;

use serde_json::Value;

use super::{SOON, assert_works};
use crate::asking::streamed;
use crate::proxy::Proxy;
use crate::responses::asking::ask;
use crate::responses::client::Responder;

/// Waits until the upstream has been left so many times.
async fn until_left(proxy: &Proxy, times: u64, what: &str) {
    let left = Instant::now();
    proxy.model.until(|counters| counters.disconnects == times && counters.in_flight == 0).await;
    println!("the upstream was left {:?} after a client had left {what}", left.elapsed());
    assert!(left.elapsed() < SOON);
}

/// Asks, and leaves as soon as the upstream has been asked.
async fn leave_when_asked(proxy: &Proxy, request: &Value) {
    let asked = proxy.model.requests() + 1;
    let client = Responder::new(proxy);
    tokio::select! {
        answer = client.create(request) => panic!("{answer:?}"),
        () = proxy.model.until(|counters| counters.requests == asked) => {}
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_its_turn_and_nothing_is_kept() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "1")]).await;
    let client = Responder::new(&proxy);
    let (stream, id) = client.until(&streamed(ask("[[hang]]")), "This").await;
    let request_id = stream.headers["x-request-id"].to_str().unwrap().to_owned();
    drop(stream);
    until_left(&proxy, 1, "its stream").await;
    assert_works(&proxy).await;
    let line = proxy.turn_lines(&request_id, 1).await.remove(0);
    assert_eq!(
        (&line["stop_reason"], &line["endpoint"]),
        (&"client_gone".into(), &"responses".into())
    );
    assert_eq!(client.get(&id).await.status, 404);

    leave_when_asked(&proxy, &ask("[[hang]]")).await;
    until_left(&proxy, 2, "its request").await;
    assert_works(&proxy).await;
    leave_when_asked(&proxy, &streamed(ask("[[silent]]"))).await;
    until_left(&proxy, 3, "a stream without a head").await;
    assert_works(&proxy).await;
    assert_eq!(proxy.counter(r#"turns_total{end="client_gone"}"#).await, 3);
}

#[tokio::test]
async fn a_client_that_reads_too_slowly_is_cut_off() {
    let proxy = Proxy::start(&[("PROXY_MAX_STREAM_BUFFER_BYTES", "1000000")]).await;
    let client = Responder::new(&proxy);
    let asked = Instant::now();
    // More than we and the system keep together.
    let lazy = client.open(&streamed(ask("[[big:20000000]]"))).await;
    let request_id = lazy.headers["x-request-id"].to_str().unwrap().to_owned();
    let line = proxy.turn_lines(&request_id, 1).await.remove(0);
    println!("a client that does not read was cut off after {:?}", asked.elapsed());
    assert_eq!(line["stop_reason"], "slow_client");
    proxy.model.until(|counters| counters.disconnects == 1).await;
    assert_works(&proxy).await;
    let read = lazy.until_cut().await;
    assert!(!read.contains("event: response.completed"));
}
