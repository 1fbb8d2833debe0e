//! The user's browser, as far as a login needs one.

use std::io;

use axum::http::Uri;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

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
#[allow(clippy::expect_used, clippy::panic, reason = "a test without its browser cannot go on")]
pub async fn browse(url: &str) -> Page {
    let mut url = url.to_owned();
    for _ in 0..=MAX_REDIRECTS {
        let answer = get(&url).await.unwrap_or_else(|error| panic!("{url}: {error}"));
        let (head, text) = answer.split_once("\r\n\r\n").expect("a head and a body");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status: u16 = status.expect("a status");
        let location = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("location").then(|| value.to_owned())
        });
        match location {
            Some(location) if (300..400).contains(&status) => url = location,
            _ => return Page { url, status, text: text.to_owned() },
        }
    }
    panic!("too many redirects, the last one to {url}")
}

async fn get(url: &str) -> io::Result<String> {
    let unusable = || io::Error::other("not a whole URL");
    let parsed: Uri = url.parse().map_err(io::Error::other)?;
    let host = parsed.authority().ok_or_else(unusable)?.as_str();
    let path = parsed.path_and_query().ok_or_else(unusable)?.as_str();
    let mut connection = TcpStream::connect(host).await?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    connection.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
