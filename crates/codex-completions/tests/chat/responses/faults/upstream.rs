//! Upstreams that fail, break off or say nothing.

use std::time::Instant;

use serde_json::{Value, json};

use super::{assert_failed, assert_works, is_kept};
use crate::asking::{self, streamed};
use crate::proxy::Proxy;
use crate::responses::asking::{ask, with_tools};
use crate::responses::client::{Responder, id_of, items_of, response_of, text_of};

on_one_server! {
    a_failure_before_the_first_byte_has_the_status_of_a_chats,
    a_failure_after_the_first_byte_is_told_in_the_stream,
}

/// Before the first byte a failure has the status that it has for a chat.
async fn a_failure_before_the_first_byte_has_the_status_of_a_chats(proxy: &Proxy) {
    let client = Responder::new(proxy);
    for mark in [
        "[[http:400]]",
        "[[http:400,ctx]]",
        "[[http:401]]",
        "[[http:429]]",
        "[[http:429,usage]]",
        "[[http:500]]",
        "[[failed]]",
        "[[cut-early]]",
    ] {
        let chat = proxy.chat(&asking::ask(mark)).await;
        assert!(chat.status >= 400, "{chat:?}");
        for request in [ask(mark), streamed(ask(mark))] {
            let answer = client.create(&request).await;
            assert_eq!(answer.error(), chat.error(), "{request}");
            for header in ["retry-after", "x-should-retry"] {
                assert_eq!(answer.header(header).is_some(), chat.header(header).is_some());
            }
        }
    }
    assert_works(proxy).await;
}

async fn a_failure_after_the_first_byte_is_told_in_the_stream(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let whole = client.create(&ask("[[slow-cut:300]]")).await;
    let (status, _, code) = whole.error();
    assert_eq!(status, 502, "{whole:?}");
    let stream = client.create(&streamed(ask("[[slow-cut:300]]"))).await;
    let said = "A long enough answer, which a cut leaves wit";
    assert_failed(&stream, code.as_str().unwrap(), said);
    assert!(!is_kept(&client, &stream).await);
    assert_works(proxy).await;
}

/// Codex hides what happens after a whole call; a probe brings it out.
#[tokio::test]
async fn a_response_that_breaks_off_after_its_calls_ends_with_them() {
    let proxy = Proxy::start(&[("PROXY_CALL_PROBE_MS", "300")]).await;
    let client = Responder::new(&proxy);
    for (mark, calls) in [("[[call-cut]]", 1), ("[[call-failed]]", 1), ("[[two-calls-cut]]", 2)] {
        let request = with_tools(ask(mark));
        for request in [streamed(request.clone()), request] {
            let asked = Instant::now();
            let response = client.completed(&request).await;
            println!("{mark} ended after {:?}", asked.elapsed());
            assert_eq!(items_of(&response, "function_call").len(), calls);
            assert_eq!(response_of(&client.get(id_of(&response)).await), response);
        }
    }
}

#[tokio::test]
async fn a_silent_stream_is_kept_alive_and_then_times_out() {
    let settings = [("PROXY_SSE_KEEPALIVE_MS", "100"), ("PROXY_IDLE_TIMEOUT_MS", "1500")];
    let proxy = Proxy::start(&settings).await;
    let client = Responder::new(&proxy);
    let answer = client.create(&streamed(ask("one two three[[echo-slow:1000]]"))).await;
    assert!(answer.body.contains("\n\n: keep-alive\n\n"), "{}", answer.body);
    assert_eq!(text_of(&response_of(&answer)), "one two three");

    let stream = client.create(&streamed(ask("[[hang]]"))).await;
    assert!(stream.body.contains(": keep-alive\n\n: keep-alive\n\n"), "{}", stream.body);
    assert_failed(&stream, "timeout", "This begi");
    for request in [ask("[[hang]]"), streamed(ask("[[silent]]"))] {
        let answer = client.create(&request).await;
        assert_eq!(answer.error(), (504, Value::Null, json!("timeout")), "{request}");
    }
}
