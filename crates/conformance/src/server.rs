//! A server, and how it is asked: the only I/O beside the runner's waiting.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::http::uri::Scheme;
use hyper::rt::{Read, Write};
use hyper::{Method, Request, Response, Uri, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_util::task::TaskTracker;

use crate::exchange::{Ending, Exchange};

/// How long a server may say nothing at all.
const SILENT_AT_MOST: Duration = Duration::from_secs(30);

/// The longest answer that is read; those of the scenarios are far shorter.
const LONGEST_ANSWER: usize = 4 << 20;

/// An OpenAI-compatible server.
#[derive(Clone)]
pub struct Server {
    secure: bool,
    host: String,
    port: u16,
    /// As the header `Host` has it.
    authority: String,
    path: String,
    key: Option<String>,
    headers: Vec<(String, String)>,
}

/// A URL that cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum NotAServer {
    /// It is no URL of a server.
    #[error("{0:?} is not a URL such as http://127.0.0.1:11435/v1")]
    Url(String),
    /// A header that is none.
    #[error("{0:?} is not a header such as \"x-name: value\"")]
    Header(String),
}

/// No answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("nobody listens: {0}")]
    Nobody(std::io::Error),
    #[error("no answer: {0}")]
    Broken(hyper::Error),
    #[error("no answer within {SILENT_AT_MOST:?}")]
    Silent,
    #[error("the key or a header has characters that no header can hold")]
    Unfit,
}

/// A request, but for what every request has.
pub(crate) struct Asked<'a> {
    pub(crate) path: &'a str,
    /// A `GET` has none.
    pub(crate) body: Option<String>,
    /// Instead of the server's.
    pub(crate) key: Option<&'a str>,
}

// === impl Server ===

impl Server {
    /// Takes the base URL as clients are given it.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(url: &str, key: Option<String>) -> Result<Self, NotAServer> {
        let not_a_url = || NotAServer::Url(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| not_a_url())?;
        let scheme = uri.scheme().ok_or_else(not_a_url)?;
        let authority = uri.authority().ok_or_else(not_a_url)?;
        let secure = *scheme == Scheme::HTTPS;
        let is_fit = secure || *scheme == Scheme::HTTP;
        if !is_fit || uri.query().is_some() || authority.as_str().contains('@') {
            return Err(not_a_url());
        }
        Ok(Self {
            secure,
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: uri.path().trim_end_matches('/').to_owned(),
            key,
            headers: Vec::new(),
        })
    }

    /// Sends this header with every request, too: `name: value`.
    ///
    /// # Errors
    /// If it is none.
    pub fn with_header(mut self, line: &str) -> Result<Self, NotAServer> {
        let (name, value) =
            line.split_once(':').ok_or_else(|| NotAServer::Header(line.to_owned()))?;
        self.headers.push((name.trim().to_owned(), value.trim().to_owned()));
        Ok(self)
    }

    /// Whether there is a key that could be wrong.
    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// Asks, and reads the answer to its end.
    pub(crate) async fn ask(&self, asked: Asked<'_>) -> Result<Exchange, Unanswered> {
        let (head, mut body) = self.open(asked).await?.into_parts();
        let content_type = head.headers.get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default();
        let mut bytes = Vec::new();
        let ending = loop {
            match timeout(SILENT_AT_MOST, body.frame()).await {
                Ok(Some(Ok(frame))) if bytes.len() < LONGEST_ANSWER => {
                    bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
                }
                Ok(None) => break Ending::Whole,
                Ok(Some(_)) => break Ending::Broken,
                Err(_) => break Ending::TimedOut,
            }
        };
        Ok(Exchange {
            status: head.status.as_u16(),
            content_type: content_type.trim().to_ascii_lowercase(),
            body: String::from_utf8_lossy(&bytes).into_owned(),
            ending,
        })
    }

    /// Asks, and leaves as soon as the answer's body has begun; gives its status.
    pub(crate) async fn ask_and_leave(&self, asked: Asked<'_>) -> Result<u16, Unanswered> {
        let (head, mut body) = self.open(asked).await?.into_parts();
        match timeout(SILENT_AT_MOST, body.frame()).await {
            Ok(Some(Err(error))) => Err(Unanswered::Broken(error)),
            Ok(_) => Ok(head.status.as_u16()),
            Err(_) => Err(Unanswered::Silent),
        }
    }

    /// Every request has a connection of its own, so that none sees the end of another.
    async fn open(&self, asked: Asked<'_>) -> Result<Response<Incoming>, Unanswered> {
        let request = self.request(asked)?;
        let address = (self.host.as_str(), self.port);
        let stream = TcpStream::connect(address).await.map_err(Unanswered::Nobody)?;
        let answer = async {
            if self.secure {
                send(TokioIo::new(self.encrypt(stream).await?), request).await
            } else {
                send(TokioIo::new(stream), request).await
            }
        };
        timeout(SILENT_AT_MOST, answer).await.unwrap_or(Err(Unanswered::Silent))
    }

    async fn encrypt(
        &self,
        stream: TcpStream,
    ) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Unanswered> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let unusable = |error| Unanswered::Nobody(std::io::Error::other(error));
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name =
            ServerName::try_from(self.host.clone()).map_err(|error| unusable(error.to_string()))?;
        let connector = TlsConnector::from(Arc::new(config));
        connector.connect(name, stream).await.map_err(Unanswered::Nobody)
    }

    fn request(&self, asked: Asked<'_>) -> Result<Request<Full<Bytes>>, Unanswered> {
        let mut request = Request::builder()
            .uri(format!("{}{}", self.path, asked.path))
            .header(header::HOST, &self.authority);
        if let Some(key) = asked.key.or(self.key.as_deref()) {
            request = request.header(header::AUTHORIZATION, format!("Bearer {key}"));
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = match asked.body {
            None => request.body(Full::default()),
            Some(body) => request
                .method(Method::POST)
                .header(header::CONTENT_TYPE, "application/json")
                .body(body.into()),
        };
        request.map_err(|_| Unanswered::Unfit)
    }
}

async fn send<S>(stream: S, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Unanswered>
where
    S: Read + Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(stream).await.map_err(Unanswered::Broken)?;
    // What goes wrong on the connection is told by the request, too.
    TaskTracker::new().spawn(connection);
    sender.send_request(request).await.map_err(Unanswered::Broken)
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

/// Without the key.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self})")
    }
}
