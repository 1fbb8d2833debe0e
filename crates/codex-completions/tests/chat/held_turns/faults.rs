//! Children that die, clients that leave, and a server that stops while turns are held.

use std::sync::Arc;
use std::time::{Duration, Instant};

use testkit::process::{is_running, signal};
use tokio::task::JoinSet;

use super::{Told, hold};
use crate::asking::{ask, streamed};
use crate::proxy::Proxy;
use crate::reply::Reply;

const QUOTED: &str = "get_weather: sunny";

#[tokio::test]
async fn a_child_that_is_killed_takes_its_held_turns_with_it() {
    let proxy = Proxy::start(&[("WORKER_BACKOFF_INITIAL_MS", "50")]).await;
    let (early, late) =
        (hold(&proxy, "1[[round-trip]]").await, hold(&proxy, "2[[round-trip]]").await);
    let resumed = Told::by(&proxy, &proxy.chat(&early).await).await;
    assert_eq!(resumed, Told::resumed(QUOTED));
    signal(proxy.children()[0], "-KILL");
    proxy.logged("Codex was lost").await;
    let fresh = Told::by(&proxy, &proxy.chat(&late).await).await;
    assert_eq!(fresh, Told::fresh(QUOTED, "child_gone"));
    assert_eq!(proxy.model.requests(), 4);
    assert_eq!(proxy.counter("codex_restarts_total").await, 1);
}

#[tokio::test]
async fn sigterm_waits_for_no_output() {
    let proxy = Arc::new(Proxy::start(&[]).await);
    let mut clients = JoinSet::new();
    for number in 0..50 {
        let proxy = Arc::clone(&proxy);
        clients.spawn(async move { hold(&proxy, &format!("{number}[[round-trip]]")).await });
    }
    clients.join_all().await;
    let proxy = Arc::into_inner(proxy).expect("every client has gone");
    let processes = proxy.processes();
    signal(proxy.process_id(), "-TERM");
    let since = Instant::now();
    assert_eq!(proxy.exit_code().await, Some(0));
    println!("gone {:?} after SIGTERM, with fifty held turns", since.elapsed());
    assert!(since.elapsed() < Duration::from_secs(5));
    assert!(!processes.into_iter().any(is_running), "something was left behind");
}

#[tokio::test]
async fn a_client_that_leaves_its_resumed_turn_ends_it() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "1")]).await;
    let request = hold(&proxy, "[[then:hang]]").await;
    let mut stream = proxy.open(&streamed(request.clone())).await;
    assert_eq!(stream.headers["x-proxy-continuity"], "resumed");
    stream.until("This").await;
    let left = Instant::now();
    drop(stream);
    proxy.model.until(|counters| counters.disconnects == 1 && counters.in_flight == 0).await;
    println!("the upstream was left {:?} after its client had left", left.elapsed());
    assert!(left.elapsed() < Duration::from_secs(1));
    let reply = Reply::of(&proxy.chat(&ask("[[text]]")).await);
    assert_eq!(reply.choice().text(), "Hello from the scripted model.");
    // The thread is gone with it.
    let mut again = proxy.open(&streamed(request)).await;
    assert_eq!(again.headers["x-proxy-continuity"], "fresh");
    again.until("This").await;
}
