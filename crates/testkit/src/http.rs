//! HTTP over a bare socket: who wants to leave in the middle, half-close or read slowly has to hold
//! the bytes in his own hands.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

/// Most headers that an answer may have.
const MOST_HEADERS: usize = 64;

/// What is read at once.
const READ: usize = 16 * 1024;

/// A connection to the server.
pub struct Connection {
    stream: TcpStream,
    /// What was read and not yet taken.
    received: Vec<u8>,
    body: Body,
}

/// The head of an answer.
#[derive(Debug, Clone)]
pub struct Head {
    /// 0 where there is none.
    pub status: u16,
    headers: Vec<(String, String)>,
}

/// Why there is no more to read.
#[derive(Debug, thiserror::Error)]
pub enum Gone {
    /// It was reset, or closed in the middle of an answer.
    #[error("the connection was cut: {0}")]
    Cut(String),
    /// It is no answer.
    #[error("this is not HTTP: {0}")]
    Unreadable(String),
}

/// What is left of the answer's body.
#[derive(Debug, Clone, Copy)]
enum Body {
    /// So many bytes.
    Length(usize),
    /// A chunk's size comes next.
    ChunkSize,
    /// So many bytes of a chunk, and the line break behind it.
    Chunk(usize),
    /// It has come to its end.
    Ended,
}

// === impl Connection ===

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// If nobody takes the connection.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::over(TcpStream::connect(address).await?))
    }

    /// One that takes few bytes at a time.
    ///
    /// # Errors
    /// If nobody takes the connection.
    pub async fn narrow(address: SocketAddr) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4 * 1024)?;
        Ok(Self::over(socket.connect(address).await?))
    }

    fn over(stream: TcpStream) -> Self {
        // Small requests must not wait for each other; it is no fault if they do.
        let _ = stream.set_nodelay(true);
        Self { stream, received: Vec::new(), body: Body::Ended }
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// If the connection is gone.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes).await
    }

    /// Says that nothing more will be sent.
    ///
    /// # Errors
    /// If the connection is gone.
    pub async fn half_close(&mut self) -> io::Result<()> {
        self.stream.shutdown().await
    }

    /// Reads the head of the next answer.
    ///
    /// # Errors
    /// If the answer is cut off, or is no HTTP.
    pub async fn head(&mut self) -> Result<Head, Gone> {
        loop {
            let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
            let mut response = httparse::Response::new(&mut headers);
            match response.parse(&self.received) {
                Ok(httparse::Status::Complete(length)) => {
                    let head = Head::of(&response);
                    self.received.drain(..length);
                    self.body = head.body()?;
                    return Ok(head);
                }
                Ok(httparse::Status::Partial) => self.receive(READ).await?,
                Err(error) => return Err(self.unreadable(&error.to_string())),
            }
        }
    }

    /// The next bytes of the body, reading at most `most` at once; `None` at its end.
    ///
    /// # Errors
    /// If the answer is cut off, or is no HTTP.
    pub async fn piece(&mut self, most: usize) -> Result<Option<Vec<u8>>, Gone> {
        loop {
            match self.body {
                Body::Ended | Body::Length(0) => {
                    self.body = Body::Ended;
                    return Ok(None);
                }
                Body::Length(left) if !self.received.is_empty() => {
                    let taken = self.take(left);
                    self.body = Body::Length(left - taken.len());
                    return Ok(Some(taken));
                }
                Body::Chunk(left) if left > 2 && !self.received.is_empty() => {
                    let taken = self.take(left - 2);
                    self.body = Body::Chunk(left - taken.len());
                    return Ok(Some(taken));
                }
                Body::Chunk(left) if left <= 2 && self.received.len() >= left => {
                    let end = self.take(left);
                    if !b"\r\n".ends_with(&end) {
                        return Err(self.unreadable("a chunk without its end"));
                    }
                    self.body = Body::ChunkSize;
                    continue;
                }
                Body::ChunkSize => match httparse::parse_chunk_size(&self.received) {
                    Ok(httparse::Status::Complete((line, 0))) => {
                        // The last one, without trailers.
                        while self.received.len() < line + 2 {
                            self.receive(most).await?;
                        }
                        self.received.drain(..line + 2);
                        self.body = Body::Ended;
                        return Ok(None);
                    }
                    Ok(httparse::Status::Complete((line, size))) => {
                        self.received.drain(..line);
                        let size = usize::try_from(size).unwrap_or(usize::MAX - 2);
                        self.body = Body::Chunk(size + 2);
                        continue;
                    }
                    Ok(httparse::Status::Partial) => {}
                    Err(error) => return Err(self.unreadable(&error.to_string())),
                },
                Body::Length(_) | Body::Chunk(_) => {}
            }
            self.receive(most).await?;
        }
    }

    /// The rest of the body.
    ///
    /// # Errors
    /// If the answer is cut off, or is no HTTP.
    pub async fn whole(&mut self) -> Result<Vec<u8>, Gone> {
        let mut body = Vec::new();
        while let Some(piece) = self.piece(READ).await? {
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// Whether the answer is over, and nothing came behind it.
    pub fn is_clean(&self) -> bool {
        matches!(self.body, Body::Ended) && self.received.is_empty()
    }

    fn take(&mut self, most: usize) -> Vec<u8> {
        let rest = self.received.split_off(most.min(self.received.len()));
        std::mem::replace(&mut self.received, rest)
    }

    async fn receive(&mut self, most: usize) -> Result<(), Gone> {
        let before = self.received.len();
        self.received.resize(before + most.min(READ), 0);
        let read = self.stream.read(&mut self.received[before..]).await;
        self.received.truncate(before + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => Err(Gone::Cut("closed in the middle of an answer".to_owned())),
            Ok(_) => Ok(()),
            Err(error) => Err(Gone::Cut(error.to_string())),
        }
    }

    fn unreadable(&self, why: &str) -> Gone {
        let start = &self.received[..self.received.len().min(80)];
        Gone::Unreadable(format!("{why}: {}", start.escape_ascii()))
    }
}

// === impl Head ===

impl Head {
    fn of(response: &httparse::Response<'_, '_>) -> Self {
        let headers = response.headers.iter().map(|header| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        });
        Self { status: response.code.unwrap_or(0), headers: headers.collect() }
    }

    /// A header that may be there once.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Whether the server closes the connection after this answer.
    pub fn closes(&self) -> bool {
        self.header("connection") == Some("close")
    }

    fn body(&self) -> Result<Body, Gone> {
        if self.header("transfer-encoding") == Some("chunked") {
            return Ok(Body::ChunkSize);
        }
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        length.map(Body::Length).ok_or_else(|| Gone::Unreadable("an answer without end".to_owned()))
    }
}

/// The head of a request; `lines` are more of its headers.
pub fn request_head(method: &str, path: &str, host: &str, id: &str, lines: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nx-request-id: {id}\r\n{lines}\r\n").into()
}
