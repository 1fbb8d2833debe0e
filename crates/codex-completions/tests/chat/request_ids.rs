//! The ids of a request, in every line about it.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};

use crate::asking::{ask, streamed};
use crate::proxy::{CHAT, Proxy};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const IDS: [(&str, &str); 2] = [("x-request-id", "mine"), ("traceparent", TRACEPARENT)];

/// The ids of a line.
fn ids(line: &Value) -> (&Value, &Value) {
    (&line["request_id"], &line["trace_id"])
}

#[tokio::test]
async fn lines_of_code_that_knows_no_requests_have_the_ids_of_theirs() {
    // Each filter keeps a line of another part of the server.
    for filter in ["info,server=debug", "codex_app_server=info,turn=info"] {
        let settings = [("PROXY_UPSTREAM_RETRIES", "1"), ("PROXY_LOG", filter)];
        let proxy = Proxy::start(&settings).await;
        let answer = proxy.chat_with(&ask("[[http:500,x1]]"), &IDS).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let (mine, trace) = (json!("mine"), json!(TRACE));
        // From the task behind the turn.
        assert_eq!(ids(&proxy.logged("trying a turn again").await), (&mine, &trace));
        assert_eq!(ids(&proxy.turn_lines("mine", 1).await[0]), (&mine, &trace));
        if filter.contains("server=debug") {
            let request = Request::post(CHAT).header("origin", "https://elsewhere.example");
            let request = request.header(IDS[0].0, IDS[0].1).header(IDS[1].0, IDS[1].1);
            let refused = proxy.send(request.body(Full::<Bytes>::default()).unwrap()).await;
            assert_eq!(refused.status, 403);
            assert_eq!(ids(&proxy.logged("a request was refused").await), (&mine, &trace));
        }
    }
}

/// The line about a client that has left is written when its answer is let go.
#[tokio::test]
async fn a_request_without_ids_gets_some_that_all_its_lines_share() {
    let proxy = Proxy::start(&[("PROXY_LOG_CONTENT", "true")]).await;
    let mut open = proxy.open(&streamed(ask("[[hang]]"))).await;
    open.until("This").await;
    let id = open.headers["x-request-id"].to_str().unwrap().to_owned();
    drop(open);
    let turn = proxy.turn_lines(&id, 1).await.remove(0);
    assert_eq!(turn["stop_reason"], "client_gone");
    let trace = turn["trace_id"].as_str().unwrap();
    assert_eq!(trace.len(), 32, "{trace}");
    assert!(trace.bytes().all(|byte| byte.is_ascii_hexdigit()), "{trace}");
    for message in ["a request", "an answer"] {
        assert_eq!(ids(&proxy.logged(message).await), ids(&turn), "{message}");
    }
}

#[tokio::test]
async fn lines_for_people_have_the_ids_once() {
    let settings = [
        ("PROXY_LOG_FORMAT", "text"),
        ("PROXY_UPSTREAM_RETRIES", "1"),
        ("PROXY_LOG_CONTENT", "true"),
    ];
    let mut proxy = Proxy::start(&settings).await;
    assert_eq!(proxy.chat_with(&ask("[[http:500,x1]]"), &IDS).await.status, 200);
    proxy.stop().await;
    let log = proxy.log();
    for message in ["trying a turn again", "a turn has ended", "a request", "an answer"] {
        let is_it = |line: &&str| line.contains(&format!(": {message} "));
        let line = log.as_array().unwrap().iter().filter_map(Value::as_str).find(is_it);
        let line = line.unwrap_or_else(|| panic!("no {message:?} in {log}"));
        for id in ["request_id=\"mine\"", &format!("trace_id={TRACE}")] {
            assert_eq!(line.matches(id).count(), 1, "{id} in {line}");
        }
    }
}
