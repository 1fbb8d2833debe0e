//! A connection to an HTTP server. There is no pool: an image, a check or a proof of identity is asked for
//! on a connection of its own, so that none sees the end of another.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use tokio_util::task::TaskTracker;

/// A connection, which is closed when this and the bodies of its responses are dropped.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
}

// === impl Connection ===

impl Connection {
    /// Starts HTTP on a stream that is connected.
    ///
    /// # Errors
    /// If the connection ends.
    pub async fn over<S>(stream: S) -> hyper::Result<Self>
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // What goes wrong on the connection is an error of the request, too.
        TaskTracker::new().spawn(connection);
        Ok(Self { sender })
    }

    /// Sends a request as it is, and returns the beginning of its response.
    ///
    /// # Errors
    /// If the connection ends before, or this is not HTTP.
    pub async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> hyper::Result<Response<Incoming>> {
        self.sender.ready().await?;
        self.sender.send_request(request).await
    }
}

/// The certificates that this machine trusts, and what is wrong with the others. Reads files.
pub fn system_roots() -> (RootCertStore, Vec<rustls_native_certs::Error>) {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(found.certs);
    (roots, found.errors)
}

/// Encrypts connections to the servers that these certificates vouch for.
///
/// # Errors
/// Never: the provider has everything that both versions of TLS need.
pub fn trusting(roots: RootCertStore) -> Result<TlsConnector, rustls::Error> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config).into())
}
