//! A server that says what a test wants.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

/// What the server does once it has written.
#[derive(Clone, Copy)]
pub(super) enum Then {
    Close,
    /// Nothing, for as long as the client is there.
    Hang,
}

/// A running server; it goes when it is dropped.
pub(super) struct Origin {
    pub(super) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    answered: mpsc::UnboundedReceiver<()>,
    _task: JoinSet<()>,
}

#[derive(Clone)]
struct Script {
    answer: Vec<u8>,
    then: Then,
    requests: Arc<Mutex<Vec<String>>>,
    answered: mpsc::UnboundedSender<()>,
}

/// A whole answer of this kind.
pub(super) fn ok(kind: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

pub(super) fn redirect(status: u16, location: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status} x\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n").into()
}

// === impl Origin ===

impl Origin {
    /// Gives every request the same answer.
    pub(super) async fn start(answer: impl Into<Vec<u8>>) -> Self {
        Self::listen(answer.into(), Then::Close, None).await
    }

    pub(super) async fn hanging(answer: impl Into<Vec<u8>>) -> Self {
        Self::listen(answer.into(), Then::Hang, None).await
    }

    pub(super) async fn with_tls(answer: impl Into<Vec<u8>>, tls: TlsAcceptor) -> Self {
        Self::listen(answer.into(), Then::Close, Some(tls)).await
    }

    async fn listen(answer: Vec<u8>, then: Then, tls: Option<TlsAcceptor>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::default();
        let (sender, answered) = mpsc::unbounded_channel();
        let script = Script { answer, then, requests: Arc::clone(&requests), answered: sender };
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (script, tls) = (script.clone(), tls.clone());
                connections.spawn(async move {
                    match tls {
                        None => script.play(stream).await,
                        // A client that does not trust us leaves.
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => script.play(stream).await,
                            Err(_) => None,
                        },
                    }
                });
            }
        });
        Self { address, requests, answered, _task: task }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of all requests.
    pub(super) fn requests(&self) -> Vec<String> {
        self.requests.lock().clone()
    }

    /// Waits until an answer was written.
    pub(super) async fn answered(&mut self) {
        self.answered.recv().await.expect("an answer");
    }
}

// === impl Script ===

impl Script {
    /// `None` if the client leaves.
    async fn play(self, mut stream: impl AsyncRead + AsyncWrite + Unpin) -> Option<()> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.ok()?);
        }
        self.requests.lock().push(String::from_utf8(head).unwrap());
        stream.write_all(&self.answer).await.ok()?;
        self.answered.send(()).ok()?;
        match self.then {
            Then::Close => stream.shutdown().await.ok(),
            Then::Hang => std::future::pending().await,
        }
    }
}
