//! Limits of rate and of turns count chats and responses together.

use serde_json::{Value, json};

use super::asking::{ask, open, respond};
use crate::asking::{ask as ask_in_chat, streamed};
use crate::proxy::Proxy;

#[tokio::test]
async fn row_6_responses_count_for_the_rate() {
    let settings = [("PROXY_RATE_LIMIT_ENABLED", "true"), ("PROXY_RATE_LIMIT_MAX", "2")];
    let proxy = Proxy::start(&settings).await;
    let first = respond(&proxy, &ask("[[text]]")).await;
    let left = first.header("x-ratelimit-remaining-requests");
    assert_eq!((first.status, left), (200, Some("1")));
    // To look at what is kept costs nothing.
    let kept = format!("/v1/responses/{}", first.json()["id"].as_str().unwrap());
    let shown = proxy.get(&kept).await;
    assert_eq!((shown.status, shown.header("x-ratelimit-remaining-requests")), (200, None));
    assert_eq!(proxy.chat(&ask_in_chat("[[text]]")).await.status, 200);
    let refused = respond(&proxy, &streamed(ask("[[text]]"))).await;
    assert_eq!(refused.error(), (429, Value::Null, json!("rate_limit_exceeded")));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(proxy.model.requests(), 2);
}

#[tokio::test]
async fn row_6_responses_wait_for_their_turn() {
    let settings = [("PROXY_MAX_CONCURRENT_TURNS", "1"), ("PROXY_QUEUE_MAX", "1")];
    let proxy = Proxy::start(&settings).await;
    let mut running = open(&proxy, &streamed(ask("[[hang]]"))).await;
    running.until("This").await;
    let request = ask("[[text]]");
    let waiting = respond(&proxy, &request);
    let refused = async {
        proxy.until_waiting(1).await;
        let refused = respond(&proxy, &request).await;
        drop(running);
        refused
    };
    let (waited, refused) = tokio::join!(waiting, refused);
    assert_eq!(waited.status, 200);
    assert_eq!(refused.error(), (429, Value::Null, json!("queue_full")));
    assert_eq!(refused.header("retry-after"), Some("1"));
}
