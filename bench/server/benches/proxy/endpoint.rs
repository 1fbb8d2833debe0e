//! A server under load, and the connections to it.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use testkit::http::{self, ResponseReader, blocking};
use tokio::runtime::Runtime;

use crate::case::Case;

/// A server of chat completions.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) name: &'static str,
    pub(crate) address: SocketAddr,
    /// Header lines besides, each with its line break.
    pub(crate) headers: String,
    /// Says what of a body is not that of the case.
    pub(crate) judge: fn(&Case, &[u8]) -> Result<(), String>,
}

/// A connection that is kept alive.
pub(crate) struct Connection(blocking::Connection);

// === impl Endpoint ===

impl Endpoint {
    /// The request of a case, ready to be sent.
    pub(crate) fn request(&self, case: &Case) -> Vec<u8> {
        let Self { address, headers, .. } = self;
        let Case { body, .. } = case;
        format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\n{headers}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len(),
        )
        .into_bytes()
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection(blocking::Connection::open(self.address).expect("no connection"))
    }

    /// Ends the benchmark if the response is not that of the case.
    pub(crate) fn check(&self, case: &Case, response: &ResponseReader) {
        if let Err(wrong) = self.verdict(case, response.status, &response.body) {
            panic!("{}, {}: {wrong}", self.name, case.name);
        }
    }

    /// Says what of a response is not that of the case.
    pub(crate) fn verdict(&self, case: &Case, status: u16, body: &[u8]) -> Result<(), String> {
        if status != 200 {
            let words = String::from_utf8_lossy(body);
            return Err(format!(
                "status {status}: {}",
                words.chars().take(200).collect::<String>()
            ));
        }
        (self.judge)(case, body)
    }

    /// Asks on so many connections at once, one request after the other on each, and says how many
    /// were answered within the time, which ends with the last answer.
    pub(crate) fn load(
        &self,
        runtime: &Runtime,
        case: &Case,
        clients: usize,
        time: Duration,
    ) -> (usize, Duration) {
        runtime.block_on(async {
            let request = self.request(case);
            let mut connections = Vec::new();
            for _ in 0..clients {
                let connection = http::Connection::open(self.address).await;
                connections.push(connection.expect("no connection"));
            }
            let started = Instant::now();
            let asking = connections.into_iter().map(async |mut connection| {
                let mut answered = 0;
                while started.elapsed() < time {
                    let response = connection.ask(&request).await;
                    self.check(case, response.expect("a connection that is broken"));
                    answered += 1;
                }
                answered
            });
            let answered = join_all(asking).await.into_iter().sum::<usize>();
            (answered, started.elapsed())
        })
    }
}

// === impl Connection ===

impl Connection {
    /// Asks, and waits for the whole answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> &ResponseReader {
        self.0.ask(request).expect("a connection that is broken")
    }
}
