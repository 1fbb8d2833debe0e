//! Images that a request names by their address. Codex takes none, so they are fetched here.
//!
//! Whoever may send a request must not reach with it what only this machine reaches: every address,
//! after each redirect too, must be a public one, and the very address that was checked is connected
//! to. Nothing of ours is sent along, and nothing of an answer but an image is shown to anybody.

mod address;
mod data_url;
mod failure;
mod hop;
mod target;
mod tls;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bridge::ImageToFetch;
use futures_util::future::try_join_all;
use openai_wire::ApiError;
use tokio::sync::{OnceCell, Semaphore};
use tokio_rustls::TlsConnector;

use address::is_public;
use failure::FetchError;
use hop::Hop;
use target::Target;

/// Most images of a request that are fetched.
const MAX_IMAGES: usize = 32;

/// How many images of a request are fetched at once.
const AT_ONCE: usize = 4;

/// How many images are fetched at once for all requests, because each has a socket.
const AT_ONCE_FOR_ALL: usize = 64;

/// Time limit of an image, from its name to its last byte.
const WITHIN: Duration = Duration::from_secs(10);

/// Time limit of all images of a request.
const ALL_WITHIN: Duration = Duration::from_secs(30);

/// How many names are looked up at once, because each occupies a thread until the system gives up,
/// whoever still waits for it.
const LOOKUPS_AT_ONCE: usize = 16;

/// How often an address may lead to another one.
const MAX_REDIRECTS: usize = 5;

/// Fetches images.
pub struct ImageFetcher {
    /// Which addresses may be connected to.
    may_connect: fn(IpAddr) -> bool,
    /// What makes connections for `https`, from the first one on.
    tls: OnceCell<TlsConnector>,
    /// Places for the images of all requests.
    places: Semaphore,
    lookups: Arc<Semaphore>,
}

/// How many bytes the images of a request may still have.
struct Room(AtomicUsize);

// === impl ImageFetcher ===

impl ImageFetcher {
    /// Fetches from public addresses only.
    pub fn new() -> Self {
        Self::connecting_to(is_public)
    }

    /// Fetches from the addresses for which `may_connect` is true.
    pub fn connecting_to(may_connect: fn(IpAddr) -> bool) -> Self {
        Self {
            may_connect,
            tls: OnceCell::new(),
            places: Semaphore::new(AT_ONCE_FOR_ALL),
            lookups: Arc::new(Semaphore::new(LOOKUPS_AT_ONCE)),
        }
    }

    /// All of these images as data URLs, together of about `most_bytes` at most.
    pub(crate) async fn fetch(
        &self,
        images: &[ImageToFetch],
        most_bytes: usize,
    ) -> Result<Vec<String>, ApiError> {
        if let Some(image) = images.get(MAX_IMAGES) {
            return Err(too_many(image));
        }
        // Three bytes are four characters of base64.
        let room = Room(AtomicUsize::new(most_bytes / 4 * 3));
        let places = Semaphore::new(AT_ONCE);
        let all = try_join_all(images.iter().map(|image| self.fetch_one(image, &room, &places)));
        let all = tokio::time::timeout(ALL_WITHIN, all).await;
        // The first one stands for all of them.
        all.unwrap_or_else(|_| {
            let first = images.first().map(|image| FetchError::AllTooSlow.about(image));
            first.map_or(Ok(Vec::new()), Err)
        })
    }

    async fn fetch_one(
        &self,
        image: &ImageToFetch,
        room: &Room,
        places: &Semaphore,
    ) -> Result<String, ApiError> {
        let _place = places.acquire().await;
        let _place_of_all = self.places.acquire().await;
        let fetched = tokio::time::timeout(WITHIN, self.follow(&image.url, room)).await;
        fetched.unwrap_or(Err(FetchError::TooSlow)).map_err(|error| error.about(image))
    }

    async fn follow(&self, url: &str, room: &Room) -> Result<String, FetchError> {
        let mut target = Target::parse(url)?;
        for _ in 0..=MAX_REDIRECTS {
            match self.get(&target, room).await? {
                Hop::Image(data_url) => return Ok(data_url),
                Hop::Redirect(next) => target = next,
            }
        }
        Err(FetchError::TooManyRedirects)
    }
}

impl Default for ImageFetcher {
    fn default() -> Self {
        Self::new()
    }
}

fn too_many(image: &ImageToFetch) -> ApiError {
    let message = format!(
        "At most {MAX_IMAGES} images of a request may be named by their address. Send the others \
         as data URLs."
    );
    ApiError::invalid(&image.place, message)
}

// === impl Room ===

impl Room {
    fn take(&self, bytes: usize) -> Result<(), FetchError> {
        let less = |room: usize| room.checked_sub(bytes);
        let taken = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.map(|_| ()).map_err(|_| FetchError::TooLarge)
    }
}

#[cfg(test)]
mod tests;
