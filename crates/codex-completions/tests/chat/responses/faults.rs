//! Clients that leave, children that die, and upstreams that fail.

mod leaving;
mod upstream;

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::process::{is_running, signal};

use super::asking::{ask, with_tools};
use super::client::{Responder, after, events, response_of, text_of};
use super::reply::Reply;
use crate::asking::streamed;
use crate::http::Answer;
use crate::proxy::Proxy;

/// What must not take longer; on a quiet machine it takes a few milliseconds.
const SOON: Duration = Duration::from_secs(1);

async fn assert_works(proxy: &Proxy) {
    let response = Responder::new(proxy).completed(&ask("[[text]]")).await;
    assert_eq!(text_of(&response), "Hello from the scripted model.");
}

/// A stream that has begun and failed with this code; what it had said before is in its last event.
fn assert_failed(stream: &Answer, code: &str, said: &str) {
    let reply = Reply::of(stream);
    assert_eq!(reply.error.as_ref().expect("an error")["code"], code);
    assert_eq!((reply.status(), reply.text().as_str()), ("failed", said));
}

/// Whether anything is kept under the id that a stream began with.
async fn is_kept(client: &Responder<'_>, stream: &Answer) -> bool {
    let id = events(&stream.body)[0]["response"]["id"].as_str().unwrap().to_owned();
    client.get(&id).await.status == 200
}

#[tokio::test]
async fn a_child_that_is_killed_fails_its_responses_and_comes_back() {
    let proxy = Proxy::start(&[("WORKER_BACKOFF_INITIAL_MS", "50")]).await;
    let client = Responder::new(&proxy);
    let first = client.completed(&ask("[[text:1]]")).await;
    let hanging = after(&first, streamed(ask("[[hang]]")));
    let (stream, _) = client.until(&hanging, "This").await;
    let whole = ask("[[hang]]");
    let silent = streamed(ask("[[silent]]"));
    let (unsaid, killed) = tokio::join!(
        async { tokio::join!(client.create(&whole), client.create(&silent)) },
        async {
            proxy.model.until(|counters| counters.in_flight == 3).await;
            signal(proxy.children()[0], "-KILL");
            Instant::now()
        }
    );
    let told = stream.whole().await;
    println!("all had their errors {:?} after the child was killed", killed.elapsed());
    assert!(killed.elapsed() < SOON);
    assert_failed(&told, "codex_unavailable", "This begi");
    for answer in <[Answer; 2]>::from(unsaid) {
        assert_eq!(answer.error(), (503, Value::Null, json!("codex_unavailable")));
    }
    assert!(!is_kept(&client, &told).await);
    // The conversation is where it was.
    let again = client.completed(&after(&first, ask("[[text:2]]"))).await;
    println!("the next one was answered after {:?}", killed.elapsed());
    assert_eq!(text_of(&again), "2");
}

#[tokio::test]
async fn sigterm_ends_what_does_not_end_with_an_error() {
    let proxy = Proxy::start(&[("WORKER_SHUTDOWN_GRACE_MS", "300")]).await;
    let processes = proxy.processes();
    let client = Responder::new(&proxy);
    let (stream, _) = client.until(&streamed(ask("[[hang]]")), "This").await;
    let hanging = ask("[[hang]]");
    let (whole, since) = tokio::join!(client.create(&hanging), async {
        proxy.model.until(|counters| counters.in_flight == 2).await;
        signal(proxy.process_id(), "-TERM");
        Instant::now()
    });
    assert_eq!(whole.error(), (503, Value::Null, json!("shutting_down")));
    assert_failed(&stream.whole().await, "shutting_down", "This begi");
    assert_eq!(proxy.exit_code().await, Some(0));
    println!("gone {:?} after SIGTERM, with a grace of 300 ms", since.elapsed());
    assert!(!processes.into_iter().any(is_running), "something was left behind");
}

#[tokio::test]
async fn sigterm_lets_running_responses_end_and_keeps_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = ("PROXY_DATA_DIR", folder.path().to_str().unwrap());
    let mut proxy = Proxy::start(&[data, ("WORKER_SHUTDOWN_GRACE_MS", "20000")]).await;
    let client = Responder::new(&proxy);
    let request = streamed(with_tools(ask("[[parallel-slow:500]]")));
    let (stream, _) = client.until(&request, "get_weather").await;
    let slow = ask("[[slow:500]]");
    let (whole, ()) = tokio::join!(client.completed(&slow), async {
        proxy.model.until(|counters| counters.in_flight == 2).await;
        signal(proxy.process_id(), "-TERM");
        proxy.logged("stopping").await;
    });
    let streamed = response_of(&stream.whole().await);
    assert!(proxy.end().await.success());

    let proxy = Proxy::start(&[data]).await;
    let client = Responder::new(&proxy);
    for response in [streamed, whole] {
        assert_eq!(response["store"], true);
        let id = response["id"].as_str().unwrap();
        assert_eq!(response_of(&client.get(id).await), response);
    }
}
