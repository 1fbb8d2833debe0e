//! How many pixels a request may show. Codex decodes every image, and an image of a few kilobytes may
//! be one of gigabytes then.

use openai_wire::ApiError;

use super::image_size::{Measured, Size, measure};

/// Most pixels of an image.
const MAX_OF_AN_IMAGE: u64 = 50_000_000;

/// Most pixels of all images of a request.
const MAX_OF_A_REQUEST: u64 = 100_000_000;

/// The pixels of the images that a request has shown so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Pixels(u64);

// === impl Pixels ===

impl Pixels {
    /// Adds those of an image at this place in the request.
    pub(super) fn add(&mut self, data_url: &str, place: &str) -> Result<(), ApiError> {
        let base64 = data_url.split_once(',').map_or("", |(_, base64)| base64);
        let size = match measure(base64) {
            Measured::Size(size) => size,
            Measured::NoImage => return Ok(()),
            Measured::Unclear => return Err(unclear(place)),
        };
        let pixels = size.pixels();
        if pixels > MAX_OF_AN_IMAGE {
            let Size { width, height, profile } = size;
            let with_profile = match profile {
                0 => String::new(),
                _ => format!(" with its packed colour profile of {profile} bytes"),
            };
            let message = format!(
                "The image of {width} x {height}{with_profile} counts as {pixels} pixels. At most \
                 {MAX_OF_AN_IMAGE} are allowed."
            );
            return Err(too_large(place, message));
        }
        self.0 += pixels;
        if self.0 > MAX_OF_A_REQUEST {
            let message = format!(
                "The images of the request up to this one count as {} pixels. At most \
                 {MAX_OF_A_REQUEST} are allowed together.",
                self.0
            );
            return Err(too_large(place, message));
        }
        Ok(())
    }
}

fn too_large(place: &str, message: String) -> ApiError {
    ApiError::invalid(place, message).with_code("image_too_large")
}

fn unclear(place: &str) -> ApiError {
    let message = "The GIF has an extension without any data before its first frame, so that its \
                   size cannot be told. Send it as a PNG.";
    ApiError::invalid(place, message).with_code("invalid_image")
}
