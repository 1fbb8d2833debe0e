//! Clients that leave, at every point of their request.

use std::time::Instant;

use serde_json::Value;
use testkit::http::Connection;
use testkit::process::{open_sockets, signal};
use testkit::until;

use super::{SOON, assert_works, until_left};
use crate::asking::{ask, streamed};
use crate::proxy::Proxy;

/// Asks, and leaves as soon as the upstream has been asked.
async fn leave_when_asked(proxy: &Proxy, request: &Value) {
    let asked = proxy.model.requests() + 1;
    tokio::select! {
        answer = proxy.chat(request) => panic!("{answer:?}"),
        () = proxy.model.until(|counters| counters.requests == asked) => {}
    }
}

#[tokio::test]
async fn row_11_a_client_that_leaves_ends_its_turn_and_frees_its_slot() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "1")]).await;
    let mut stream = proxy.open(&streamed(ask("[[hang]]"))).await;
    stream.until("This").await;
    drop(stream);
    let elapsed = until_left(&proxy, 1).await;
    println!("the upstream was left {elapsed:?} after a client had left its stream");
    assert!(elapsed < SOON);
    assert_works(&proxy).await;

    leave_when_asked(&proxy, &ask("[[hang]]")).await;
    let elapsed = until_left(&proxy, 2).await;
    println!("the upstream was left {elapsed:?} after a client had left its request");
    assert!(elapsed < SOON);
    assert_works(&proxy).await;

    // A stream whose head has not been sent yet.
    leave_when_asked(&proxy, &streamed(ask("[[silent]]"))).await;
    assert!(until_left(&proxy, 3).await < SOON);
    assert_works(&proxy).await;
    assert_eq!(proxy.counter(r#"turns_total{end="client_gone"}"#).await, 3);
}

#[tokio::test]
async fn row_11_a_client_that_leaves_the_queue_is_forgotten() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "1")]).await;
    let mut running = proxy.open(&streamed(ask("[[hang]]"))).await;
    running.until("This").await;
    // Who waits is sent nothing, not even a head.
    for waiting in [streamed(ask("[[text]]")), ask("[[text]]")] {
        tokio::select! {
            answer = proxy.chat(&waiting) => panic!("{answer:?}"),
            () = proxy.until_waiting(1) => {}
        }
        let left = Instant::now();
        proxy.until_waiting(0).await;
        println!("its place in the queue was free {:?} after a client had left", left.elapsed());
        assert!(left.elapsed() < SOON);
    }
    drop(running);
    until_left(&proxy, 1).await;
    assert_works(&proxy).await;
    assert_eq!(proxy.model.requests(), 2);
}

/// No child is there, and the next one is far away: the turn waits, and its client does not.
#[tokio::test]
async fn row_11_a_client_that_leaves_while_there_is_no_child_is_forgotten() {
    let settings = [
        ("PROXY_MAX_CONCURRENT_TURNS", "1"),
        ("WORKER_BACKOFF_INITIAL_MS", "3000"),
        ("PROXY_LOG_CONTENT", "true"),
    ];
    let proxy = Proxy::start(&settings).await;
    assert_works(&proxy).await;
    signal(proxy.children()[0], "-KILL");
    proxy.logged("Codex will be started again").await;
    let requests = [("streamed", streamed(ask("[[text]]"))), ("whole", ask("[[text]]"))];
    for (times, (id, request)) in (2..).zip(requests) {
        let headers = [("x-request-id", id)];
        tokio::select! {
            answer = proxy.chat_with(&request, &headers) => panic!("{answer:?}"),
            _ = proxy.logged_times("a request", times) => {}
        }
        let left = Instant::now();
        assert_eq!(proxy.turn_lines(id, 1).await[0]["stop_reason"], "client_gone");
        println!("the turn had ended {:?} after its client had left", left.elapsed());
        assert!(left.elapsed() < SOON);
    }
    // The child comes back, and is asked by nobody who has left.
    assert_works(&proxy).await;
    assert_eq!(proxy.model.requests(), 2);
}

/// The child answers nothing while it stands still: the turn is being set up all the time.
#[tokio::test]
async fn row_11_a_client_that_leaves_during_the_set_up_frees_its_place() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "1")]).await;
    assert_works(&proxy).await;
    // The turn ends a little after its answer, if the child can say so.
    proxy.until_running(0).await;
    let child = proxy.children()[0];
    signal(child, "-STOP");
    for request in [streamed(ask("[[text]]")), ask("[[text]]")] {
        tokio::select! {
            answer = proxy.chat(&request) => panic!("{answer:?}"),
            () = proxy.until_running(1) => {}
        }
        let left = Instant::now();
        proxy.until_running(0).await;
        println!("the place was free {:?} after a client had left", left.elapsed());
        assert!(left.elapsed() < SOON);
    }
    signal(child, "-CONT");
    assert_works(&proxy).await;
    // Nobody who has left was answered by the model.
    assert_eq!(proxy.model.requests(), 2);
}

/// Neither a turn nor a connection is left of a request that never came whole.
#[tokio::test]
async fn row_11_a_client_that_leaves_within_its_request_leaves_nothing() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "1")]).await;
    let server = proxy.process_id();
    let before = open_sockets(server);
    let body = streamed(ask("[[hang]]")).to_string();
    let head = proxy.raw_head(body.len());
    for part in [&head[..10], &head[..head.len() - 2], &head, &format!("{head}{}", &body[..20])] {
        let leaving = Connection::open_with(proxy.address(), part.as_bytes()).await.unwrap();
        until("the connection is there", async || open_sockets(server) != before).await;
        let left = Instant::now();
        drop(leaving);
        until("the connection is closed", async || open_sockets(server) <= before).await;
        println!("the connection was closed {:?} after its client had left", left.elapsed());
        assert!(left.elapsed() < SOON, "{part}");
    }
    assert_eq!(proxy.model.requests(), 0);
    assert_works(&proxy).await;
}
