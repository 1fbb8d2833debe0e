//! Limits of rate and of turns count chats and responses together.

use serde_json::{Value, json};

use super::asking::{ask, open, respond};
use super::client::{Responder, after};
use crate::asking::{ask as ask_in_chat, streamed};
use crate::http::Answer;
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

/// What a request refers to counts as if it had held that itself.
#[tokio::test]
async fn row_6_responses_cannot_refer_to_more_than_they_could_hold() {
    let proxy = Proxy::start(&[("PROXY_MAX_BODY_BYTES", "100000")]).await;
    let client = Responder::new(&proxy);
    let long = "x".repeat(40_000);
    let first = client.completed(&ask(format!("{long} [[echo]]"))).await;
    let said = first["output"][0]["id"].clone();
    let reference = json!({"type": "item_reference", "id": said});
    let user = json!({"role": "user", "content": "[[text]]"});
    let referring = |times: usize| {
        let mut input = vec![reference.clone(); times];
        input.push(user.clone());
        ask(input)
    };
    assert_eq!(client.create(&referring(2)).await.status, 200);
    let refused = |answer: &Answer| {
        let error = &answer.json()["error"];
        (answer.status, error["param"].clone(), error["code"].clone())
    };
    let code = json!("request_too_large");
    let answer = client.create(&referring(1_000)).await;
    assert_eq!(refused(&answer), (413, json!("input"), code.clone()));
    let answer = client.create(&after(&first, ask(long))).await;
    assert_eq!(refused(&answer), (413, json!("previous_response_id"), code));
    assert_eq!(client.create(&after(&first, ask("[[text]]"))).await.status, 200);
}
