//! One request and its answer, with the times of its first and its last byte.

use std::time::{Duration, Instant};

use conformance::reading::{ChatStream, Terms};
use serde_json::Value;
use testkit::http::Head;
use testkit::http::blocking::Connection;

use crate::server::{KEY, Server};

/// Whether a turn may go on in an earlier thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    On,
    Off,
}

/// A whole answer.
pub(crate) struct Answer {
    head: Head,
    body: String,
    pub(crate) to_first_byte: Duration,
    pub(crate) to_end: Duration,
}

// === impl Continuity ===

impl Continuity {
    fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

// === impl Answer ===

impl Answer {
    /// Asks on a connection of its own, which is there before the clock starts.
    pub(crate) fn to(server: &Server, body: &Value, continuity: Continuity) -> Self {
        let (address, continuity, body) = (server.address, continuity.as_str(), body.to_string());
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {KEY}\r\n\
             x-proxy-continuity: {continuity}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len(),
        );
        let mut connection = Connection::open(address).expect("no connection");
        let mut to_first_byte = None;
        let asked = Instant::now();
        connection.begin(request.as_bytes()).expect("a connection that is closed");
        while !connection.receive().expect("an answer that is cut off") {
            to_first_byte.get_or_insert_with(|| asked.elapsed());
        }
        let to_end = asked.elapsed();
        let response = connection.response();
        let body = str::from_utf8(&response.body).expect("an answer that is not UTF-8").to_owned();
        assert_eq!(response.status, 200, "{body}");
        let head = response.head().expect("a head");
        Self { head, body, to_first_byte: to_first_byte.unwrap_or(to_end), to_end }
    }

    /// Ends the benchmark if a stream's turn did not get its thread in this way, or did not say this.
    pub(crate) fn check(&self, way: &str, text: &str) {
        assert_eq!(self.head.header("x-proxy-continuity"), Some(way), "{}", self.body);
        let read = ChatStream::read(&self.body, Terms::default()).expect("a right answer");
        assert_eq!(read.answer().text, text, "{}", self.body);
    }

    /// The message of an answer that is not streamed.
    pub(crate) fn message(&self) -> Value {
        let mut completion: Value = serde_json::from_str(&self.body).expect("a completion");
        completion["choices"][0]["message"].take()
    }
}
