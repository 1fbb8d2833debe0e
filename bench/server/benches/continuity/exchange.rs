//! One request and its answer, with the times of its first and its last byte.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::server::{KEY, Server};

/// The end of a body that comes in chunks.
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// Whether a turn may go on in an earlier thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continuity {
    On,
    Off,
}

/// A whole answer.
pub(crate) struct Answer {
    /// Head and body as they came.
    received: String,
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
        let mut stream = TcpStream::connect(address).expect("no connection");
        stream.set_nodelay(true).expect("a connection that cannot be set up");
        let mut received = Vec::new();
        let mut buffer = vec![0; 64 * 1024];
        let mut to_first_byte = None;
        let asked = Instant::now();
        stream.write_all(request.as_bytes()).expect("a connection that is closed");
        while !is_whole(&received) {
            let read = stream.read(&mut buffer).expect("a connection that is broken");
            assert!(read > 0, "the connection was closed");
            to_first_byte.get_or_insert_with(|| asked.elapsed());
            received.extend_from_slice(&buffer[..read]);
        }
        let to_end = asked.elapsed();
        let received = String::from_utf8(received).expect("an answer that is not UTF-8");
        assert!(received.starts_with("HTTP/1.1 200"), "{received}");
        Self { received, to_first_byte: to_first_byte.unwrap_or(to_end), to_end }
    }

    /// Ends the benchmark if a stream's turn did not get its thread in this way, or did not say this.
    pub(crate) fn check(&self, way: &str, text: &str) {
        let header = format!("x-proxy-continuity: {way}\r\n");
        assert!(self.received.contains(&header), "not {way}: {}", self.received);
        // The text has nothing that would be escaped.
        let deltas = self.received.split(r#""delta":{"content":""#).skip(1);
        let said: String = deltas.filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(said, text, "{}", self.received);
    }

    /// The message of an answer that is not streamed.
    pub(crate) fn message(&self) -> Value {
        let (_, body) = self.received.split_once("\r\n\r\n").expect("a head");
        let mut completion: Value = serde_json::from_str(body).expect("a completion");
        completion["choices"][0]["message"].take()
    }
}

fn is_whole(received: &[u8]) -> bool {
    if received.ends_with(LAST_CHUNK) {
        return true;
    }
    let Some(head) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        return false;
    };
    let length = std::str::from_utf8(&received[..head]).ok().and_then(|head| {
        let line = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        line.parse::<usize>().ok()
    });
    length.is_some_and(|length| received.len() == head + 4 + length)
}
