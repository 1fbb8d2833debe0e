//! An upstream that fails a turn which goes on in an earlier thread: it is tried again in a thread of
//! its own, which is told.

use serde_json::{Value, json};

use super::{Told, hold, turn_line};
use crate::asking::{ask, streamed};
use crate::proxy::Proxy;
use crate::reply::Reply;

const RETRIES: (&str, &str) = ("PROXY_UPSTREAM_RETRIES", "1");

/// Begins a conversation, and gives the request that goes on with it.
async fn go_on(proxy: &Proxy, text: &str) -> Value {
    // Its own: of two that begin in the same way only one can be gone on with.
    let mut request = ask(&format!("before {text}[[text:Yes?]]"));
    assert_eq!(Reply::of(&proxy.chat(&request).await).choice().text(), "Yes?");
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": "Yes?"}));
    messages.push(json!({"role": "user", "content": text}));
    request
}

#[tokio::test]
async fn what_fails_before_any_output_is_tried_again_in_a_fresh_thread() {
    let proxy = Proxy::start(&[RETRIES]).await;
    let requests = [
        hold(&proxy, "1[[then:http:500,x1]]").await,
        streamed(hold(&proxy, "2[[then:http:503,x1]]").await),
        go_on(&proxy, "3[[http:500,x1]]").await,
        streamed(go_on(&proxy, "4[[http:503,x1]]").await),
    ];
    for (request, text) in requests.iter().zip(["1", "2", "3", "4"]) {
        let asked = proxy.model.requests();
        let told = Told::by(&proxy, &proxy.chat(request).await).await;
        assert_eq!(told, Told::fresh(text, "failed"));
        assert_eq!(proxy.model.requests(), asked + 2);
    }
}

#[tokio::test]
async fn what_fails_again_fails_the_request() {
    let proxy = Proxy::start(&[RETRIES]).await;
    for request in
        [hold(&proxy, "1[[then:cut-early]]").await, go_on(&proxy, "2[[cut-early]]").await]
    {
        let asked = proxy.model.requests();
        let answer = proxy.chat(&request).await;
        assert_eq!(answer.error(), (502, Value::Null, json!("stream_cut")));
        assert_eq!(proxy.model.requests(), asked + 2);
        let line = turn_line(&proxy, &answer).await;
        assert_eq!(
            (&line["continuity"], &line["fresh_reason"]),
            (&json!("fresh"), &json!("failed"))
        );
    }
    // Nothing is left that would stand in the way of the next.
    let request = hold(&proxy, "3[[round-trip]]").await;
    let told = Told::by(&proxy, &proxy.chat(&request).await).await;
    assert_eq!(told, Told::resumed("get_weather: sunny"));
}

on_one_server! {
    without_retries_the_request_fails_and_the_next_is_fresh,
    what_is_refused_is_tried_again_without_what_only_the_thread_has,
    reasoning_that_the_upstream_cannot_read_is_left_with_its_thread,
}

async fn without_retries_the_request_fails_and_the_next_is_fresh(proxy: &Proxy) {
    let request = hold(proxy, "1[[then:http:500,x1]]").await;
    let answer = proxy.chat(&request).await;
    assert_eq!(answer.error(), (502, Value::Null, json!("upstream_error")));
    assert_eq!(turn_line(proxy, &answer).await["continuity"], "resumed");
    let told = Told::by(proxy, &proxy.chat(&request).await).await;
    assert_eq!(told, Told::fresh("1", "taken"));
}

/// A thread has reasoning that the history of a chat has not, and may be too long because of it.
async fn what_is_refused_is_tried_again_without_what_only_the_thread_has(proxy: &Proxy) {
    for (request, text) in [
        (hold(proxy, "1[[then:http:400,ctx,x1]]").await, "1"),
        (streamed(go_on(proxy, "2[[http:400,x1]]").await), "2"),
    ] {
        let asked = proxy.model.requests();
        let told = Told::by(proxy, &proxy.chat(&request).await).await;
        assert_eq!(told, Told::fresh(text, "failed"));
        assert_eq!(proxy.model.requests(), asked + 2);
    }
}

/// A held turn has the reasoning that led to its call. It needs no retry to go on without.
async fn reasoning_that_the_upstream_cannot_read_is_left_with_its_thread(proxy: &Proxy) {
    for request in [
        hold(proxy, "1[[unread-reasoning]]").await,
        streamed(hold(proxy, "2[[unread-reasoning]]").await),
    ] {
        let told = Told::by(proxy, &proxy.chat(&request).await).await;
        assert_eq!(told, Told::fresh("It went on.", "failed"));
    }
}
