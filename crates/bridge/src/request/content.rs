//! The content of a message in Codex's terms.

use model_turn::ContentPart;
use openai_wire::{ApiError, Part};

use super::pixels::Pixels;
use super::place::Place;
use super::remote_images::ImageToFetch;
use crate::policy::RemoteImages;

/// Whose content it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A person or a tool, who may show images.
    WithImages,
    /// The application or the model, of whom OpenAI takes texts only.
    TextOnly,
}

/// Reads the contents of messages, and keeps what is to be known about them.
pub(super) struct ContentReader {
    remote_images: RemoteImages,
    /// What was asked for and has no effect.
    pub(super) ignored: Vec<&'static str>,
    /// Images of which there is only the address, in the order of the history.
    pub(super) images_to_fetch: Vec<ImageToFetch>,
    /// Those of the images that are there.
    pub(super) pixels: Pixels,
}

/// How an image's detail is named where it has no effect.
const DETAIL: &str = "image_url.detail";

// === impl ContentReader ===

impl ContentReader {
    pub(super) fn new(remote_images: RemoteImages) -> Self {
        Self {
            remote_images,
            ignored: Vec::new(),
            images_to_fetch: Vec::new(),
            pixels: Pixels::default(),
        }
    }

    /// The parts of a message that say something; `list` is the member that holds them.
    pub(super) fn read(
        &mut self,
        content: Vec<Part>,
        author: Author,
        place: Place,
        list: &str,
    ) -> Result<Vec<ContentPart>, ApiError> {
        let parts = content.into_iter().enumerate().filter(|(_, part)| !part.is_empty());
        let read_part = |(index, part)| match part {
            Part::Text(text) => Ok(ContentPart::Text(text)),
            Part::Image { url, detail } => {
                let place = place.member(&format!("{list}[{index}].image_url"));
                self.check_image(&url, author, place)?;
                if detail.is_some_and(|detail| detail != "auto") && !self.ignored.contains(&DETAIL)
                {
                    self.ignored.push(DETAIL);
                }
                Ok(ContentPart::Image { url })
            }
        };
        parts.map(read_part).collect()
    }

    fn check_image(&mut self, url: &str, author: Author, place: String) -> Result<(), ApiError> {
        let invalid =
            |words: &str| Err(ApiError::invalid(&place, format!("The image '{place}' {words}")));
        if author == Author::TextOnly {
            return invalid(
                "cannot be used: images are allowed in user messages and in results of tools only.",
            );
        }
        if is_image_data(url) {
            return self.pixels.add(url, &place);
        }
        match (is_remote(url), self.remote_images) {
            (true, RemoteImages::Fetched) => {
                self.images_to_fetch.push(ImageToFetch { place, url: url.to_owned() });
                Ok(())
            }
            (true, RemoteImages::Refused) => invalid(
                "must be a data URL in base64, such as 'data:image/png;base64,…': images are fetched \
                 from their address only with PROXY_ALLOW_REMOTE_IMAGES=true.",
            ),
            (false, RemoteImages::Fetched) => invalid(
                "must be a data URL in base64, such as 'data:image/png;base64,…', or an http or https address.",
            ),
            (false, RemoteImages::Refused) => {
                invalid("must be a data URL in base64, such as 'data:image/png;base64,…'.")
            }
        }
    }
}

/// Whether a URL is `data:image/…;base64,…`.
fn is_image_data(url: &str) -> bool {
    url.strip_prefix("data:image/")
        .and_then(|rest| rest.split_once(','))
        .is_some_and(|(kind, data)| kind.ends_with(";base64") && !data.is_empty())
}

fn is_remote(url: &str) -> bool {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    ["http", "https"].iter().any(|remote| scheme.eq_ignore_ascii_case(remote))
}
