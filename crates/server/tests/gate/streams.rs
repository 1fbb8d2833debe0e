//! Connections, byte by byte.

use std::io::ErrorKind;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::{KEY, PATIENCE, Server};

pub(crate) async fn connect(server: &Server, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Everything up to the end that the server makes.
pub(crate) async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.unwrap().unwrap();
    String::from_utf8(bytes).unwrap()
}

/// So many bytes.
pub(crate) async fn read(stream: &mut TcpStream, bytes: usize) -> String {
    let mut buffer = vec![0; bytes];
    timeout(PATIENCE, stream.read_exact(&mut buffer)).await.unwrap().unwrap();
    String::from_utf8(buffer).unwrap()
}

/// Waits until the server closes a connection on which it says nothing.
pub(crate) async fn until_closed(mut stream: TcpStream) {
    let mut said = Vec::new();
    // What was sent and not read by then resets the connection.
    if let Err(error) = timeout(PATIENCE, stream.read_to_end(&mut said)).await.unwrap() {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    assert_eq!(said, b"");
}

/// A request that waits for a body of so many bytes.
pub(crate) async fn under_way(server: &Server, body_bytes: usize) -> TcpStream {
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\n{KEY}\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\n\
         content-length: {body_bytes}\r\n\r\n",
        server.address
    );
    let mut stream = connect(server, &head).await;
    // It asks for the body once a handler wants it.
    assert_eq!(read(&mut stream, 25).await, "HTTP/1.1 100 Continue\r\n\r\n");
    stream
}
