//! A server under load, and the connections to it.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::runtime::Runtime;

use crate::case::Case;
use crate::response::{Response, ResponseReader};

const READ_BUFFER: usize = 64 * 1024;

/// Somebody who answers chat completions.
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
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    reader: ResponseReader,
}

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
        let stream = TcpStream::connect(self.address).expect("no connection");
        stream.set_nodelay(true).expect("a connection that cannot be set up");
        Connection { stream, buffer: vec![0; READ_BUFFER], reader: ResponseReader::default() }
    }

    /// Ends the benchmark if the response is not that of the case.
    pub(crate) fn check(&self, case: &Case, response: &Response<'_>) {
        if let Err(wrong) = self.verdict(case, response.status, response.body) {
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
            let mut streams = Vec::new();
            for _ in 0..clients {
                let stream = tokio::net::TcpStream::connect(self.address).await;
                streams.push(stream.expect("no connection"));
            }
            let started = Instant::now();
            let asking = streams.into_iter().map(|stream| {
                ask_until(stream, &request, started + time, |response| self.check(case, response))
            });
            let answered = join_all(asking).await.into_iter().sum();
            (answered, started.elapsed())
        })
    }
}

async fn ask_until(
    mut stream: tokio::net::TcpStream,
    request: &[u8],
    end: Instant,
    check: impl Fn(&Response<'_>),
) -> usize {
    stream.set_nodelay(true).expect("a connection that cannot be set up");
    let mut reader = ResponseReader::default();
    let mut buffer = vec![0; READ_BUFFER];
    let mut answered = 0;
    while Instant::now() < end {
        reader.begin();
        stream.write_all(request).await.expect("a connection that is closed");
        loop {
            let read = stream.read(&mut buffer).await.expect("a connection that is broken");
            assert!(read > 0, "the connection was closed");
            if reader.push(&buffer[..read]) {
                break;
            }
        }
        check(&reader.response());
        answered += 1;
    }
    answered
}

// === impl Connection ===

impl Connection {
    /// Asks, and waits for the whole answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Response<'_> {
        self.reader.begin();
        self.stream.write_all(request).expect("a connection that is closed");
        loop {
            let read = self.stream.read(&mut self.buffer).expect("a connection that is broken");
            assert!(read > 0, "the connection was closed");
            if self.reader.push(&self.buffer[..read]) {
                return self.reader.response();
            }
        }
    }
}
