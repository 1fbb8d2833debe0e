//! A connection to a server, and why there is none.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use tokio_util::task::TaskTracker;

/// No answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("the name {host} is not known: {why}")]
    UnknownHost { host: String, why: io::Error },
    #[error("nobody listens: {0}")]
    Nobody(io::Error),
    #[error("its certificate is not trusted: {0}")]
    Untrusted(rustls::CertificateError),
    #[error("no encrypted connection (is it http and not https?): {0}")]
    NotEncrypted(io::Error),
    #[error("no answer: {0}")]
    Broken(hyper::Error),
    #[error("no answer within {0} s")]
    Silent(u64),
    #[error("the key or a header has characters that no header can hold")]
    Unfit,
}

/// Whom connections to a server trust: `None` is not encrypted.
pub(crate) type Trust = Option<TlsConnector>;

/// Trusts what the system trusts.
pub(crate) fn system_trust() -> Result<TlsConnector, rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Every request has a connection of its own, so that none sees the end of another.
pub(crate) async fn send(
    host: &str,
    port: u16,
    trust: &Trust,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Unanswered> {
    let addresses: Vec<_> = lookup_host((host, port))
        .await
        .map_err(|why| Unanswered::UnknownHost { host: host.to_owned(), why })?
        .collect();
    let stream = TcpStream::connect(addresses.as_slice()).await.map_err(Unanswered::Nobody)?;
    let Some(connector) = trust else {
        return exchange(TokioIo::new(stream), request).await;
    };
    let name = ServerName::try_from(host.to_owned())
        .map_err(|error| Unanswered::NotEncrypted(io::Error::other(error)))?;
    let stream = connector.connect(name, stream).await.map_err(not_encrypted)?;
    exchange(TokioIo::new(stream), request).await
}

fn not_encrypted(error: io::Error) -> Unanswered {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(why)) => Unanswered::Untrusted(why.clone()),
        _ => Unanswered::NotEncrypted(error),
    }
}

async fn exchange<S>(
    stream: S,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, Unanswered>
where
    S: Read + Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(stream).await.map_err(Unanswered::Broken)?;
    // What goes wrong on the connection is told by the request, too.
    TaskTracker::new().spawn(connection);
    sender.send_request(request).await.map_err(Unanswered::Broken)
}
