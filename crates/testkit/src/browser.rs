//! The user's browser, as far as a login needs one.

use axum::http::Uri;

use crate::http::{Connection, Gone, Head};

/// Most redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// What a browser shows in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The URL, after all redirects.
    pub url: String,
    /// The status.
    pub status: u16,
    /// The text.
    pub text: String,
}

/// Opens a page of plain HTTP, and follows redirects.
///
/// # Panics
/// If nobody answers, or not in HTTP.
#[allow(clippy::panic, reason = "a test without its browser cannot go on")]
pub async fn browse(url: &str) -> Page {
    let mut url = url.to_owned();
    for _ in 0..=MAX_REDIRECTS {
        let (head, text) = get(&url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
        let status = head.status;
        let location = head.header("location").map(str::to_owned);
        match location {
            Some(location) if (300..400).contains(&status) => url = location,
            _ => return Page { url, status, text },
        }
    }
    panic!("too many redirects, the last one to {url}")
}

async fn get(url: &str) -> Result<(Head, String), Gone> {
    let unusable = || Gone::Cut("not a whole URL".to_owned());
    let parsed: Uri = url.parse().map_err(|_| unusable())?;
    let host = parsed.authority().ok_or_else(unusable)?.as_str();
    let path = parsed.path_and_query().ok_or_else(unusable)?.as_str();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let mut connection = Connection::open_with(host, request.as_bytes()).await?;
    let head = connection.head().await?;
    Ok((head, String::from_utf8_lossy(&connection.whole().await?).into_owned()))
}
