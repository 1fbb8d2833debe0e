//! One image: what is asked, what is taken, and where it may come from.

use tokio::net::TcpListener;

use super::origin::{Origin, ok, redirect};
use super::{FetchError, PNG, PNG_DATA, fetched};
use crate::remote_images::{ImageFetcher, MAX_REDIRECTS};

const PLENTY: usize = 1024 * 1024;

async fn answered(answer: impl Into<Vec<u8>>) -> Result<String, FetchError> {
    let origin = Origin::start(answer).await;
    fetched(&origin.url("/a.png"), PLENTY).await
}

fn chunked(chunks: &[&[u8]]) -> Vec<u8> {
    let mut answer = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
    for chunk in chunks {
        answer.extend(format!("{:x}\r\n", chunk.len()).bytes());
        answer.extend_from_slice(chunk);
        answer.extend(b"\r\n");
    }
    answer
}

#[tokio::test]
async fn an_image_is_taken_however_it_is_sent_and_called() {
    let until_closed = [b"HTTP/1.1 200 OK\r\n\r\n", PNG].concat();
    for answer in [
        ok("image/png", PNG),
        ok("application/octet-stream", PNG),
        ok("text/html", PNG),
        chunked(&[&PNG[..3], &PNG[3..], b""]),
        until_closed,
    ] {
        assert_eq!(answered(answer).await, Ok(PNG_DATA.to_owned()));
    }
}

#[tokio::test]
async fn nothing_of_ours_is_sent_along() {
    let origin = Origin::start(ok("image/png", PNG)).await;
    let url = format!("http://localhost:{}/a%20b?c=d#e", origin.address.port());
    assert_eq!(fetched(&url, PLENTY).await, Ok(PNG_DATA.to_owned()));
    let head = format!(
        "GET /a%20b?c=d HTTP/1.1\r\nhost: localhost:{}\r\nuser-agent: codex-completions/{}\r\n\
         accept: image/png, image/jpeg, image/gif, image/webp\r\nconnection: close\r\n\r\n",
        origin.address.port(),
        env!("CARGO_PKG_VERSION")
    );
    assert_eq!(origin.requests(), [head]);
}

#[tokio::test]
async fn what_is_no_whole_image_is_refused() {
    let short = "HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n";
    let endless_head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(1024 * 1024));
    for (answer, error) in [
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".into(), FetchError::Status(404)),
        ("HTTP/1.1 204 No Content\r\n\r\n".into(), FetchError::Status(204)),
        (ok("image/png", b"<!doctype html><p>Sign in!"), FetchError::NotAnImage),
        (ok("image/png", b""), FetchError::NotAnImage),
        ([short.as_bytes(), PNG].concat(), FetchError::Broken),
        (chunked(&[PNG]), FetchError::Broken),
        (b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), FetchError::Broken),
        (Vec::new(), FetchError::Broken),
        (endless_head.into(), FetchError::Broken),
    ] {
        let words = String::from_utf8_lossy(&answer[..answer.len().min(80)]).into_owned();
        assert_eq!(answered(answer).await, Err(error), "{words}");
    }
}

#[tokio::test]
async fn an_image_may_be_as_large_as_there_is_room() {
    let origin = Origin::start(ok("image/png", PNG)).await;
    let url = origin.url("/");
    assert_eq!(fetched(&url, PNG.len()).await, Ok(PNG_DATA.to_owned()));
    assert_eq!(fetched(&url, PNG.len() - 1).await, Err(FetchError::TooLarge));
    // However much more would come.
    let endless = Origin::hanging([b"HTTP/1.1 200 OK\r\n\r\n", PNG, &[0; 9_000]].concat()).await;
    assert_eq!(fetched(&endless.url("/"), 5_000).await, Err(FetchError::TooLarge));
}

#[tokio::test]
async fn redirects_are_followed() {
    let image = Origin::start(ok("image/png", PNG)).await;
    for status in [301, 302, 303, 307, 308] {
        let elsewhere = redirect(status, &image.url("/there?x=y"));
        assert_eq!(answered(elsewhere).await, Ok(PNG_DATA.to_owned()), "{status}");
    }
    assert!(image.requests()[0].starts_with("GET /there?x=y HTTP/1.1\r\n"));
}

#[tokio::test]
async fn redirects_come_to_an_end() {
    let origin = Origin::start(redirect(302, "../again")).await;
    assert_eq!(fetched(&origin.url("/"), PLENTY).await, Err(FetchError::TooManyRedirects));
    assert_eq!(origin.requests().len(), MAX_REDIRECTS + 1);
    assert_eq!(answered("HTTP/1.1 302 x\r\n\r\n").await, Err(FetchError::InvalidRedirect));
    assert_eq!(answered("HTTP/1.1 304 x\r\n\r\n").await, Err(FetchError::Status(304)));
}

/// Every hop is checked, and by its address: names say nothing.
#[tokio::test]
async fn redirects_lead_nowhere_else_than_addresses_do() {
    let secret = Origin::start(ok("image/png", PNG)).await;
    let port = secret.address.port();
    for (location, error) in [
        (format!("http://127.0.0.2:{port}/"), FetchError::NotPublic),
        (format!("http://[::1]:{port}/"), FetchError::NotPublic),
        (format!("http://[::ffff:127.0.0.1]:{port}/"), FetchError::NotPublic),
        (format!("http://0.0.0.0:{port}/"), FetchError::NotPublic),
        (format!("http://2130706434:{port}/"), FetchError::NotPublic),
        ("http://169.254.169.254/latest/meta-data/".to_owned(), FetchError::NotPublic),
        ("file:///etc/passwd".to_owned(), FetchError::Scheme),
        (format!("http://me:secret@127.0.0.1:{port}/"), FetchError::Credentials),
    ] {
        assert_eq!(answered(redirect(302, &location)).await, Err(error), "{location}");
        assert_eq!(fetched(&location, PLENTY).await, Err(error), "{location}");
    }
    assert_eq!(secret.requests(), <[&str; 0]>::default());
}

#[tokio::test]
async fn this_machine_is_out_of_reach() {
    let secret = Origin::start(ok("image/png", PNG)).await;
    let port = secret.address.port();
    for host in ["127.0.0.1", "localhost", "LOCALHOST.", "127.1", "0x7f.0.0.1", "[::1]", "0"] {
        let url = format!("http://{host}:{port}/");
        let room = super::Room(PLENTY.into());
        let found = ImageFetcher::new().follow(&url, &room).await;
        // Not every system knows every way to write an address.
        let out_of_reach = [FetchError::NotPublic, FetchError::UnknownHost];
        assert!(
            found.as_ref().is_err_and(|error| out_of_reach.contains(error)),
            "{host}: {found:?}"
        );
    }
    assert_eq!(secret.requests(), <[&str; 0]>::default());
}

#[tokio::test]
async fn hosts_that_are_not_there() {
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    assert_eq!(fetched(&format!("http://{free}/"), PLENTY).await, Err(FetchError::Unreachable));
    let impossible = format!("http://{}/", "a".repeat(64));
    assert_eq!(fetched(&impossible, PLENTY).await, Err(FetchError::UnknownHost));
}
