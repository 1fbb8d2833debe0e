//! Images that a request names by their address.

use model_turn::{ContentPart, HistoryItem, ToolOutput};
use openai_wire::ApiError;

use super::Prepared;

/// An image of which the request has only the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageToFetch {
    /// Its place in the request, such as `messages[0].content[1].image_url`.
    pub place: String,
    /// Its `http` or `https` address. It may hold a secret.
    pub url: String,
}

// === impl Prepared ===

impl Prepared {
    /// Puts images into the turn, in the order of [`Prepared::images_to_fetch`]. Codex does not take
    /// a turn that still names one by its address.
    ///
    /// # Errors
    /// An image of too many pixels, as if the request had held it itself.
    pub fn put_images(&mut self, data_urls: Vec<String>) -> Result<(), ApiError> {
        for (image, data_url) in self.images_to_fetch.iter().zip(&data_urls) {
            self.pixels.add(data_url, &image.place)?;
        }
        let images = self.turn.history.iter_mut().flat_map(parts).filter_map(|part| match part {
            ContentPart::Image { url } if !url.starts_with("data:") => Some(url),
            ContentPart::Image { .. } | ContentPart::Text(_) => None,
        });
        for (url, data_url) in images.zip(data_urls) {
            *url = data_url;
        }
        self.images_to_fetch.clear();
        Ok(())
    }
}

fn parts(item: &mut HistoryItem) -> &mut [ContentPart] {
    match item {
        HistoryItem::Message { content, .. }
        | HistoryItem::ToolOutput { output: ToolOutput::Parts(content), .. } => content,
        HistoryItem::ToolOutput { .. }
        | HistoryItem::ToolCall { .. }
        | HistoryItem::Reasoning { .. } => &mut [],
    }
}
