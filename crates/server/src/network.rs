//! What the server needs of a network: TCP, or one that a test simulates.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// Gives the connections of clients.
pub trait Listener: Send + Sync + 'static {
    /// One connection.
    type Stream: Stream;

    /// Waits for the next connection.
    fn accept(&self) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// A connection to a client.
#[expect(clippy::missing_errors_doc, reason = "the system says what went wrong")]
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// The address of ours that the client has connected to.
    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// Sends each write at once: small frames of a stream must not wait for each other.
    fn set_nodelay(&self) -> io::Result<()>;

    /// Resets the connection when it is dropped, instead of closing it.
    fn set_zero_linger(&self) -> io::Result<()>;
}

impl Listener for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<TcpStream> {
        self.accept().await.map(|(stream, _)| stream)
    }
}

impl Stream for TcpStream {
    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.local_addr()
    }

    fn set_nodelay(&self) -> io::Result<()> {
        self.set_nodelay(true)
    }

    fn set_zero_linger(&self) -> io::Result<()> {
        self.set_zero_linger()
    }
}
