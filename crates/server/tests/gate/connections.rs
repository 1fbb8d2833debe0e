//! Connections that misbehave, and the end.

use testkit::http::Connection;
use testkit::until;
use tokio::time::timeout;

use crate::client::{Answer, KEY, PATIENCE, Server};
use crate::streams::{connect, rest, under_way};

#[tokio::test]
async fn what_is_not_http_costs_its_own_connection_only() {
    let server = Server::start().await;
    let half = connect(&server, "GET /livez HTTP/1.1\r\nhost: x\r\n").await;
    for garbage in ["\u{16}\u{3}\u{1}\r\n\r\n", "GET /livez\r\n\r\n", "PRI * HTTP/2.0\r\n\r\n"] {
        let answer = Answer::parse(&rest(connect(&server, garbage).await).await);
        assert_eq!(answer.error(), (400, "invalid_http".to_owned()), "{garbage}");
        assert_eq!(answer.header("connection"), Some("close"));
    }
    assert_eq!(server.send("GET /livez", &[], "").await.status, 200);
    drop(half);
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
        timeout(PATIENCE, stream.send(&vec![b' '; length])).await.unwrap().unwrap();
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
    let idle = connect(&server, "").await;
    let mut busy = under_way(&server, 2).await;

    drop(server.stop);
    assert_eq!(rest(idle).await, "");
    let is_closed = async || Connection::open(server.address).await.is_err();
    until("no connection is taken", is_closed).await;
    busy.send(b"{}").await.unwrap();
    let answer = Answer::parse(&rest(busy).await);
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    timeout(PATIENCE, server.tasks.join_next()).await.unwrap().unwrap().unwrap();
}
