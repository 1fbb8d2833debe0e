//! One request to a running server.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::http::request::Builder;
use hyper::{Request, Response, header};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use server::{IDENTITY_PATH, Nonce, RunSecret};
use tokio::net::TcpStream;

use super::{KeyFor, Target};

/// The longest whole answer that is read; right ones are far shorter.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// A server on this machine proves at once that it is ours.
const PROVED_WITHIN: Duration = Duration::from_secs(5);

/// No answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    /// Nothing listens there.
    #[error("{0}")]
    Nobody(std::io::Error),
    /// What listens there does not speak HTTP, or has stopped.
    #[error("{0}")]
    Broken(hyper::Error),
    /// It may be an impostor, which must not get the key.
    #[error(
        "it did not prove that it is the server of this data folder, so no key was sent. Restart it if \
         it is an older version; to send a key to another server, give both --base-url and --key"
    )]
    NotProven,
    /// Of what is written into a request, only the key can be unfit for a header.
    #[error("the key has characters that no header can hold")]
    UnfitKey,
}

/// A connection. A new one may lead to another process, so everything that was proved ends with it.
pub(super) struct Connection {
    http: http_client::Connection,
    /// The address that was dialled.
    peer: SocketAddr,
}

#[derive(Deserialize)]
struct Identity {
    proof: String,
}

// === impl Target ===

impl Target {
    /// A request, but for its path and body.
    pub(crate) fn request(&self) -> Builder {
        Request::builder().header(header::HOST, &self.base_url.authority)
    }

    /// `GET` of a whole path, with the key.
    pub(crate) async fn get(&self, path: &str) -> Result<Response<Incoming>, Unanswered> {
        let request = self.request().uri(path).body(Full::default());
        self.send(request.map_err(|_| Unanswered::UnfitKey)?).await
    }

    /// Sends a request with the key, on a connection of its own.
    pub(crate) async fn send(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Unanswered> {
        let mut connection = self.connect().await?;
        if let Some((key, audience)) = &self.key {
            if *audience == KeyFor::OurServer {
                self.prove(&mut connection).await?;
            }
            let authorization = format!("Bearer {}", key.expose_secret());
            let authorization =
                HeaderValue::try_from(authorization).map_err(|_| Unanswered::UnfitKey)?;
            request.headers_mut().insert(header::AUTHORIZATION, authorization);
        }
        connection.send(request).await
    }

    pub(super) async fn connect(&self) -> Result<Connection, Unanswered> {
        let address = (self.base_url.host.as_str(), self.base_url.port);
        let stream = TcpStream::connect(address).await.map_err(Unanswered::Nobody)?;
        let peer = stream.peer_addr().map_err(Unanswered::Nobody)?;
        let http = http_client::Connection::over(stream).await.map_err(Unanswered::Broken)?;
        Ok(Connection { http, peer })
    }

    /// Has the server at the other end prove that it runs in our data folder. No key is sent for that.
    pub(super) async fn prove(&self, connection: &mut Connection) -> Result<(), Unanswered> {
        let secret = self.run_secret.read().map(RunSecret::new).ok_or(Unanswered::NotProven)?;
        let nonce = Nonce::random().map_err(|_| Unanswered::NotProven)?;
        let uri = format!("{IDENTITY_PATH}?{}", nonce.to_query());
        let request = self.request().uri(uri).body(Full::default());
        let request = request.map_err(|_| Unanswered::NotProven)?;
        let asking = async {
            let text = read_text(connection.send(request).await.ok()?.into_body()).await.ok()?;
            serde_json::from_str::<Identity>(&text).ok()
        };
        let answer = tokio::time::timeout(PROVED_WITHIN, asking).await;
        match answer {
            Ok(Some(Identity { proof })) if secret.is_proof(&proof, &nonce, connection.peer) => {
                Ok(())
            }
            _ => Err(Unanswered::NotProven),
        }
    }
}

// === impl Connection ===

impl Connection {
    /// Sends a request as it is, and returns the beginning of its answer.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, Unanswered> {
        self.http.send(request).await.map_err(Unanswered::Broken)
    }
}

/// The whole text of an answer.
pub(crate) async fn read_text(
    body: Incoming,
) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
    let body = Limited::new(body, LONGEST_ANSWER).collect().await?;
    Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
}
