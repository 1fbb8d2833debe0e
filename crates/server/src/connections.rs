//! Accepting connections, and HTTP on each of them.

use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::gate::Gate;

/// How long nothing is accepted after the system could not give us another connection.
const PAUSE: Duration = Duration::from_millis(200);
/// How long what a client still sends is taken after its connection's last answer.
const LINGER: Duration = Duration::from_secs(2);

/// What one connection may cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// How long the head of a request may take, and how long a connection may be idle before it.
    pub header_timeout: Duration,
    /// The longest head of a request.
    pub max_header_bytes: usize,
}

/// What all connections share.
pub(crate) struct Connections {
    gate: Gate,
    http: http1::Builder,
    tasks: TaskTracker,
    stop: CancellationToken,
}

// === impl Connections ===

impl Connections {
    pub(crate) fn new(
        gate: Gate,
        limits: &ConnectionLimits,
        tasks: TaskTracker,
        stop: CancellationToken,
    ) -> Self {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(limits.header_timeout)
            .max_header_size(limits.max_header_bytes);
        Self { gate, http, tasks, stop }
    }

    /// Accepts connections until it is told to stop.
    pub(crate) async fn accept(self: Arc<Self>, listener: TcpListener) {
        while let Some(accepted) = self.stop.run_until_cancelled(listener.accept()).await {
            match accepted {
                Ok((stream, _)) => {
                    self.tasks.spawn(Arc::clone(&self).converse(stream));
                }
                Err(error) if is_the_clients(&error) => {}
                // Usually too many open files: whoever is served will close some.
                Err(error) => {
                    tracing::error!(%error, "cannot accept a connection");
                    self.stop.run_until_cancelled(tokio::time::sleep(PAUSE)).await;
                }
            }
        }
    }

    /// Serves one connection. When it is told to stop, the request under way is the last one.
    async fn converse(self: Arc<Self>, stream: TcpStream) {
        // Small frames of a stream must not wait for each other.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was lost");
            return;
        }
        let service = service_fn(|request: hyper::Request<Incoming>| {
            let this = &self;
            Box::pin(
                async move { Ok::<_, Infallible>(this.gate.answer(request.map(Body::new)).await) },
            )
        });
        let mut connection = self.http.serve_connection(TokioIo::new(stream), service);
        let conversation = poll_fn(|context| connection.poll_without_shutdown(context));
        let mut ended = self.stop.run_until_cancelled(conversation).await;
        if ended.is_none() {
            Pin::new(&mut connection).graceful_shutdown();
            ended = Some(poll_fn(|context| connection.poll_without_shutdown(context)).await);
        }
        if let Some(Err(error)) = ended {
            tracing::debug!(%error, "a connection ended early");
        }
        let stream = connection.into_parts().io.into_inner();
        let lingering = tokio::time::timeout(LINGER, take_the_rest(stream));
        self.stop.run_until_cancelled(lingering).await;
    }
}

/// Closes a connection in a way that lets the client read its last answer.
///
/// Closing at once while a refused body is still on its way would reset the connection, and most
/// clients would report that instead of the answer.
async fn take_the_rest(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
    Ok(())
}

/// An error of a connection that was lost before we had it.
fn is_the_clients(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}
