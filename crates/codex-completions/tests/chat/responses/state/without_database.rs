//! A database that cannot be used, now or at all.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::tempdir;
use testkit::process::signal;
use testkit::until;

use super::{assert_no_previous, assert_unknown, connect, database};
use crate::asking::{self, streamed};
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::responses::asking::ask;
use crate::responses::client::{Responder, after, id_of, text_of};

/// For so long a response waits to be kept.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_locked_database_costs_the_response_its_place_and_nobody_else_anything() {
    let proxy = Proxy::start(&[]).await;
    let client = Responder::new(&proxy);
    let kept = client.completed(&ask("[[text:kept]]")).await;
    let other = connect(proxy.folder());
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();

    let begun = Instant::now();
    let request = after(&kept, ask("[[text]]"));
    let (stream, whole) = (streamed(request.clone()), request);
    let responses = async { tokio::join!(client.completed(&stream), client.completed(&whole)) };
    let chats = async {
        let mut longest = Duration::ZERO;
        until("the model is asked", async || proxy.model.requests() >= 3).await;
        for _ in 0..10 {
            let asked = Instant::now();
            assert_eq!(Reply::of(&proxy.chat(&asking::ask("[[text]]")).await).error, None);
            longest = longest.max(asked.elapsed());
        }
        println!("the longest of 10 chats meanwhile took {longest:?}");
        begun.elapsed()
    };
    let ((streamed, whole), chats) = tokio::join!(responses, chats);
    println!("two responses took {:?}, and all chats {chats:?}", begun.elapsed());
    assert!(begun.elapsed() >= LONGEST_WAIT && begun.elapsed() < 4 * LONGEST_WAIT);
    assert!(chats < begun.elapsed(), "nobody else waits");
    for response in [&streamed, &whole] {
        assert_eq!(response["store"], false, "it says so itself");
        assert_eq!(text_of(response), "Hello from the scripted model.");
        assert_unknown(&client.get(id_of(response)).await);
    }
    assert_eq!(proxy.counter("responses_not_stored_total").await, 2);
    // What was kept can be read all the time.
    assert_eq!(client.get(id_of(&kept)).await.json(), kept);
    other.execute_batch("ROLLBACK").unwrap();
    // Not kept means not later either.
    let next = client.completed(&after(&kept, ask("[[text]]"))).await;
    assert_eq!(next["store"], true);
    for response in [&streamed, &whole] {
        assert_unknown(&client.get(id_of(response)).await);
    }
}

#[tokio::test]
async fn a_stop_beside_a_locked_database_costs_nobody_an_answer() {
    let mut proxy = Proxy::start(&[]).await;
    let client = Responder::new(&proxy);
    let other = connect(proxy.folder());
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let request = ask("[[text]]");
    let (response, stopped) = tokio::join!(client.completed(&request), async {
        proxy.model.until(|counters| counters.requests == 1 && counters.in_flight == 0).await;
        signal(proxy.process_id(), "-TERM");
        Instant::now()
    });
    assert_eq!(response["store"], false);
    assert!(proxy.end().await.success());
    println!("gone {:?} after SIGTERM, beside a locked database", stopped.elapsed());
}

#[tokio::test]
async fn without_a_database_responses_are_answered_and_not_kept() {
    let folder = tempdir().unwrap();
    let file = database(folder.path());
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "not a database. ".repeat(500)).unwrap();
    let proxy = Proxy::start(&[("PROXY_DATA_DIR", folder.path().to_str().unwrap())]).await;
    let client = Responder::new(&proxy);
    for request in [ask("[[text]]"), streamed(ask("[[text]]"))] {
        let response = client.completed(&request).await;
        assert_eq!(response["store"], false);
        let next = client.create(&after(&response, ask("[[text]]"))).await;
        assert_no_previous(&next);
        let id = id_of(&response);
        let input = format!("{id}/input_items");
        for refused in [client.get(id).await, client.get(&input).await, client.delete(id).await] {
            assert_unknown(&refused);
            assert!(refused.body.contains("file is not a database"), "{refused:?}");
        }
        assert!(next.body.contains("file is not a database"), "{next:?}");
    }
    let answer = proxy.get("/v1/usage").await;
    assert_eq!(answer.error(), (503, Value::Null, json!("usage_unavailable")));
}
