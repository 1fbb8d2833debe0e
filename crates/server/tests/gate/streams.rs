//! Connections, byte by byte.

use std::io::ErrorKind;

use testkit::http::Connection;
use tokio::time::timeout;

use crate::client::{KEY, PATIENCE, Server};

pub(crate) async fn connect(server: &Server, bytes: &str) -> Connection {
    Connection::open_with(server.address, bytes.as_bytes()).await.unwrap()
}

/// Everything up to the end that the server makes.
pub(crate) async fn rest(connection: Connection) -> String {
    timeout(PATIENCE, connection.rest_text()).await.unwrap().unwrap()
}

/// So many bytes.
pub(crate) async fn read(connection: &mut Connection, bytes: usize) -> String {
    let read = timeout(PATIENCE, connection.exactly(bytes)).await.unwrap().unwrap();
    String::from_utf8(read).unwrap()
}

/// What comes before the server resets the connection.
pub(crate) async fn until_reset(connection: Connection) -> String {
    let mut bytes = Vec::new();
    let end = timeout(PATIENCE, connection.rest(&mut bytes)).await.unwrap();
    assert_eq!(end.unwrap_err().kind(), ErrorKind::ConnectionReset);
    String::from_utf8(bytes).unwrap()
}

/// Waits until the server closes a connection on which it sends nothing.
pub(crate) async fn until_closed(connection: Connection) {
    let mut bytes = Vec::new();
    // What was sent and not read by then resets the connection.
    if let Err(error) = timeout(PATIENCE, connection.rest(&mut bytes)).await.unwrap() {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    assert_eq!(bytes, b"");
}

/// A request that waits for a body of so many bytes.
pub(crate) async fn under_way(server: &Server, body_bytes: usize) -> Connection {
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {}\r\n{KEY}\r\n\
         content-type: application/json\r\nexpect: 100-continue\r\n\
         content-length: {body_bytes}\r\n\r\n",
        server.address
    );
    let mut connection = connect(server, &head).await;
    // It asks for the body once a handler wants it.
    assert_eq!(read(&mut connection, 25).await, "HTTP/1.1 100 Continue\r\n\r\n");
    connection
}
