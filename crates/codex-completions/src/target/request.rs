//! One request to a running server.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::http::request::Builder;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_util::task::TaskTracker;

use super::Target;

/// The longest whole answer that is read; right ones are far shorter.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// No answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// Nobody listens.
    #[error("{0}")]
    Nobody(std::io::Error),
    /// Whoever listens does not speak HTTP, or has stopped.
    #[error("{0}")]
    Broken(hyper::Error),
    /// Of what we write into a request, only the key can be unfit for a header.
    #[error("the key has characters that no header can hold")]
    UnfitKey,
}

// === impl Target ===

impl Target {
    /// A request, but for its path and body.
    pub(crate) fn request(&self) -> Builder {
        let request = Request::builder().header(header::HOST, &self.base_url.authority);
        match self.authorization() {
            Some(authorization) => request.header(header::AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// `GET` of a whole path.
    pub(crate) async fn get(&self, path: &str) -> Result<Response<Incoming>, Unanswered> {
        let request = self.request().uri(path).body(Full::default());
        self.send(request.map_err(|_| Unanswered::UnfitKey)?).await
    }

    /// Sends a request on a connection of its own, and gives the beginning of the answer.
    pub(crate) async fn send(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let address = (self.base_url.host.as_str(), self.base_url.port);
        let stream = TcpStream::connect(address).await.map_err(Unanswered::Nobody)?;
        let (mut sender, connection) =
            http1::handshake(TokioIo::new(stream)).await.map_err(Unanswered::Broken)?;
        // What goes wrong on the connection is told by the request, too.
        TaskTracker::new().spawn(connection);
        sender.send_request(request).await.map_err(Unanswered::Broken)
    }
}

/// The whole text of an answer.
pub(crate) async fn read_text(
    body: Incoming,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let body = Limited::new(body, LONGEST_ANSWER).collect().await?;
    Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
}
