//! A small HTTP client that shows what came, in its order.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use http_client::Connection;
use hyper::body::{Frame, Incoming};
use hyper::{HeaderMap, Request};
use serde_json::Value;
use tokio::net::TcpStream;

/// An answer whose head is there. Dropping it closes the connection.
pub(crate) struct Exchange {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    read: String,
    body: Incoming,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

// === impl Exchange ===

impl Exchange {
    /// Sends a request on a connection of its own, and waits for the answer's head.
    pub(crate) async fn begin(address: &str, request: Request<Full<Bytes>>) -> Self {
        // On the heap, because tests hold many of these futures at once.
        let answer = Box::pin(async {
            let stream = TcpStream::connect(address).await.unwrap();
            Connection::over(stream).await.unwrap().send(request).await.unwrap()
        });
        let (head, body) = answer.await.into_parts();
        Self { status: head.status.as_u16(), headers: head.headers, read: String::new(), body }
    }

    /// Reads until `wanted` has come.
    pub(crate) async fn until(&mut self, wanted: &str) -> &str {
        while !self.read.contains(wanted) {
            assert!(self.read_more().await, "no {wanted} in {}", self.read);
        }
        &self.read
    }

    /// Reads that many bytes or a few more; says whether that is everything.
    pub(crate) async fn read_at_least(&mut self, bytes: usize) -> (&str, bool) {
        while self.read.len() < bytes {
            if !self.read_more().await {
                return (&self.read, true);
            }
        }
        (&self.read, false)
    }

    /// Reads to the end.
    pub(crate) async fn whole(mut self) -> Answer {
        while self.read_more().await {}
        Answer { status: self.status, headers: self.headers, body: self.read }
    }

    /// Reads until the server breaks off.
    pub(crate) async fn until_cut(mut self) -> String {
        loop {
            match self.body.frame().await.expect("no proper end") {
                Ok(frame) => self.take(frame),
                Err(_) => return self.read,
            }
        }
    }

    async fn read_more(&mut self) -> bool {
        let Some(frame) = self.body.frame().await else { return false };
        self.take(frame.unwrap());
        true
    }

    fn take(&mut self, frame: Frame<Bytes>) {
        if let Ok(data) = frame.into_data() {
            // What is written together is never half a character.
            self.read.push_str(std::str::from_utf8(&data).unwrap());
        }
    }
}

// === impl Answer ===

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{self:?}"))
    }

    /// Status, `param` and `code` of an error in OpenAI's shape.
    pub(crate) fn error(&self) -> (u16, Value, Value) {
        let error = self.json()["error"].take();
        let members: Vec<_> = error.as_object().expect("an error").keys().collect();
        assert_eq!(members, ["message", "type", "param", "code"]);
        assert_eq!(self.header("content-type"), Some("application/json"));
        (self.status, error["param"].clone(), error["code"].clone())
    }
}
