//! Turns that end in the middle of an argument.

use serde_json::{Value, json};
use testkit::process::signal;

use super::{args, call_frames, response, streaming};
use crate::asking::ask;
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::responses;

/// An error frame, no finish reason, and the half call never whole.
fn assert_half(answer: &Answer, code: &str) {
    let reply = Reply::of(answer);
    assert_eq!(reply.error.as_ref().expect("an error")["code"], code, "{answer:?}");
    assert_eq!(reply.choice().finish, None);
    assert!(call_frames(answer).len() > 1, "{answer:?}");
    assert_eq!(reply.telemetry.expect("telemetry")["tool_call_count"], 0);
}

/// The same of a response: its item is never done.
fn assert_half_response(answer: &Answer, code: &str) {
    assert!(!answer.body.contains("arguments.done"), "{answer:?}");
    let reply = responses::Reply::of(answer);
    assert_eq!(reply.error.as_ref().expect("an error")["code"], code, "{answer:?}");
    assert_eq!((reply.status(), &reply.items()[0]["status"]), ("failed", &json!("incomplete")));
}

async fn assert_works(proxy: &Proxy) {
    assert_eq!(Reply::of(&proxy.chat(&ask("[[text:ok]]")).await).choice().text(), "ok");
}

#[tokio::test]
async fn a_failure_upstream_is_an_error_and_no_finish_reason() {
    let proxy = streaming(&[("PROXY_UPSTREAM_RETRIES", "2")]).await;
    for (ending, code) in
        [("cut", "stream_cut"), ("failed", "upstream_error"), ("incomplete", "max_output_tokens")]
    {
        let before = proxy.model.requests();
        assert_half(&proxy.chat(&args(&format!("ms=8,{ending}"))).await, code);
        let answer = responses::respond(&proxy, &response(&format!("ms=8,{ending}"))).await;
        assert_half_response(&answer, code);
        assert_eq!(proxy.model.requests() - before, 2, "{ending}: nothing is tried again");
    }
    assert_works(&proxy).await;
}

/// What was whole before stays in the stream; it still ends as failed.
#[tokio::test]
async fn a_failure_after_a_whole_call_is_an_error_too() {
    let proxy = streaming(&[("PROXY_CALL_PROBE_MS", "300")]).await;
    let answer = proxy.chat(&args("ms=8,calls=2,cut")).await;
    let reply = Reply::of(&answer);
    assert_eq!(reply.error.as_ref().expect("an error")["code"], "stream_cut");
    assert_eq!((reply.choice().calls.len(), &reply.choice().finish), (2, &None));
    let id = answer.header("x-request-id").unwrap();
    let line = &proxy.turn_lines(id, 1).await[0];
    assert_eq!((&line["tool_call_count"], &line["stop_reason"]), (&json!(1), &json!("failed")));
}

#[tokio::test]
async fn a_child_that_is_killed_within_a_call_is_an_error() {
    let proxy = streaming(&[("WORKER_BACKOFF_INITIAL_MS", "50")]).await;
    let mut chat = proxy.open(&args("ms=8,hang")).await;
    let mut other = responses::open(&proxy, &response("ms=8,hang")).await;
    chat.until(r#""function":{"arguments":"#).await;
    other.until("function_call_arguments.delta").await;
    signal(proxy.children()[0], "-KILL");
    assert_half(&chat.whole().await, "codex_unavailable");
    assert_half_response(&other.whole().await, "codex_unavailable");
    assert_works(&proxy).await;
    // The new child's log is checked like the first one's.
    proxy.until_early_arguments("on").await;
}

#[tokio::test]
async fn a_client_that_leaves_within_a_call_frees_the_turn() {
    let proxy = streaming(&[]).await;
    let mut chat = proxy.open(&args("ms=8,hang")).await;
    chat.until(r#""function":{"arguments":"#).await;
    let id = chat.headers["x-request-id"].to_str().unwrap().to_owned();
    drop(chat);
    proxy.model.until(|counters| counters.disconnects == 1).await;
    let line = &proxy.turn_lines(&id, 1).await[0];
    assert_eq!(
        (&line["stop_reason"], &line["tool_call_count"]),
        (&json!("client_gone"), &json!(0))
    );
    assert_works(&proxy).await;
}

#[tokio::test]
async fn a_response_that_is_cancelled_within_a_call_never_has_it_done() {
    let proxy = streaming(&[]).await;
    let mut stream = responses::open(&proxy, &response("ms=8,hang")).await;
    let read = stream.until("function_call_arguments.delta").await;
    let id = read.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let cancel = format!("{}/{id}/cancel", responses::RESPONSES);
    let cancelled = responses::post(&proxy, &cancel, "", &[]).await.whole().await;
    assert_eq!(cancelled.json()["status"], "cancelled");
    let answer = stream.whole().await;
    assert!(!answer.body.contains("arguments.done"), "{answer:?}");
    let reply = responses::Reply::of(&answer);
    assert_eq!((reply.status(), &reply.items()[0]["status"]), ("cancelled", &json!("incomplete")));
}

#[tokio::test]
async fn a_limit_of_bytes_met_within_a_call_is_an_error() {
    let proxy = streaming(&[("PROXY_MAX_ARGUMENT_BYTES", "2048")]).await;
    let answer = proxy.chat(&args("bytes=6000,piece=100,ms=2")).await;
    assert_half(&answer, "output_too_large");
    let whole = proxy.chat(&crate::asking::with_tools(ask("x [[args:bytes=6000]]"))).await;
    assert_eq!(whole.error(), (502, Value::Null, json!("output_too_large")));
}
