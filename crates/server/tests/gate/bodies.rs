//! Answers that break off, and clients that do not read them.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::routing::get;
use http_body::Frame;
use openai_wire::ApiError;
use server::ApiRoutes;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::client::{KEY, PATIENCE, Server};
use crate::streams::{connect, read, until_reset};

/// A body that says something once, and panics then.
struct Breaking {
    said: bool,
    declared: Option<u64>,
}

/// A body without end; dropping it is told.
struct Endless(mpsc::UnboundedSender<()>);

impl http_body::Body for Breaking {
    type Data = Bytes;
    type Error = ApiError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ApiError>>> {
        assert!(!self.said, "sk-secret in a panic");
        self.said = true;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"data: 1\n\n")))))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.declared.map_or_else(http_body::SizeHint::default, http_body::SizeHint::with_exact)
    }
}

impl http_body::Body for Endless {
    type Data = Bytes;
    type Error = ApiError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ApiError>>> {
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 16 * 1024])))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

async fn breaking_server() -> Server {
    let body = |declared| Body::new(Breaking { said: false, declared });
    let events = [(header::CONTENT_TYPE, "text/event-stream")];
    Server::start_with(|app| {
        app.api = ApiRoutes::new()
            .route("/events", get(async move || (events, body(None))))
            .route("/chunks", get(async move || body(None)))
            .route("/declared", get(async move || body(Some(1_000))));
    })
    .await
}

#[tokio::test]
async fn row_15_panic_in_a_stream_ends_it_with_an_error() {
    let server = breaking_server().await;
    let answer = server.send("GET /v1/events", &[KEY, "x-request-id: it"], "").await;
    assert_eq!((answer.status, answer.header("x-request-id")), (200, Some("it")));
    assert!(!answer.body.contains("sk-secret"));
    let frames: Vec<&str> =
        answer.body.split("\r\n").filter(|line| line.starts_with("data")).collect();
    let [first, last] = frames.as_slice() else { panic!("{frames:?}") };
    assert_eq!(*first, "data: 1\n\n");
    let error = last.strip_prefix("data: ").unwrap().strip_suffix("\n\ndata: [DONE]\n\n").unwrap();
    let error: serde_json::Value = serde_json::from_str(error).unwrap();
    assert_eq!(error["error"]["code"], "internal_error");
    assert!(answer.body.ends_with("\r\n0\r\n\r\n"));
}

/// Whatever tells a client the end of an answer, it does not come.
#[tokio::test]
async fn row_15_panic_in_another_body_resets_the_connection() {
    let server = breaking_server().await;
    for (path, version) in [("chunks", "1.1"), ("declared", "1.1"), ("chunks", "1.0")] {
        let request = format!(
            "GET /v1/{path} HTTP/{version}\r\nhost: {}\r\n{KEY}\r\nconnection: close\r\n\r\n",
            server.address
        );
        let came = until_reset(connect(&server, &request).await).await;
        assert!(!came.contains("sk-secret"), "{path} {version}");
        assert_eq!(server.send("GET /livez", &[], "").await.status, 200);
    }
}

/// It is closed although its answer has no end, and nobody else has to wait for that.
#[tokio::test]
async fn row_12_a_client_that_reads_nothing_is_cut_off_after_the_idle_time() {
    let (dropped, mut drops) = mpsc::unbounded_channel();
    let server = Server::start_with(|app| {
        app.limits.idle_timeout.change(Duration::from_millis(200));
        app.api = ApiRoutes::new()
            .route("/endless", get(async move || Body::new(Endless(dropped.clone()))));
    })
    .await;
    let request = format!("GET /v1/endless HTTP/1.1\r\nhost: {}\r\n{KEY}\r\n\r\n", server.address);
    let lazy = connect(&server, &request).await;
    let mut eager = connect(&server, &request).await;
    timeout(PATIENCE, async {
        while drops.is_empty() {
            read(&mut eager, 64 * 1024).await;
        }
        drops.recv().await
    })
    .await
    .unwrap();
    assert_eq!(server.send("GET /livez", &[], "").await.status, 200);
    until_reset(lazy).await;
    // Who reads goes on reading.
    read(&mut eager, 1024 * 1024).await;
    assert!(drops.is_empty());
}

/// Answers that need no key cannot take up all connections.
#[tokio::test]
async fn row_6_clients_that_leave_their_answers_lying_make_room_for_others() {
    let (dropped, mut drops) = mpsc::unbounded_channel();
    let server = Server::start_with(|app| {
        app.limits.max_connections = 1;
        app.limits.header_timeout = Duration::from_millis(50);
        app.api = ApiRoutes::new()
            .route("/endless", get(async move || Body::new(Endless(dropped.clone()))));
    })
    .await;
    let request = format!("GET /v1/endless HTTP/1.1\r\nhost: {}\r\n{KEY}\r\n\r\n", server.address);
    let mut lazy = connect(&server, &request).await;
    assert_eq!(read(&mut lazy, 15).await, "HTTP/1.1 200 OK");
    timeout(PATIENCE, async {
        loop {
            let answer = server.send("GET /livez", &[], "").await;
            if answer.status == 200 {
                break;
            }
            assert_eq!(answer.error(), (429, "too_many_connections".to_owned()));
        }
        drops.recv().await
    })
    .await
    .unwrap();
}
