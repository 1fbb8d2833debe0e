//! What is too slow, too large or too many: refused, while others are served.

use std::time::Duration;

use crate::client::{Answer, KEY, MAX_JSON_DEPTH, Server, stand_in};
use crate::streams::{connect, read, rest, under_way, until_closed};

const JSON: &str = "content-type: application/json";
const CHAT: &str = "POST /v1/chat/completions";
/// A limit that is met soon; nobody is hurt if it is met late.
const SHORT: Duration = Duration::from_millis(150);

async fn assert_serves(server: &Server) {
    assert_eq!(server.send("GET /livez", &[], "").await.status, 200);
    assert_eq!(server.send(CHAT, &[KEY, JSON], "{}").await.status, 200);
}

fn refused(answer: &str, status: u16, code: &str) -> Answer {
    let answer = Answer::parse(answer);
    assert_eq!(answer.error(), (status, code.to_owned()));
    assert_eq!(answer.header("connection"), Some("close"));
    answer
}

#[tokio::test]
async fn row_6_a_slow_head_is_answered_with_408() {
    let server = Server::start_with(|app| app.limits.header_timeout = SHORT).await;
    let mut unused = connect(&server, "").await;
    let mut halves = Vec::new();
    for _ in 0..8 {
        halves.push(connect(&server, "GET /livez HTTP/1.1\r\nhost: x\r\n").await);
    }
    assert_serves(&server).await;
    for half in halves {
        let answer = refused(&rest(half).await, 408, "request_timeout");
        assert!(answer.body.contains("PROXY_HEADER_TIMEOUT_MS"));
    }
    // A connection on which nothing has begun is as good as before, and so is one between requests.
    let request = format!("GET /livez HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    unused.send(request.as_bytes()).await.unwrap();
    let other = connect(&server, "GET /livez HTTP/1.1\r\nhost: x\r\n").await;
    refused(&rest(other).await, 408, "request_timeout");
    let last = request.replace("\r\n\r\n", "\r\nconnection: close\r\n\r\n");
    unused.send(last.as_bytes()).await.unwrap();
    let answers = rest(unused).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2, "{answers}");
}

#[tokio::test]
async fn row_6_a_slow_body_is_answered_with_408() {
    let server = Server::start_with(|app| app.api = stand_in(SHORT)).await;
    let mut slow = Vec::new();
    for _ in 0..8 {
        slow.push(under_way(&server, 10).await);
    }
    assert_serves(&server).await;
    for mut stream in slow {
        stream.send(b"{").await.unwrap();
        let answer = refused(&rest(stream).await, 408, "request_timeout");
        assert!(answer.body.contains("PROXY_BODY_TIMEOUT_MS"));
    }
}

#[tokio::test]
async fn row_6_a_large_head_is_answered_with_431() {
    let server = Server::start().await;
    let head = |more: &str| {
        let host = server.address;
        format!("GET /livez HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{more}\r\n")
    };
    let many = |count| "x: 1\r\n".repeat(count);
    let long = |bytes| format!("x: {}\r\n", "x".repeat(bytes));
    for (more, fits) in
        [(many(98), true), (many(99), false), (long(15_000), true), (long(17_000), false)]
    {
        let answer = rest(connect(&server, &head(&more)).await).await;
        if fits {
            assert_eq!(Answer::parse(&answer).status, 200);
        } else {
            let answer = refused(&answer, 431, "headers_too_large");
            assert!(answer.body.contains("16384 bytes (PROXY_MAX_HEADER_BYTES)"));
            assert!(answer.body.contains("100 headers (PROXY_MAX_HEADERS)"));
        }
        assert_serves(&server).await;
    }
    // The end of a head does not have to come for that.
    let endless = format!("GET /livez HTTP/1.1\r\nx: {}", "x".repeat(17_000));
    refused(&rest(connect(&server, &endless).await).await, 431, "headers_too_large");
}

#[tokio::test]
async fn row_6_the_number_of_headers_can_be_set() {
    let server = Server::start_with(|app| app.limits.max_headers = 150).await;
    for (count, status) in [(148, 200), (149, 431)] {
        let more = "x: 1\r\n".repeat(count);
        let head = format!(
            "GET /livez HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{more}\r\n",
            server.address
        );
        assert_eq!(Answer::parse(&rest(connect(&server, &head).await).await).status, status);
    }
}

/// A body without an end is refused as soon as it is too long.
#[tokio::test]
async fn row_6_a_body_without_end_and_a_deep_one_are_refused() {
    let server = Server::start().await;
    let head = format!(
        "{CHAT} HTTP/1.1\r\nhost: {}\r\n{KEY}\r\n{JSON}\r\ntransfer-encoding: chunked\r\n\r\n",
        server.address
    );
    let mut endless = connect(&server, &head).await;
    endless.send(format!("40\r\n{}\r\n", " ".repeat(64)).as_bytes()).await.unwrap();
    assert_serves(&server).await;
    endless.send(b"1\r\n \r\n").await.unwrap();
    let answer = Answer::parse(&rest(endless).await);
    assert_eq!(answer.error(), (413, "request_too_large".to_owned()));

    for (depth, status) in [(MAX_JSON_DEPTH, 200), (MAX_JSON_DEPTH + 1, 400)] {
        let json = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let answer = server.send(CHAT, &[KEY, JSON], &json).await;
        assert_eq!(answer.status, status);
        if status == 400 {
            assert_eq!(answer.error().1, "json_too_deep");
        }
    }
    assert_serves(&server).await;
}

#[tokio::test]
async fn row_6_an_idle_connection_is_closed_and_a_busy_one_is_not() {
    let server = Server::start_with(|app| app.limits.idle_timeout.change(SHORT)).await;
    let mut busy = under_way(&server, 2).await;
    assert_eq!(rest(connect(&server, "").await).await, "");
    let request = format!("GET /livez HTTP/1.1\r\nhost: {}\r\n\r\n", server.address);
    let answer = Answer::parse(&rest(connect(&server, &request).await).await);
    assert_eq!((answer.status, answer.header("connection")), (200, None));
    assert_serves(&server).await;
    busy.send(b"{}").await.unwrap();
    assert_eq!(Answer::parse(&rest(busy).await).status, 200);
}

#[tokio::test]
async fn row_6_idle_connections_make_room_for_others() {
    let server = Server::start_with(|app| app.limits.max_connections = 4).await;
    let mut busy = under_way(&server, 2).await;
    let half = connect(&server, "GET /livez HTTP/1.1\r\n").await;
    let mut flood = Vec::new();
    for _ in 0..100 {
        flood.push(connect(&server, "").await);
        if flood.len() % 10 == 0 {
            assert_serves(&server).await;
        }
    }
    // Whoever was first is closed first.
    until_closed(half).await;
    until_closed(flood.remove(0)).await;
    busy.send(b"{}").await.unwrap();
    assert_eq!(read(&mut busy, 15).await, "HTTP/1.1 200 OK");
}

#[tokio::test]
async fn row_6_a_connection_too_many_is_answered_with_429() {
    let server = Server::start_with(|app| app.limits.max_connections = 2).await;
    let mut first = under_way(&server, 2).await;
    let _second = under_way(&server, 2).await;
    // Nothing has to be sent for it.
    for request in ["", "GET /livez HTTP/1.1\r\nhost: x\r\n\r\n"] {
        let answer = rest(connect(&server, request).await).await;
        let answer = refused(&answer, 429, "too_many_connections");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(answer.body.contains("2 connections are in use (PROXY_MAX_CONNECTIONS)"));
    }
    first.send(b"{}").await.unwrap();
    assert_eq!(read(&mut first, 15).await, "HTTP/1.1 200 OK");
    drop(first);
    assert_serves(&server).await;
}
