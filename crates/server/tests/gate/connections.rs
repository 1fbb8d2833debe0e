//! Connections that misbehave, and the end.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{Answer, KEY, Server};

/// Generous: only a hang reaches it.
const PATIENCE: Duration = Duration::from_secs(30);

async fn connect(server: &Server, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn what_is_not_http_costs_its_own_connection_only() {
    let server = Server::start().await;
    let half = connect(&server, "GET /livez HTTP/1.1\r\nhost: x\r\n").await;
    for garbage in ["\u{16}\u{3}\u{1}\r\n\r\n", "GET /livez\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n"] {
        let answer = rest(connect(&server, garbage).await).await;
        assert!(answer.is_empty() || !answer.contains("200"), "{answer}");
    }
    let long = format!("GET /livez HTTP/1.1\r\nx: {}\r\n\r\n", "x".repeat(20_000));
    assert_eq!(Answer::parse(&rest(connect(&server, &long).await).await).status, 431);
    assert_eq!(server.send("GET /livez", &[], "").await.status, 200);
    drop(half);
}

#[tokio::test]
async fn a_head_that_does_not_come_to_its_end_is_not_waited_for() {
    let server =
        Server::start_with(|app| app.limits.header_timeout = Duration::from_millis(50)).await;
    let half = connect(&server, "GET /livez HTTP/1.1\r\nhost: x\r\n").await;
    rest(half).await;
}

/// A client that only reads once it has sent everything still reads why it was refused.
#[tokio::test]
async fn a_refused_body_does_not_cost_the_answer() {
    let server = Server::start().await;
    let length = 8 * 1024 * 1024;
    for (key, status) in [(KEY, 413), ("authorization: Bearer sk-wrong", 401)] {
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\n{key}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n",
            server.address
        );
        let mut stream = connect(&server, &head).await;
        timeout(PATIENCE, stream.write_all(&vec![b' '; length])).await.unwrap().unwrap();
        assert_eq!(Answer::parse(&rest(stream).await).status, status);
    }
}

#[tokio::test]
async fn a_connection_serves_one_request_after_another() {
    let server = Server::start().await;
    let request = format!("GET /livez HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let last = request.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    let answers = rest(connect(&server, &format!("{request}{request}{last}")).await).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
}

#[tokio::test]
async fn a_stopping_server_finishes_what_is_under_way() {
    let mut server = Server::start().await;
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\n{KEY}\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n",
        server.address
    );
    let idle = connect(&server, "").await;
    let mut busy = connect(&server, &head).await;
    // It asks for the body once a handler wants it: the request is under way.
    let mut go_on = [0; 25];
    timeout(PATIENCE, busy.read_exact(&mut go_on)).await.unwrap().unwrap();
    assert_eq!(&go_on, b"HTTP/1.1 100 Continue\r\n\r\n");

    drop(server.stop);
    assert_eq!(rest(idle).await, "");
    while TcpStream::connect(server.address).await.is_ok() {}
    busy.write_all(b"{}").await.unwrap();
    let answer = Answer::parse(&rest(busy).await);
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    timeout(PATIENCE, server.tasks.join_next()).await.unwrap().unwrap().unwrap();
}
