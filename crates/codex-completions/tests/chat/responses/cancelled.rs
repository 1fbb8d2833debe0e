//! Responses that somebody ends who is not their client.

use std::time::Instant;

use serde_json::{Value, json};

use super::asking::{ask, with_tools};
use super::client::{Responder, after, events, id_of, response_of, results, text_of};
use crate::asking::{streamed, with};
use crate::http::Answer;
use crate::proxy::Proxy;

fn code(answer: &Answer) -> (u16, Value) {
    let (status, _, code) = answer.error();
    (status, code)
}

#[tokio::test]
async fn a_response_is_cancelled_from_elsewhere() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "1")]).await;
    let client = Responder::new(&proxy);
    let (stream, id) = client.until(&streamed(ask("[[hang]]")), "This").await;
    let request_id = stream.headers["x-request-id"].to_str().unwrap().to_owned();
    let begun = client.get(&id).await;
    assert_eq!((begun.status, &begun.json()["status"]), (200, &json!("in_progress")));
    assert_eq!(code(&client.delete(&id).await), (400, json!("response_in_progress")));

    let asked = Instant::now();
    let (cancelled, ()) = tokio::join!(client.cancel(&id), async {
        proxy.model.until(|counters| counters.disconnects == 1 && counters.in_flight == 0).await;
        println!("the upstream was left after {:?}", asked.elapsed());
    });
    println!("cancelled after {:?}", asked.elapsed());
    let cancelled = response_of(&cancelled);
    // There is only one place, and it is free.
    client.completed(&ask("[[text]]")).await;
    println!("another response was answered after {:?}", asked.elapsed());

    assert_eq!(cancelled["status"], "cancelled");
    let said = text_of(&cancelled);
    assert!("This begins and then hangs.".starts_with(&said) && !said.is_empty(), "{said}");
    assert_eq!(cancelled["output"][0]["status"], "incomplete");
    let told = stream.whole().await;
    let last = events(&told.body).pop().unwrap();
    assert_eq!((&last["type"], &last["response"]), (&json!("response.incomplete"), &cancelled));
    assert_eq!(response_of(&told), cancelled);
    assert_eq!(proxy.turn_lines(&request_id, 1).await[0]["stop_reason"], "cancelled");

    assert_eq!(response_of(&client.get(&id).await), cancelled);
    assert_eq!(response_of(&client.cancel(&id).await), cancelled, "as often as anybody likes");
    let next = client.completed(&after(&cancelled, ask("[[text]] Go on."))).await;
    assert_eq!(client.input_of(id_of(&next)).await.len(), 3);
    assert_eq!(client.delete(&id).await.status, 200);
}

on_one_server! {
    what_was_said_before_is_in_the_cancelled_response,
    one_that_is_not_stored_is_cancelled_and_forgotten,
    what_does_not_run_cannot_be_cancelled,
}

/// A call that was told is whole, and its result is taken.
async fn what_was_said_before_is_in_the_cancelled_response(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let request = streamed(with_tools(ask("[[slow-end:60000]]")));
    let (stream, id) = client.until(&request, "response.function_call_arguments.delta").await;
    let cancelled = response_of(&client.cancel(&id).await);
    assert_eq!(response_of(&stream.whole().await), cancelled);
    assert_eq!(cancelled["output"][0]["arguments"], r#"{"city": "Paris"}"#);
    let next = with_tools(ask(results(&cancelled)));
    let next = client.completed(&after(&cancelled, next)).await;
    assert_eq!(text_of(&next), "Tool result received, thank you.");
}

async fn one_that_is_not_stored_is_cancelled_and_forgotten(proxy: &Proxy) {
    let client = Responder::new(proxy);
    let request = with(streamed(ask("[[hang]]")), json!({"store": false}));
    let (stream, id) = client.until(&request, "This").await;
    let cancelled = response_of(&client.cancel(&id).await);
    let status = (&cancelled["status"], &cancelled["store"]);
    assert_eq!(status, (&json!("cancelled"), &json!(false)));
    assert_eq!(response_of(&stream.whole().await), cancelled);
    assert_eq!(code(&client.cancel(&id).await), (404, json!("response_not_found")));
}

async fn what_does_not_run_cannot_be_cancelled(proxy: &Proxy) {
    let client = Responder::new(proxy);
    for request in [ask("[[text]]"), streamed(ask("[[incomplete]]"))] {
        let response = response_of(&client.create(&request).await);
        let refused = client.cancel(id_of(&response)).await;
        assert_eq!(code(&refused), (400, json!("response_not_in_progress")), "{response}");
        assert_eq!(response_of(&client.get(id_of(&response)).await), response);
    }
    assert_eq!(code(&client.cancel("resp_0").await), (404, json!("response_not_found")));
}
