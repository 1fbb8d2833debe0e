//! Whether a server runs where the settings say.

use std::time::Duration;

use configuration::Listen;
use hyper::{StatusCode, header};
use serde::Deserialize;

use super::request::{Unanswered, read_text};
use super::{BaseUrl, Target, TargetError};

/// A server on this machine that runs answers at once.
const WITHIN: Duration = Duration::from_secs(1);

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

/// The server that would be of these settings, without its key.
///
/// # Errors
/// If the settings do not tell its port.
pub(crate) fn target_of(listen: Listen) -> Result<Target, TargetError> {
    Ok(Target { base_url: BaseUrl::of(listen)?, key: None })
}

// === impl Running ===

impl Running {
    pub(crate) async fn at(target: &Target) -> Self {
        let looking = async {
            let answer = match target.get(&target.base_url.beside("/readyz")).await {
                Ok(answer) => answer,
                Err(Unanswered::Nobody(_)) => return Self::Nobody,
                Err(_) => return Self::SomebodyElse,
            };
            let text = read_text(answer.into_body()).await.unwrap_or_default();
            match serde_json::from_str(&text) {
                Ok(Readiness { ready: true, .. }) => Self::Ours { unready: None },
                Ok(Readiness { reason, .. }) => {
                    Self::Ours { unready: Some(reason.unwrap_or_default()) }
                }
                Err(_) => Self::SomebodyElse,
            }
        };
        tokio::time::timeout(WITHIN, looking).await.unwrap_or(Self::SomebodyElse)
    }
}

/// Whether a server of ours takes the key that these settings lead to.
pub(crate) async fn takes_key(target: &Target) -> bool {
    let path = target.base_url.path_of("/models");
    let looking = target.get(&path);
    let Ok(Ok(answer)) = tokio::time::timeout(WITHIN, looking).await else { return true };
    answer.status() != StatusCode::UNAUTHORIZED
}

/// Whether the page is there.
pub(crate) async fn page_answers(target: &Target) -> bool {
    let path = target.base_url.beside("/");
    let looking = target.get(&path);
    let Ok(Ok(answer)) = tokio::time::timeout(WITHIN, looking).await else { return false };
    let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    answer.status() == StatusCode::OK && kind.is_some_and(|kind| kind.starts_with("text/html"))
}
