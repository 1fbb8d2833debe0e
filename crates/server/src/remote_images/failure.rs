//! Why an image could not be fetched.

use bridge::ImageToFetch;
use openai_wire::{ApiError, ErrorType};

use super::data_url::NotAnImage;

/// Why an image could not be fetched. The words neither repeat the address, which may hold a
/// secret, nor anything that came from there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum FetchError {
    #[error("its address is not valid: special characters must be percent-encoded")]
    InvalidUrl,
    #[error("its address, or one that it redirects to, is neither http nor https")]
    Scheme,
    #[error("its address, or one that it redirects to, has a user name or a password")]
    Credentials,
    #[error("its host, or one that it redirects to, is not known")]
    UnknownHost,
    #[error(
        "its host, or one that it redirects to, has no public address, and images are fetched \
         neither from this machine nor from private networks"
    )]
    NotPublic,
    #[error("its host cannot be reached")]
    Unreachable,
    #[error("its host has no certificate for that name that is trusted here")]
    Untrusted,
    #[error("its host answered with status {0}")]
    Status(u16),
    #[error("it redirects to an address that is not valid")]
    InvalidRedirect,
    #[error("it redirects more than {} times", super::MAX_REDIRECTS)]
    TooManyRedirects,
    #[error("it did not come to its end")]
    Broken,
    #[error("it did not come within {} seconds", super::WITHIN.as_secs())]
    TooSlow,
    #[error(
        "it and the other images of the request did not come within {} seconds",
        super::ALL_WITHIN.as_secs()
    )]
    AllTooSlow,
    #[error("the request with all its images as data is larger than PROXY_MAX_BODY_BYTES allows")]
    TooLarge,
    #[error("it is no PNG, JPEG, GIF or WebP")]
    NotAnImage,
    #[error("there are no root certificates on the server's machine")]
    NoRoots,
}

// === impl FetchError ===

impl FetchError {
    /// The error as the client is told.
    pub(super) fn about(self, image: &ImageToFetch) -> ApiError {
        let message = format!("The image could not be fetched: {self}.");
        if self == Self::NoRoots {
            return ApiError::new(500, ErrorType::ServerError, message);
        }
        ApiError::invalid(&image.place, message).with_code("invalid_image_url")
    }
}

impl From<NotAnImage> for FetchError {
    fn from(_: NotAnImage) -> Self {
        Self::NotAnImage
    }
}
