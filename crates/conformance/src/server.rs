//! A server, and how it is asked.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::http::uri::Scheme;
use hyper::{Method, Request, Response, Uri};
use tokio::time::{Instant, timeout_at};

use crate::connection::{self, Trust, Unanswered};
use crate::exchange::{Arrival, Exchange};
use crate::reading::Ending;
use crate::secrets::Secrets;

/// How long an answer may take, from the connection to its end.
const ANSWERED_WITHIN: Duration = Duration::from_mins(2);

/// How long nothing at all may come of an answer that has begun.
const SILENT_AT_MOST: Duration = Duration::from_secs(30);

/// The longest answer that is read; those of the scenarios are far shorter.
const LONGEST_ANSWER: usize = 4 << 20;

/// An OpenAI-compatible server.
#[derive(Clone)]
pub struct Server {
    trust: Trust,
    host: String,
    port: u16,
    /// As the header `Host` has it.
    authority: String,
    path: String,
    key: Option<String>,
    /// Beside those that every request has, or instead of them.
    headers: HeaderMap,
    answered_within: Duration,
}

/// A URL that cannot be asked. What may be a secret is not said back.
#[derive(Debug, thiserror::Error)]
pub enum NotAServer {
    /// It is no URL of a server.
    #[error("{0:?} is not a URL such as http://127.0.0.1:11435/v1")]
    Url(String),
    /// It has a user, and perhaps a password.
    #[error("a URL with a user in it is not asked: give the key with --api-key")]
    User,
    /// A header that is none.
    #[error("header {0} is not one such as \"x-name: value\"")]
    Header(String),
    /// Encryption does not work here at all.
    #[error("no encrypted connections: {0}")]
    Encryption(String),
}

/// A request, but for what every request has.
#[derive(Debug, Clone)]
pub(crate) struct Asked<'a> {
    pub(crate) path: &'a str,
    /// A `GET` has none.
    pub(crate) body: Option<String>,
    pub(crate) key: Key<'a>,
}

/// The key of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key<'a> {
    /// The server's, if it has one.
    Own,
    Other(&'a str),
    None,
}

// === impl Server ===

impl Server {
    /// Takes the base URL as clients are given it.
    ///
    /// # Errors
    /// If it is none.
    pub fn parse(url: &str, key: Option<String>) -> Result<Self, NotAServer> {
        let behind_the_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
        if behind_the_scheme.split('/').next().is_some_and(|authority| authority.contains('@')) {
            return Err(NotAServer::User);
        }
        let not_a_url = || NotAServer::Url(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| not_a_url())?;
        let scheme = uri.scheme().ok_or_else(not_a_url)?;
        let authority = uri.authority().ok_or_else(not_a_url)?;
        let secure = *scheme == Scheme::HTTPS;
        let is_fit = secure || *scheme == Scheme::HTTP;
        // A port that is no number of one is none to `port_u16`.
        let has_port = authority.as_str() != authority.host();
        if !is_fit || uri.query().is_some() || (has_port && authority.port_u16().is_none()) {
            return Err(not_a_url());
        }
        let system_trust = || {
            let (roots, _) = http_client::system_roots();
            http_client::trusting(roots).map_err(|error| NotAServer::Encryption(error.to_string()))
        };
        Ok(Self {
            trust: if secure { Some(system_trust()?) } else { None },
            host: authority.host().trim_matches(['[', ']']).to_owned(),
            port: authority.port_u16().unwrap_or(if secure { 443 } else { 80 }),
            authority: authority.as_str().to_owned(),
            path: uri.path().trim_end_matches('/').to_owned(),
            key,
            headers: HeaderMap::new(),
            answered_within: ANSWERED_WITHIN,
        })
    }

    /// Sends this header with every request, too, or instead of the one that it would have:
    /// `name: value`.
    ///
    /// # Errors
    /// If it is none.
    pub fn with_header(mut self, line: &str) -> Result<Self, NotAServer> {
        let (name, value) = line.split_once(':').unwrap_or_default();
        let name = name.trim();
        // The value may be a secret, and without a name all of it may be the value.
        let shown = || if name.is_empty() { "…".to_owned() } else { format!("{name:?}: …") };
        let fit_name = HeaderName::try_from(name);
        let (Ok(fit_name), Ok(value)) = (fit_name, HeaderValue::try_from(value.trim())) else {
            return Err(NotAServer::Header(shown()));
        };
        self.headers.append(fit_name, value);
        Ok(self)
    }

    /// Waits this long for the end of an answer, and no longer.
    #[must_use]
    pub fn answering_within(self, limit: Duration) -> Self {
        Self { answered_within: limit, ..self }
    }

    /// Whether there is a key that could be wrong.
    pub(crate) fn has_key(&self) -> bool {
        self.key.is_some() && !self.headers.contains_key(header::AUTHORIZATION)
    }

    /// What nobody is to read in a report.
    pub(crate) fn secrets(&self) -> Secrets {
        let headers = self.headers.values().filter_map(|value| value.to_str().ok());
        Secrets::new(self.key.as_deref().into_iter().chain(headers))
    }

    /// Asks, and reads the answer to its end.
    pub(crate) async fn ask(&self, asked: Asked<'_>) -> Result<Exchange, Unanswered> {
        let begun = Instant::now();
        let deadline = begun + self.answered_within;
        let (head, mut body) = self.open(asked, deadline).await?.into_parts();
        let text =
            |name| head.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let content_type = text(header::CONTENT_TYPE).unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default();
        let (mut bytes, mut arrivals) = (Vec::new(), Vec::new());
        let ending = loop {
            let silent = Instant::now() + SILENT_AT_MOST;
            match timeout_at(silent.min(deadline), body.frame()).await {
                Ok(Some(Ok(frame))) if bytes.len() < LONGEST_ANSWER => {
                    bytes.extend_from_slice(frame.data_ref().map_or(&[], |data| data));
                    arrivals.push(Arrival { length: bytes.len(), after: begun.elapsed() });
                }
                Ok(Some(Ok(_))) => break Ending::TooLong,
                Ok(Some(Err(_))) => break Ending::Broken,
                Ok(None) => break Ending::Whole,
                Err(_) if silent < deadline => break Ending::Silent,
                Err(_) => break Ending::TimedOut,
            }
        };
        Ok(Exchange {
            status: head.status.as_u16(),
            content_type: content_type.trim().to_ascii_lowercase(),
            location: text(header::LOCATION).map(str::to_owned),
            body: String::from_utf8_lossy(&bytes).into_owned(),
            arrivals,
            ending,
        })
    }

    /// Asks, and leaves as soon as the answer's body has begun; gives its status.
    pub(crate) async fn ask_and_leave(&self, asked: Asked<'_>) -> Result<u16, Unanswered> {
        let deadline = Instant::now() + self.answered_within;
        let (head, mut body) = self.open(asked, deadline).await?.into_parts();
        match timeout_at(deadline, body.frame()).await {
            Ok(Some(Err(error))) => Err(Unanswered::Broken(error)),
            Ok(_) => Ok(head.status.as_u16()),
            Err(_) => Err(self.silent()),
        }
    }

    async fn open(
        &self,
        asked: Asked<'_>,
        deadline: Instant,
    ) -> Result<Response<Incoming>, Unanswered> {
        let request = self.request(asked)?;
        let answer = connection::send(&self.host, self.port, &self.trust, request);
        timeout_at(deadline, answer).await.unwrap_or_else(|_| Err(self.silent()))
    }

    fn silent(&self) -> Unanswered {
        Unanswered::Silent(self.answered_within.as_secs())
    }

    fn request(&self, asked: Asked<'_>) -> Result<Request<Full<Bytes>>, Unanswered> {
        let mut request = Request::new(Full::default());
        let unfit = |_| Unanswered::Unfit;
        *request.uri_mut() =
            format!("{}{}", self.path, asked.path).parse().map_err(|_| Unanswered::Unfit)?;
        let host = HeaderValue::try_from(&self.authority).map_err(unfit)?;
        request.headers_mut().insert(header::HOST, host);
        if let Some(body) = asked.body {
            *request.method_mut() = Method::POST;
            *request.body_mut() = body.into();
            let json = HeaderValue::from_static("application/json");
            request.headers_mut().insert(header::CONTENT_TYPE, json);
        }
        let key = match asked.key {
            Key::Own => self.key.as_deref(),
            Key::Other(key) => Some(key),
            Key::None => None,
        };
        if let Some(key) = key {
            let value = HeaderValue::try_from(format!("Bearer {key}")).map_err(unfit)?;
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        for name in self.headers.keys() {
            request.headers_mut().remove(name);
            for value in self.headers.get_all(name) {
                request.headers_mut().append(name, value.clone());
            }
        }
        Ok(request)
    }
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.trust.is_some() { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

/// Without the key.
impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Server({self})")
    }
}
