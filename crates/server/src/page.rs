//! The page for people: files that are part of the binary. They are public, and hold nothing; what the
//! page shows comes from [`crate::control`], which needs the owner's key.

use std::sync::OnceLock;

use axum::Router;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};
use sha2::{Digest as _, Sha256};

/// Where the page and its files are.
pub(crate) const PATHS: [&str; 2] = ["/", "/page/{file}"];

/// As for every answer; and whatever should be smuggled into the page, it could neither send a form
/// nor turn our own addresses into somebody else's.
const POLICY: &str =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// One of the page's files.
struct File {
    name: &'static str,
    bytes: &'static [u8],
    /// What it is, as long as it is the same.
    tag: OnceLock<HeaderValue>,
}

macro_rules! files {
    ($($name:literal),+ $(,)?) => {
        [$(File {
            name: $name,
            bytes: include_bytes!(concat!("../page/", $name)),
            tag: OnceLock::new(),
        }),+]
    };
}

/// The first one is the page itself.
static ALL: [File; 40] = files![
    "index.html",
    "account.js",
    "answer-parts.js",
    "answer-view.js",
    "api.js",
    "app.js",
    "catalog.js",
    "client-settings.js",
    "clients.js",
    "confirm.js",
    "controls.css",
    "copy.js",
    "curl.js",
    "dom.js",
    "event-stream.js",
    "favicon.svg",
    "frames.js",
    "icons.svg",
    "key-form.js",
    "limits.js",
    "live.js",
    "models.js",
    "notes.css",
    "overview.js",
    "playground.css",
    "playground.js",
    "reasons.js",
    "request-form.js",
    "session.js",
    "settings.js",
    "sign-in.js",
    "style.css",
    "theme.js",
    "tokens.css",
    "tools-json.js",
    "turn-parts.js",
    "turns.css",
    "turns.js",
    "views.css",
    "words.js",
];

pub(crate) fn routes() -> Router {
    let page = Router::new().route("/", ALL[0].route());
    ALL.iter()
        .fold(page, |router, file| router.route(&format!("/page/{}", file.name), file.route()))
}

/// Browsers ask each time whether it is still the same, so that a new version is seen at once.
fn tag(bytes: &[u8]) -> HeaderValue {
    let digest =
        Sha256::digest(bytes).iter().fold(0_u64, |tag, &byte| tag.rotate_left(8) ^ u64::from(byte));
    HeaderValue::try_from(format!("\"{digest:016x}\"")).unwrap_or(HeaderValue::from_static("\"\""))
}

// === impl File ===

impl File {
    fn route(&'static self) -> MethodRouter {
        get(async |asked: HeaderMap| self.answer(&asked))
    }

    fn answer(&self, asked: &HeaderMap) -> Response {
        let tag = self.tag.get_or_init(|| tag(self.bytes));
        let is_known = asked.get(header::IF_NONE_MATCH) == Some(tag);
        let mut response = if is_known {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            self.bytes.into_response()
        };
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type()));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::ETAG, tag.clone());
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        response
    }

    fn content_type(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "html")) => "text/html; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_folder_is_served_under_a_type_that_browsers_know() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
        let mut there: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        there.sort();
        let mut served: Vec<_> = ALL.iter().map(|file| file.name).collect();
        served.sort_unstable();
        assert_eq!(served, there);
        for file in &ALL {
            assert_ne!(file.content_type(), "application/octet-stream", "{}", file.name);
        }
        assert_eq!(ALL[0].name, "index.html");
    }

    #[test]
    fn a_file_that_a_browser_has_is_not_sent_again() {
        let first = ALL[0].answer(&HeaderMap::new());
        assert_eq!(first.status(), StatusCode::OK);
        let tag = first.headers()[header::ETAG].clone();
        let again = HeaderMap::from_iter([(header::IF_NONE_MATCH, tag.clone())]);
        let again = ALL[0].answer(&again);
        assert_eq!(
            (again.status(), &again.headers()[header::ETAG]),
            (StatusCode::NOT_MODIFIED, &tag)
        );
        let other =
            HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static("\"x\""))]);
        assert_eq!(ALL[0].answer(&other).status(), StatusCode::OK);
    }
}
