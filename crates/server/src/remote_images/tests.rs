//! Images of a real server on this machine.

mod hops;
mod https;
mod origin;
mod requests;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::AtomicUsize;

use super::failure::FetchError;
use super::{ImageFetcher, Room};

/// An image as far as anybody looks here.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n....";

/// The same as a data URL.
const PNG_DATA: &str = "data:image/png;base64,iVBORw0KGgouLi4u";

/// Takes one address of this machine for public, and no other.
fn fetcher() -> ImageFetcher {
    ImageFetcher::connecting_to(|address| address == IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// An image of at most `most` bytes.
async fn fetched(url: &str, most: usize) -> Result<String, FetchError> {
    fetcher().follow(url, &Room(AtomicUsize::new(most))).await
}
