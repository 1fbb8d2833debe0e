//! All images of a request, and what the client is told.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bridge::ImageToFetch;
use openai_wire::{ApiError, ErrorType};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::origin::{Origin, ok};
use super::{FetchError, PNG, PNG_DATA, fetcher};
use crate::remote_images::{AT_ONCE, MAX_IMAGES};

const PLENTY: usize = 1024 * 1024;

fn images(urls: impl IntoIterator<Item = String>) -> Vec<ImageToFetch> {
    let image = |(index, url)| ImageToFetch { place: format!("messages[0].content[{index}]"), url };
    urls.into_iter().enumerate().map(image).collect()
}

fn told(index: usize, error: FetchError) -> ApiError {
    ApiError {
        param: Some(format!("messages[0].content[{index}]")),
        code: Some("invalid_image_url".into()),
        ..ApiError::new(
            400,
            ErrorType::InvalidRequestError,
            format!("The image could not be fetched: {error}."),
        )
    }
}

#[tokio::test]
async fn images_keep_their_order() {
    let png = Origin::start(ok("image/png", PNG)).await;
    let gif = Origin::start(ok("image/gif", b"GIF89a......")).await;
    let urls = [&png, &gif, &png].map(|origin| origin.url("/"));
    let gif_data = "data:image/gif;base64,R0lGODlhLi4uLi4u";
    let found = fetcher().fetch(&images(urls), PLENTY).await;
    assert_eq!(found.unwrap(), [PNG_DATA, gif_data, PNG_DATA]);
    assert_eq!(fetcher().fetch(&[], 0).await, Ok(Vec::new()));
}

#[tokio::test]
async fn the_client_is_told_which_image_it_is_and_nothing_else() {
    let png = Origin::start(ok("image/png", PNG)).await;
    let page = Origin::start(ok("text/html", b"the-page-of-somebody-else")).await;
    let urls = [png.url("/"), page.url("/?sig=canary")];
    let error = fetcher().fetch(&images(urls), PLENTY).await.unwrap_err();
    assert_eq!(error, told(1, FetchError::NotAnImage));
    assert_eq!(error.message, "The image could not be fetched: it is no PNG, JPEG, GIF or WebP.");
}

/// As data URLs they would share the body of the request.
#[tokio::test]
async fn images_share_the_room_of_their_request() {
    let origin = Origin::start(ok("image/png", PNG)).await;
    let two = images([origin.url("/1"), origin.url("/2")]);
    // As many characters as the images have in base64.
    let both = 2 * PNG.len() / 3 * 4;
    assert_eq!(fetcher().fetch(&two, both).await.unwrap(), [PNG_DATA, PNG_DATA]);
    let error = fetcher().fetch(&two, both - 4).await.unwrap_err();
    assert!([0, 1].map(|index| told(index, FetchError::TooLarge)).contains(&error), "{error:?}");
    assert!(error.message.contains("PROXY_MAX_BODY_BYTES"));
}

#[tokio::test]
async fn too_many_images_are_not_even_asked_for() {
    let origin = Origin::start(ok("image/png", PNG)).await;
    let urls = |count| images((0..count).map(|index| origin.url(&format!("/{index}"))));
    let error = fetcher().fetch(&urls(MAX_IMAGES + 1), PLENTY).await.unwrap_err();
    let message = "At most 32 images of a request may be named by their address. Send the others \
                   as data URLs.";
    assert_eq!(error, ApiError::invalid("messages[0].content[32]", message));
    assert_eq!(origin.requests(), <[&str; 0]>::default());
    let found = fetcher().fetch(&urls(MAX_IMAGES), PLENTY).await;
    assert_eq!(found.unwrap(), [PNG_DATA; MAX_IMAGES]);
}

/// Answers only when as many requests are there as may be, and counts them.
#[tokio::test]
async fn a_few_images_are_fetched_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let most = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&most);
    let mut origin = JoinSet::new();
    origin.spawn(async move {
        let (barrier, now) = (Arc::new(Barrier::new(AT_ONCE)), Arc::new(AtomicUsize::new(0)));
        let mut connections = JoinSet::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let (barrier, now) = (Arc::clone(&barrier), Arc::clone(&now));
            counted.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            connections.spawn(async move {
                let _ = stream.read_u8().await;
                barrier.wait().await;
                now.fetch_sub(1, Ordering::SeqCst);
                stream.write_all(&ok("image/png", PNG)).await
            });
        }
    });
    let urls = images((0..2 * AT_ONCE).map(|index| format!("http://{address}/{index}")));
    assert_eq!(fetcher().fetch(&urls, PLENTY).await.unwrap(), [PNG_DATA; 2 * AT_ONCE]);
    assert_eq!(most.load(Ordering::SeqCst), AT_ONCE);
}

#[tokio::test]
async fn a_host_that_hangs_is_not_waited_for() {
    for answer in ["", "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n\u{89}PN"] {
        let mut origin = Origin::hanging(answer).await;
        let images = images([origin.url("/")]);
        let fetcher = fetcher();
        let fetching = fetcher.fetch(&images, PLENTY);
        // From then on time passes as soon as nothing else happens.
        let (found, ()) = tokio::join!(fetching, async {
            origin.answered().await;
            tokio::time::pause();
        });
        assert_eq!(found, Err(told(0, FetchError::TooSlow)));
        tokio::time::resume();
    }
}
