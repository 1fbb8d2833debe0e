//! Clients that ask for a call and never come back cost nothing once their time is over.

use std::sync::Arc;
use std::time::Instant;

use testkit::process::{open_files, resident_kilobytes};
use testkit::until;
use tokio::task::JoinSet;

use super::hold;
use crate::proxy::Proxy;

const ROUNDS: usize = 2;
const CLIENTS: usize = 40;

/// Codex opens connections to its databases as it needs them, up to a few each.
const DATABASE_FILES: usize = 20;

/// Ours, that the server is about to close.
const CONNECTIONS: usize = 2;

/// What the server and its child hold.
#[derive(Debug, Clone, Copy)]
struct Reading {
    server_kilobytes: u64,
    child_kilobytes: u64,
    server_files: usize,
    child_files: usize,
}

// === impl Reading ===

impl Reading {
    fn take(proxy: &Proxy, when: &str) -> Self {
        let (server, child) = (proxy.process_id(), proxy.children()[0]);
        let reading = Self {
            server_kilobytes: resident_kilobytes(server),
            child_kilobytes: resident_kilobytes(child),
            server_files: open_files(server),
            child_files: open_files(child),
        };
        println!("{when}: {reading:?}");
        reading
    }
}

async fn held(proxy: &Proxy) -> u64 {
    proxy.counter(r#"kept_threads{state="held"}"#).await
}

#[tokio::test]
async fn clients_that_never_come_back_leave_nothing() {
    let settings = [
        ("PROXY_CONTINUITY_MAX", "1000"),
        ("PROXY_CONTINUITY_TTL_MS", "5000"),
        ("PROXY_QUEUE_MAX", "1000"),
    ];
    let proxy = Arc::new(Proxy::start(&settings).await);
    hold(&proxy, "the first of all[[round-trip]]").await;
    Reading::take(&proxy, "before");
    let mut gone = Vec::new();
    for round in 0..ROUNDS {
        let began = Instant::now();
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let proxy = Arc::clone(&proxy);
            let text = format!("{round}, {number}[[round-trip]]");
            clients.spawn(async move { hold(&proxy, &text).await });
        }
        clients.join_all().await;
        let at_once = held(&proxy).await;
        Reading::take(&proxy, &format!("{at_once} held after {:?}", began.elapsed()));
        assert!(at_once > CLIENTS as u64 / 2, "{at_once}");
        until("none is held", async || held(&proxy).await == 0).await;
        gone.push(Reading::take(&proxy, &format!("none held after {:?}", began.elapsed())));
    }
    let (first, last) = (gone[0], gone[ROUNDS - 1]);
    let grown = |first: u64, last: u64| last * 100 > first * 150;
    assert!(!grown(first.server_kilobytes, last.server_kilobytes), "the server's memory grows");
    assert!(!grown(first.child_kilobytes, last.child_kilobytes), "the child's memory grows");
    assert!(last.child_files <= first.child_files + DATABASE_FILES, "the child's files pile up");
    assert!(last.server_files <= first.server_files + CONNECTIONS, "the server's files pile up");
    assert_eq!(proxy.counter("turns_running").await, 0);
    assert_eq!(proxy.counter("kept_thread_bytes").await, 0);
    assert_eq!(proxy.model.in_flight(), 0);
}
