//! A backend that says nothing for a while.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::asking::{ask, streamed};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// The head of a stream waits for the first event, so that a failure has a status of its own; but
/// only so long.
const HEAD_AFTER: Duration = Duration::from_secs(10);

#[tokio::test]
async fn a_silent_stream_is_kept_alive() {
    let proxy = Proxy::start(&[("PROXY_SSE_KEEPALIVE_MS", "100")]).await;
    let silent = async {
        let asked = Instant::now();
        let mut stream = proxy.open(&streamed(ask("[[silent]]"))).await;
        let elapsed = asked.elapsed();
        println!("the head of a silent stream came after {elapsed:?}");
        assert!(elapsed >= HEAD_AFTER && elapsed < 2 * HEAD_AFTER);
        let read = stream.until(": keep-alive\n\n: keep-alive\n\n").await;
        assert!(read.starts_with("data: {") && read.contains(r#""role":"assistant""#), "{read}");
    };
    let talking = async {
        let mut stream = proxy.open(&streamed(ask("[[hang]]"))).await;
        stream.until(": keep-alive\n\n: keep-alive\n\n").await;

        // Comments go between frames, and nothing is lost.
        let answer = proxy.chat(&streamed(ask("one two three[[echo-slow:1500]]"))).await;
        assert!(answer.body.contains(": keep-alive\n\n"), "{}", answer.body);
        assert_eq!(Reply::of(&answer).choice().text(), "one two three");
    };
    tokio::join!(silent, talking);
}

#[tokio::test]
async fn a_backend_that_stays_silent_times_out() {
    let proxy = Proxy::start(&[("PROXY_IDLE_TIMEOUT_MS", "400")]).await;
    for request in [ask("[[silent]]"), ask("[[hang]]"), streamed(ask("[[silent]]"))] {
        let answer = proxy.chat(&request).await;
        assert_eq!(answer.error(), (504, Value::Null, json!("timeout")), "{request}");
    }
    let begun = Reply::of(&proxy.chat(&streamed(ask("[[hang]]"))).await);
    assert_eq!(begun.error.expect("an error")["code"], "timeout");
    proxy.model.until(|counters| counters.in_flight == 0).await;
    assert_eq!(proxy.model.disconnects(), 4);
}
