//! A connection to a server, and why there is none.

use std::io;

use bytes::Bytes;
use http_body_util::Full;
use http_client::Connection;
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls;
use tokio_rustls::rustls::pki_types::ServerName;

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
    let connection = match trust {
        None => Connection::over(stream).await,
        Some(connector) => {
            let name = ServerName::try_from(host.to_owned())
                .map_err(|error| Unanswered::NotEncrypted(io::Error::other(error)))?;
            Connection::over(connector.connect(name, stream).await.map_err(not_encrypted)?).await
        }
    };
    connection.map_err(Unanswered::Broken)?.send(request).await.map_err(Unanswered::Broken)
}

fn not_encrypted(error: io::Error) -> Unanswered {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match inner {
        Some(rustls::Error::InvalidCertificate(why)) => Unanswered::Untrusted(why.clone()),
        _ => Unanswered::NotEncrypted(error),
    }
}
