//! The server as its clients see it: over a socket, byte by byte.

#![allow(
    clippy::unwrap_used,
    reason = "the exemption for tests does not reach the helpers of an integration test"
)]

use scripted_model::{Counters, ScriptedModel};
use serde_json::{Value, json};
use testkit::http::Connection;

async fn send(
    model: &ScriptedModel,
    connection: &str,
    line: (&str, &str),
    lines: &str,
    body: &str,
) -> Connection {
    let (method, path) = line;
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: test\r\nconnection: {connection}\r\nx-mine: yes\r\n\
         {lines}content-length: {}\r\n\r\n{body}",
        body.len()
    );
    Connection::open_with(model.address(), request.as_bytes()).await.unwrap()
}

/// A request on a connection that stays open, as Codex makes them.
async fn keep_alive(model: &ScriptedModel, body: &str) -> Connection {
    send(model, "keep-alive", ("POST", "/v1/responses"), "", body).await
}

/// Everything up to the end of the connection.
async fn exchange(model: &ScriptedModel, method: &str, path: &str, body: &str) -> String {
    send(model, "close", (method, path), "", body).await.rest_text().await.unwrap()
}

/// Reads a stream until the text has come.
async fn read_until(stream: &mut Connection, text: &str) {
    stream.head().await.unwrap();
    let mut seen = String::new();
    while !seen.contains(text) {
        let piece = stream.piece(usize::MAX).await.unwrap().unwrap();
        seen += &String::from_utf8_lossy(&piece);
    }
}

fn asked(text: &str) -> String {
    json!({"model": "demo", "stream": true, "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]},
    ]})
    .to_string()
}

fn json_body(response: &str) -> Value {
    serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
}

const WHOLE_BODY: &str = "0\r\n\r\n";

#[tokio::test]
async fn a_response_is_a_stream_of_events() {
    let model = ScriptedModel::start().await.unwrap();
    let answer = exchange(&model, "POST", "/v1/responses?x=1", &asked("[[text:Hi you]]")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("content-type: text/event-stream\r\n"), "{answer}");
    assert!(answer.contains("event: response.created\ndata: {\"type\":\"response.created\""));
    assert!(answer.contains("\"text\":\"Hi you\""), "{answer}");
    assert!(answer.ends_with(WHOLE_BODY), "{answer}");

    let request = model.last_request().unwrap();
    assert_eq!(request.path, "/v1/responses?x=1");
    assert_eq!(request.header("x-mine"), Some("yes"));
    assert_eq!(request.body["model"], "demo");
    assert_eq!(model.recorded(), [request]);
    assert_eq!((model.requests(), model.in_flight(), model.disconnects()), (1, 0, 0));
}

#[tokio::test]
async fn a_cut_sends_what_was_before_it_and_no_end() {
    let model = ScriptedModel::start().await.unwrap();
    for (mark, before) in [
        ("[[cut]]", "response.output_text.delta"),
        ("[[cut-early]]", "response.created"),
        ("[[two-calls-cut]]", "get_time"),
        ("[[args:calls=2,cut]]", "get_time"),
    ] {
        let answer = exchange(&model, "POST", "/v1/responses", &asked(mark)).await;
        assert!(answer.contains(before), "{mark}: {answer}");
        assert!(!answer.ends_with(WHOLE_BODY) && !answer.contains("completed\ndata"), "{mark}");
    }
    assert_eq!((model.requests(), model.disconnects()), (4, 0));
}

#[tokio::test]
async fn a_cut_happens_once_for_each_text() {
    let model = ScriptedModel::start().await.unwrap();
    for (text, whole) in
        [("a [[cut-once]]", false), ("a [[cut-once]]", true), ("[[cut-once]]", false)]
    {
        let answer = exchange(&model, "POST", "/v1/responses", &asked(text)).await;
        assert_eq!(answer.ends_with(WHOLE_BODY), whole, "{text}");
    }
}

#[tokio::test]
async fn a_client_that_leaves_is_noticed() {
    let model = ScriptedModel::start().await.unwrap();
    for (mark, seen) in [("[[hang]]", "output_text.delta"), ("[[silent]]", "response.created")] {
        model.reset();
        let mut stream = keep_alive(&model, &asked(mark)).await;
        read_until(&mut stream, seen).await;
        assert_eq!(model.in_flight(), 1);
        drop(stream);
        model.until(|counters| counters.disconnects == 1).await;
        let expected = Counters { requests: 1, in_flight: 0, max_in_flight: 1, disconnects: 1 };
        assert_eq!(model.counters(), expected);
    }
}

#[tokio::test]
async fn a_client_that_leaves_amid_a_large_delta_is_noticed() {
    let model = ScriptedModel::start().await.unwrap();
    let body = asked("[[big-delta:50000000]]");
    let mut stream = keep_alive(&model, &body).await;
    read_until(&mut stream, "response.created").await;
    drop(stream);
    model.until(|counters| counters.disconnects == 1).await;
}

#[tokio::test]
async fn large_bodies_go_both_ways() {
    let model = ScriptedModel::start().await.unwrap();
    let text = format!("{}[[echo-whole]]", "history ".repeat(1_500_000));
    let answer = exchange(&model, "POST", "/v1/responses", &asked(&text)).await;
    assert!(answer.len() > 36_000_000 && answer.ends_with(WHOLE_BODY));
}

#[tokio::test]
async fn refusals_have_the_shape_of_openai() {
    let model = ScriptedModel::start().await.unwrap();
    let answer = exchange(&model, "POST", "/v1/responses", &asked("[[http:429]]")).await;
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("retry-after: 1\r\n"));
    assert_eq!(json_body(&answer)["error"]["code"], "rate_limit_exceeded");

    for (method, path, body, status) in [
        ("POST", "/v1/responses", "{", "400"),
        ("POST", "/v1/responses", "{\"stream\": false}", "400"),
        ("POST", "/v1/chat/completions", "{}", "404"),
        ("GET", "/v1/responses", "", "404"),
        ("POST", "/ctl/stats", "", "404"),
    ] {
        let answer = exchange(&model, method, path, body).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{method} {path}: {answer}");
        assert!(json_body(&answer)["error"]["message"].is_string(), "{answer}");
    }
    assert_eq!(model.requests(), 3);
}

#[tokio::test]
async fn the_server_can_be_watched_and_reset_over_http() {
    let model = ScriptedModel::start().await.unwrap();
    assert_eq!(json_body(&exchange(&model, "GET", "/ctl/last", "").await), Value::Null);
    exchange(&model, "POST", "/v1/responses", &asked("[[json]]")).await;

    let stats = json_body(&exchange(&model, "GET", "/ctl/stats", "").await);
    let expected = json!({"requests": 1, "in_flight": 0, "max_in_flight": 1, "disconnects": 0});
    assert_eq!(stats, expected);
    let last = json_body(&exchange(&model, "GET", "/ctl/last", "").await);
    assert_eq!(last["path"], "/v1/responses");
    assert_eq!(last["headers"]["x-mine"], "yes");
    assert_eq!(last["body"]["model"], "demo");
    let models = json_body(&exchange(&model, "GET", "/v1/models", "").await);
    assert_eq!(models["data"][0]["id"], "demo");

    exchange(&model, "POST", "/ctl/reset", "").await;
    assert_eq!(model.counters(), Counters::default());
    assert_eq!(model.last_request(), None);
}

#[tokio::test]
async fn dropping_the_model_ends_its_responses_and_frees_its_port() {
    let model = ScriptedModel::start().await.unwrap();
    let address = model.address();
    let mut hanging = keep_alive(&model, &asked("[[hang]]")).await;
    read_until(&mut hanging, "output_text.delta").await;
    drop(model);
    assert!(!hanging.rest_text().await.unwrap().ends_with(WHOLE_BODY));
    ScriptedModel::bind(address).await.unwrap();
}

/// The model of a product has an owner, and forgets what it was asked.
#[tokio::test]
async fn a_body_without_the_key_is_not_waited_for_and_only_requests_with_it_are_recorded() {
    let model = ScriptedModel::recording_demo("sk-owner").await.unwrap();
    let request = async |line: &str, head: &str| {
        let request = format!("{line} HTTP/1.1\r\nhost: test\r\n{head}\r\n");
        let connection = Connection::open_with(model.address(), request.as_bytes()).await;
        connection.unwrap().head().await.unwrap().status
    };
    let refused = request("POST /v1/responses", "content-length: 1000000000\r\n").await;
    assert_eq!(refused, 401);
    assert_eq!(request("POST /v1/other", "").await, 404);
    assert_eq!(model.recorded().len(), 0);
    let key = "authorization: Bearer sk-owner\r\n";
    assert_eq!(request("POST /v1/other", key).await, 404);
    assert_eq!(model.recorded().len(), 1);
}

#[tokio::test]
async fn the_demo_answers_its_owner_alone_and_remembers_nothing() {
    let model = ScriptedModel::demo("sk-owner").await.unwrap();
    let body = asked("[[text]]");
    for head in ["", "authorization: Bearer sk-other\r\n"] {
        let refused = ask_as(&model, head, &body).await;
        assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    }
    let owner = "authorization: Bearer sk-owner\r\n";
    let answered = ask_as(&model, owner, &body).await;
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    assert_eq!((model.requests(), model.recorded()), (1, vec![]));
    for path in ["/ctl/last", "/ctl/stats"] {
        assert!(exchange(&model, "GET", path, "").await.starts_with("HTTP/1.1 404"), "{path}");
    }
    let refused = ask_as(&model, owner, &asked("[[big-delta:1073741824]]")).await;
    assert!(refused.starts_with("HTTP/1.1 400") && refused.contains("4000000"), "{refused}");
}

async fn ask_as(model: &ScriptedModel, lines: &str, body: &str) -> String {
    let line = ("POST", "/v1/responses");
    send(model, "close", line, lines, body).await.rest_text().await.unwrap()
}
