//! One request, and its whole answer.

use bytes::Bytes;
use conformance::reading::Mismatch;
use http_body_util::Full;
use hyper::{HeaderMap, Method, Request, header};
use serde_json::Value;

use crate::cli;
use crate::target::{Target, Unanswered, read_text};

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
    let request = request(target, asked)?;
    let (head, body) =
        target.send(request).await.map_err(|error| unanswered(target, &error))?.into_parts();
    let broken = |error| no_answer(target, &format!("a broken one ({error})"));
    Ok(Answer {
        status: head.status.as_u16(),
        headers: head.headers,
        body: read_text(body).await.map_err(broken)?,
    })
}

fn request(target: &Target, asked: Asked) -> Result<Request<Full<Bytes>>, Mismatch> {
    let request = target.request();
    let request = match asked {
        Asked::Path(path) => request.uri(target.base_url.path_of(path)).body(Full::default()),
        Asked::Chat { output_mode, body } => request
            .method(Method::POST)
            .uri(target.base_url.path_of("/chat/completions"))
            .header(header::CONTENT_TYPE, "application/json")
            .header("x-proxy-output-mode", output_mode)
            .body(body.to_string().into()),
    };
    request.map_err(|_| unanswered(target, &Unanswered::UnfitKey))
}

fn unanswered(target: &Target, error: &Unanswered) -> Mismatch {
    match error {
        Unanswered::Nobody(error) => {
            let found = format!("none ({error}); `{} serve` starts a server", cli::program());
            no_answer(target, &found)
        }
        Unanswered::Broken(error) => no_answer(target, &format!("a broken one ({error})")),
        Unanswered::NotProven => no_answer(target, &error.to_string()),
        Unanswered::UnfitKey => Mismatch::new("key", "visible ASCII characters", "others"),
    }
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
        Err(Mismatch::new("status", "200", &found))
    }

    /// A header's value; empty if it is not there.
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}
