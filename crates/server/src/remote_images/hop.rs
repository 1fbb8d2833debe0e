//! One request for an image: to where it is said to be, or to where that leads.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use http_client::Connection;
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::rustls::pki_types::ServerName;

use super::data_url::DataUrlWriter;
use super::failure::FetchError;
use super::target::{Scheme, Target};
use super::{ImageFetcher, Room, tls};

/// Time limit of one of a host's addresses, so that there is time for the others.
const CONNECTED_WITHIN: Duration = Duration::from_secs(3);

/// What was found at an address.
pub(super) enum Hop {
    /// The image, as a data URL.
    Image(String),
    /// Another address.
    Redirect(Target),
}

// === impl ImageFetcher ===

impl ImageFetcher {
    pub(super) async fn get(&self, target: &Target, room: &Room) -> Result<Hop, FetchError> {
        let stream = self.connect(&self.addresses(target).await?).await?;
        match target.scheme {
            Scheme::Http => exchange(stream, target, room).await,
            Scheme::Https => {
                let name = ServerName::try_from(target.host.clone());
                let name = name.map_err(|_| FetchError::InvalidUrl)?;
                let connector = self.tls.get_or_try_init(tls::connector).await?;
                let stream = connector.connect(name, stream).await;
                exchange(stream.map_err(|_| FetchError::Untrusted)?, target, room).await
            }
        }
    }

    /// The addresses of a host that may be connected to. A name is asked for once: asked again, it
    /// might have another answer.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, FetchError> {
        let lookup = Arc::clone(&self.lookups).acquire_owned().await;
        let name = (target.host.clone(), target.port);
        // Somebody who stops waiting does not stop the lookup, and its place is taken until it ends.
        let found = tokio::task::spawn_blocking(move || {
            let _lookup = lookup;
            name.to_socket_addrs()
        });
        let found = found.await.ok().and_then(Result::ok).ok_or(FetchError::UnknownHost)?;
        let allowed: Vec<_> = found.filter(|address| (self.may_connect)(address.ip())).collect();
        if allowed.is_empty() { Err(FetchError::NotPublic) } else { Ok(allowed) }
    }

    /// Connects to the first address that answers. One of our own is not public, whatever it looks
    /// like from elsewhere: a connection to oneself has the same address at both ends.
    async fn connect(&self, addresses: &[SocketAddr]) -> Result<TcpStream, FetchError> {
        for address in addresses {
            let connecting = TcpStream::connect(address);
            if let Ok(Ok(stream)) = tokio::time::timeout(CONNECTED_WITHIN, connecting).await {
                let own = stream.local_addr().map_err(|_| FetchError::Unreachable)?;
                let is_own = own.ip().to_canonical() == address.ip().to_canonical();
                let own_may_be = (self.may_connect)(IpAddr::V4(Ipv4Addr::LOCALHOST));
                return if is_own && !own_may_be { Err(FetchError::NotPublic) } else { Ok(stream) };
            }
        }
        Err(FetchError::Unreachable)
    }
}

/// Asks for the image, and reads it.
async fn exchange<S>(stream: S, target: &Target, room: &Room) -> Result<Hop, FetchError>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut connection = Connection::over(stream).await.map_err(|_| FetchError::Broken)?;
    let response = connection.send(request(target)?).await;
    let (head, body) = response.map_err(|_| FetchError::Broken)?.into_parts();
    match head.status {
        StatusCode::OK => read(body, room).await.map(Hop::Image),
        StatusCode::MOVED_PERMANENTLY
        | StatusCode::FOUND
        | StatusCode::SEE_OTHER
        | StatusCode::TEMPORARY_REDIRECT
        | StatusCode::PERMANENT_REDIRECT => {
            target.redirected(location(&head.headers)?).map(Hop::Redirect)
        }
        other => Err(FetchError::Status(other.as_u16())),
    }
}

fn request(target: &Target) -> Result<Request<Full<Bytes>>, FetchError> {
    Request::get(&target.path)
        .header(header::HOST, &target.authority)
        .header(header::USER_AGENT, concat!("codex-completions/", env!("CARGO_PKG_VERSION")))
        .header(header::ACCEPT, "image/png, image/jpeg, image/gif, image/webp")
        .header(header::CONNECTION, "close")
        .body(Full::default())
        .map_err(|_| FetchError::InvalidUrl)
}

fn location(headers: &HeaderMap<HeaderValue>) -> Result<&str, FetchError> {
    let location = headers.get(header::LOCATION).map(HeaderValue::as_bytes);
    let location = location.and_then(|location| std::str::from_utf8(location).ok());
    location.ok_or(FetchError::InvalidRedirect)
}

async fn read(mut body: Incoming, room: &Room) -> Result<String, FetchError> {
    let mut writer = DataUrlWriter::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(|_| FetchError::Broken)?.into_data() {
            room.take(data.len())?;
            writer.push(&data)?;
        }
    }
    Ok(writer.finish()?)
}
