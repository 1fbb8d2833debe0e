//! HTTP with its bytes in hand: for clients that leave in the middle, half-close, read slowly or send what
//! is not HTTP, and for benchmarks, whose client must cost next to nothing.

pub mod blocking;
mod reader;

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream, ToSocketAddrs};

pub use reader::{Gone, Head, ResponseReader};

/// Most that is received at once.
const READ: usize = 64 * 1024;

/// A connection to a server.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    reader: ResponseReader,
}

// === impl Connection ===

impl Connection {
    /// Connects.
    pub async fn open(address: impl ToSocketAddrs) -> Result<Self, Gone> {
        Ok(Self::over(TcpStream::connect(address).await?))
    }

    /// Connects, and sends these bytes.
    pub async fn open_with(address: impl ToSocketAddrs, bytes: &[u8]) -> Result<Self, Gone> {
        let mut connection = Self::open(address).await?;
        connection.send(bytes).await?;
        Ok(connection)
    }

    /// One that takes few bytes at a time.
    pub async fn narrow(address: SocketAddr) -> Result<Self, Gone> {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4 * 1024)?;
        Ok(Self::over(socket.connect(address).await?))
    }

    fn over(stream: TcpStream) -> Self {
        // Small requests must not wait for each other; it is no fault if they do.
        let _ = stream.set_nodelay(true);
        Self { stream, buffer: vec![0; READ], reader: ResponseReader::default() }
    }

    /// Sends bytes as they are.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Gone> {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Closes the sending half.
    pub async fn half_close(&mut self) -> Result<(), Gone> {
        Ok(self.stream.shutdown().await?)
    }

    /// Sends a request whose response is read next.
    pub async fn begin(&mut self, request: &[u8]) -> Result<(), Gone> {
        self.reader.begin();
        self.reader.push(b"")?;
        self.send(request).await
    }

    /// Receives at most `most` bytes, and returns whether the response is whole.
    pub async fn receive(&mut self, most: usize) -> Result<bool, Gone> {
        let most = most.min(self.buffer.len());
        match self.stream.read(&mut self.buffer[..most]).await? {
            0 => self.reader.close().map(|()| true),
            read => self.reader.push(&self.buffer[..read]),
        }
    }

    /// Sends a request, and receives its whole response.
    pub async fn ask(&mut self, request: &[u8]) -> Result<&ResponseReader, Gone> {
        self.begin(request).await?;
        while !self.reader.is_whole() {
            self.receive(READ).await?;
        }
        Ok(&self.reader)
    }

    /// The response so far.
    pub fn response(&self) -> &ResponseReader {
        &self.reader
    }

    /// Receives the head of the next response.
    pub async fn head(&mut self) -> Result<Head, Gone> {
        self.begin(b"").await?;
        loop {
            if let Some(head) = self.reader.head() {
                return Ok(head);
            }
            self.receive(READ).await?;
        }
    }

    /// The next bytes of the body, receiving at most `most` at once; `None` at its end.
    pub async fn piece(&mut self, most: usize) -> Result<Option<Vec<u8>>, Gone> {
        loop {
            let piece = std::mem::take(&mut self.reader.body);
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
            if self.reader.is_whole() {
                return Ok(None);
            }
            self.receive(most).await?;
        }
    }

    /// The rest of the body.
    pub async fn whole(&mut self) -> Result<Vec<u8>, Gone> {
        while !self.reader.is_whole() {
            self.receive(READ).await?;
        }
        Ok(std::mem::take(&mut self.reader.body))
    }

    /// Whether the response is at its end, and nothing came behind it.
    pub fn is_clean(&self) -> bool {
        self.reader.is_clean()
    }

    /// So many bytes as they come, framed or not.
    pub async fn exactly(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let mut read = vec![0; bytes];
        self.stream.read_exact(&mut read).await?;
        Ok(read)
    }

    /// Everything that is not read yet up to the end of the connection, as it comes.
    pub async fn rest(self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let Self { mut stream, reader, .. } = self;
        bytes.extend(reader.into_pending());
        stream.read_to_end(bytes).await.map(drop)
    }

    /// The same as text.
    pub async fn rest_text(self) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.rest(&mut bytes).await?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

/// The head of a request; `lines` are more of its headers.
pub fn request_head(method: &str, path: &str, host: &str, id: &str, lines: &str) -> Vec<u8> {
    format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nx-request-id: {id}\r\n{lines}\r\n").into()
}
