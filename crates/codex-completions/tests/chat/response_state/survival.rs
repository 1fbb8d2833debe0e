//! What was acknowledged is kept, whatever comes.

use futures_util::future::join_all;
use serde_json::{Value, json};
use testkit::process::signal;
use tokio::sync::mpsc;

use super::{Home, connect};
use crate::asking::{streamed, with};
use crate::proxy::Proxy;
use crate::responding::{Responder, after, events, id_of, items_of, question, response_of};
use crate::responding::{results, with_flat_tools};

/// Asks for a response: the moment that it is told whole, it is acknowledged.
async fn acknowledged(client: &Responder<'_>, request: &Value) -> Value {
    if request["stream"] != true {
        return response_of(&client.create(request).await);
    }
    // A comment follows the last event, and nobody waits for the end of the body.
    let mut stream = client.open(request).await;
    let last = events(stream.until("\n\n: {").await).pop().expect("an event");
    assert_eq!(last["type"], "response.completed", "{last}");
    last["response"].clone()
}

/// What a client asks for next, of all kinds that there are.
fn next_request(client: usize, step: usize, last: Option<&Value>) -> Value {
    let text = ["[[text]]", "[[reasoning]]", "[[parallel:2]]", "[[echo-slow:30]] a b c"];
    let mut request = with_flat_tools(question(text[(client + step) % text.len()]));
    if let Some(last) = last {
        request = after(last, request);
        if !items_of(last, "function_call").is_empty() {
            request = with(request, json!({"input": results(last)}));
        }
    }
    if (client + step).is_multiple_of(2) { streamed(request) } else { request }
}

/// A conversation without an end, each response of which is told to `told`.
async fn converse(proxy: &Proxy, client: usize, told: mpsc::UnboundedSender<Value>) {
    let responder = Responder::new(proxy);
    let mut last = None;
    for step in 0.. {
        let response = acknowledged(&responder, &next_request(client, step, last.as_ref())).await;
        assert_eq!((&response["status"], &response["store"]), (&json!("completed"), &json!(true)));
        told.send(response.clone()).unwrap();
        last = Some(response);
    }
}

/// Runs conversations side by side until so many responses were acknowledged.
async fn run_conversations(proxy: &Proxy, clients: usize, responses: usize) -> Vec<Value> {
    let (told, mut heard) = mpsc::unbounded_channel();
    let conversations = (0..clients).map(|client| converse(proxy, client, told.clone()));
    let mut all = Vec::new();
    let enough = async {
        while all.len() < responses {
            all.push(heard.recv().await.unwrap());
        }
    };
    tokio::select! {
        () = enough => {}
        _ = join_all(conversations) => unreachable!("they have no end"),
    }
    all
}

async fn assert_kept(proxy: &Proxy, responses: &[Value]) {
    let client = Responder::new(proxy);
    for response in responses {
        assert_eq!(client.get(id_of(response)).await.json(), *response);
    }
}

#[tokio::test]
async fn sixteen_clients_at_once_find_all_of_their_responses() {
    let proxy = Proxy::start(&[("PROXY_MAX_CONCURRENT_TURNS", "16")]).await;
    let responses = run_conversations(&proxy, 16, 100).await;
    assert_kept(&proxy, &responses).await;
}

#[tokio::test]
async fn every_acknowledged_response_survives_a_kill_at_any_moment() {
    let home = Home::new().await;
    let mut all = Vec::new();
    for _ in 0..4 {
        let mut proxy = home.start().await;
        let responses = run_conversations(&proxy, 8, fastrand::usize(1..40)).await;
        // Right after the last acknowledgement, and in the middle of other responses.
        signal(proxy.process_id(), "-KILL");
        proxy.end().await;
        println!("killed after {} responses", responses.len());
        all.extend(responses);

        let database = connect(home.folder.path());
        let check: String =
            database.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
    }
    let proxy = home.start().await;
    assert_kept(&proxy, &all).await;
    // Every conversation goes on from every point of it.
    let client = Responder::new(&proxy);
    for (number, response) in all.iter().enumerate().filter(|(number, _)| number % 5 == 0) {
        let next = next_request(number, 0, Some(response));
        assert_eq!(acknowledged(&client, &next).await["status"], "completed");
    }
}
