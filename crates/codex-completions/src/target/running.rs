//! Whether a server runs where the settings say.

use std::time::Duration;

use http_body_util::Full;
use hyper::{Method, StatusCode, header};
use serde::Deserialize;

use super::Target;
use super::request::{Unanswered, read_text};
use crate::greeting::page_link;

/// A server on this machine that runs answers at once.
const WITHIN: Duration = Duration::from_secs(5);

/// Who answers at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Running {
    /// Nobody.
    Nobody,
    /// Somebody who is not a server of ours, or does not answer.
    SomebodyElse,
    /// A server of ours.
    Ours {
        /// Why it serves no turns at the moment; `None` if it does.
        unready: Option<String>,
    },
}

/// What `/readyz` tells.
#[derive(Deserialize)]
struct Readiness {
    ready: bool,
    reason: Option<String>,
}

/// What `/v1/proxy/code` answers.
#[derive(Deserialize)]
struct Code {
    code: String,
    page: Option<String>,
}

// === impl Running ===

impl Running {
    pub(crate) async fn at(target: &Target) -> Self {
        let looking = async {
            match readiness(target).await {
                Ok(Readiness { ready: true, .. }) => Self::Ours { unready: None },
                Ok(Readiness { reason, .. }) => {
                    Self::Ours { unready: Some(reason.unwrap_or_default()) }
                }
                Err(Unanswered::Nobody(_)) => Self::Nobody,
                Err(_) => Self::SomebodyElse,
            }
        };
        tokio::time::timeout(WITHIN, looking).await.unwrap_or(Self::SomebodyElse)
    }
}

/// What a server answers that has proved to be ours. It needs no key for that.
async fn readiness(target: &Target) -> Result<Readiness, Unanswered> {
    let mut connection = target.connect().await?;
    target.prove(&mut connection).await?;
    let request = target.request().uri(target.base_url.beside("/readyz")).body(Full::default());
    let answer = connection.send(request.map_err(|_| Unanswered::NotProven)?).await?;
    let text = read_text(answer.into_body()).await.unwrap_or_default();
    serde_json::from_str(&text).map_err(|_| Unanswered::NotProven)
}

/// Whether a server of ours takes the key that these settings lead to.
pub(crate) async fn takes_key(target: &Target) -> bool {
    let path = target.base_url.path_of("/models");
    let looking = target.get(&path);
    let Ok(Ok(answer)) = tokio::time::timeout(WITHIN, looking).await else { return true };
    answer.status() != StatusCode::UNAUTHORIZED
}

/// A link that opens the page of a server of ours.
pub(crate) async fn link_to_page(target: &Target) -> Option<String> {
    let request = target.request().method(Method::POST).uri(target.base_url.path_of("/proxy/code"));
    let asking = target.send(request.body(Full::default()).ok()?);
    let answer = tokio::time::timeout(WITHIN, asking).await.ok()?.ok()?;
    let text = read_text(answer.into_body()).await.ok()?;
    let Code { code, page } = serde_json::from_str(&text).ok()?;
    Some(page_link(&page.unwrap_or_else(|| target.base_url.page()), &code))
}

/// Whether the page is there.
pub(crate) async fn page_answers(target: &Target) -> bool {
    let path = target.base_url.beside("/");
    let looking = target.get(&path);
    let Ok(Ok(answer)) = tokio::time::timeout(WITHIN, looking).await else { return false };
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    answer.status() == StatusCode::OK && kind.is_some_and(|kind| kind.starts_with("text/html"))
}
