//! A server that is told to stop while it works.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::process::{is_running, signal};

use crate::asking::{ask, streamed, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// A question to the built-in model.
fn demo(text: &str) -> Value {
    streamed(with(ask(text), json!({"model": "demo"})))
}

#[tokio::test]
async fn row_14_sigterm_lets_running_answers_end() {
    let proxy = Proxy::start(&[("WORKER_SHUTDOWN_GRACE_MS", "20000")]).await;
    let processes = proxy.processes();
    let mut stream = proxy.open(&streamed(with_tools(ask("[[parallel-slow:1000]]")))).await;
    stream.until("get_weather").await;
    let mut demo = proxy.open(&demo("[[slow:1000]]")).await;
    demo.until("content\":\"").await;
    let slow = ask("[[slow:1000]]");
    let whole = proxy.chat(&slow);
    let (whole, ()) = tokio::join!(whole, async {
        proxy.model.until(|counters| counters.in_flight == 2).await;
        signal(proxy.process_id(), "-TERM");
        proxy.logged("stopping").await;
    });
    assert_eq!(Reply::of(&whole).choice().text().split_whitespace().count(), 20);
    let demo = demo.whole().await.body;
    assert!(demo.contains(r#""finish_reason":"stop""#) && !demo.contains("error"), "{demo}");
    let told = stream.whole().await.body;
    assert!(told.contains(r#""tool_call_count":2,"tool_call_truncated":false"#), "{told}");
    assert!(told.ends_with("data: [DONE]\n\n"), "{told}");
    assert_eq!(proxy.exit_code().await, Some(0));
    assert!(!processes.into_iter().any(is_running), "something was left behind");
}

#[tokio::test]
async fn row_14_sigterm_ends_what_does_not_end_with_an_error() {
    let proxy = Proxy::start(&[("WORKER_SHUTDOWN_GRACE_MS", "300")]).await;
    let processes = proxy.processes();
    let mut stream = proxy.open(&streamed(ask("[[hang]]"))).await;
    stream.until("This").await;
    let hanging = ask("[[hang]]");
    let whole = proxy.chat(&hanging);
    let stopped = async {
        proxy.model.until(|counters| counters.in_flight == 2).await;
        signal(proxy.process_id(), "-TERM");
        Instant::now()
    };
    let (whole, since) = tokio::join!(whole, stopped);
    assert_eq!(whole.error(), (503, Value::Null, json!("shutting_down")));
    let told = stream.whole().await.body;
    let (_, end) = told.split_once(r#"data: {"error":"#).unwrap_or_else(|| panic!("{told}"));
    assert!(end.contains(r#""code":"shutting_down""#), "{end}");
    assert!(end.contains(r#""tool_call_count":0"#) && end.ends_with("data: [DONE]\n\n"), "{end}");
    assert_eq!(proxy.exit_code().await, Some(0));
    println!("gone {:?} after SIGTERM, with a grace of 300 ms", since.elapsed());
    assert!(!processes.into_iter().any(is_running), "something was left behind");
}

#[tokio::test]
async fn row_14_sigterm_takes_no_new_work() {
    let settings = [("WORKER_SHUTDOWN_GRACE_MS", "60000"), ("PROXY_MAX_CONCURRENT_TURNS", "1")];
    let proxy = Proxy::start(&settings).await;
    let mut running = proxy.open(&streamed(ask("[[hang]]"))).await;
    running.until("This").await;
    let text = ask("[[text]]");
    let waiting = proxy.chat(&text);
    let stopped = async {
        proxy.until_waiting(1).await;
        signal(proxy.process_id(), "-TERM");
        proxy.logged("stopping").await;
        proxy.chat(&streamed(ask("[[text]]"))).await
    };
    for refused in <[_; 2]>::from(tokio::join!(waiting, stopped)) {
        assert_eq!(refused.error(), (503, Value::Null, json!("shutting_down")));
        assert!(refused.header("retry-after").is_some());
    }
    assert_eq!(proxy.model.requests(), 1);
    // Who asks twice does not wait for the one that still runs.
    signal(proxy.process_id(), "-TERM");
    let left = tokio::time::timeout(Duration::from_secs(30), proxy.exit_code()).await;
    assert_eq!(left, Ok(Some(0)));
}
