//! One request, and its whole answer.

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::{HeaderMap, Method, Request, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_util::task::TaskTracker;

use super::mismatch::Mismatch;
use crate::cli;
use crate::target::Target;

/// The longest answer that is read; right ones are far shorter.
const LONGEST_ANSWER: usize = 1024 * 1024;

/// An answer, read to its end.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    headers: HeaderMap,
    pub(super) body: String,
}

/// Something to ask for.
pub(super) enum Asked {
    /// `GET` of a path.
    Path(&'static str),
    /// A chat completion.
    Chat { output_mode: &'static str, body: Value },
}

pub(super) async fn ask(target: &Target, asked: Asked) -> Result<Answer, Mismatch> {
    let url = &target.base_url;
    let stream = TcpStream::connect((url.host.as_str(), url.port)).await.map_err(|error| {
        let found = format!("none ({error}); `{} serve` starts a server", cli::program());
        no_answer(target, &found)
    })?;
    let failed = |error: hyper::Error| no_answer(target, &format!("a broken one ({error})"));
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(failed)?;
    // What goes wrong on the connection is told by the request, too.
    TaskTracker::new().spawn(connection);
    let request = request(target, asked)?;
    let (head, body) = sender.send_request(request).await.map_err(failed)?.into_parts();
    let body = Limited::new(body, LONGEST_ANSWER).collect().await;
    let body = body.map_err(|error| no_answer(target, &format!("a broken one ({error})")))?;
    Ok(Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: String::from_utf8_lossy(&body.to_bytes()).into_owned(),
    })
}

fn request(target: &Target, asked: Asked) -> Result<Request<Full<Bytes>>, Mismatch> {
    let mut request = Request::builder().header(header::HOST, &target.base_url.authority);
    if let Some(authorization) = target.authorization() {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    let request = match asked {
        Asked::Path(path) => request.uri(target.base_url.path_of(path)).body(Full::default()),
        Asked::Chat { output_mode, body } => request
            .method(Method::POST)
            .uri(target.base_url.path_of("/chat/completions"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-proxy-output-mode", output_mode)
            .body(body.to_string().into()),
    };
    // Of what we write into it, only the key can be unfit for a header.
    request.map_err(|_| Mismatch::new("key", "visible ASCII characters", "others"))
}

fn no_answer(target: &Target, found: &str) -> Mismatch {
    Mismatch::new("answer", format!("one from {}", target.base_url), found)
}

// === impl Answer ===

impl Answer {
    /// The status must be 200; what else it is, is told in the server's own words.
    pub(super) fn check_status(&self) -> Result<(), Mismatch> {
        if self.status == 200 {
            return Ok(());
        }
        let body: Option<Value> = serde_json::from_str(&self.body).ok();
        let message = body.as_ref().and_then(|body| body["error"]["message"].as_str());
        let found = format!("{}: {}", self.status, message.unwrap_or(self.body.trim()));
        Err(Mismatch::new("status", "200", found))
    }

    /// A header's value; empty if it is not there.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
