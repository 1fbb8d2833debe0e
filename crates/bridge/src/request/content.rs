//! The content of a message in Codex's terms.

use codex_app_server::ContentPart;
use openai_wire::ApiError;
use openai_wire::chat::Part;

/// Whose content it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Author {
    /// A person or a tool, who may show images.
    WithImages,
    /// The application or the model, of whom OpenAI takes texts only.
    TextOnly,
}

/// How an image's detail is named where it has no effect.
const DETAIL: &str = "image_url.detail";

/// The parts of a message that say something; what has no effect goes into `ignored`.
pub(super) fn read(
    content: Vec<Part>,
    author: Author,
    message: usize,
    ignored: &mut Vec<&'static str>,
) -> Result<Vec<ContentPart>, ApiError> {
    let read_part = |(index, part)| match part {
        Part::Text(text) => Ok(ContentPart::Text(text)),
        Part::Image { url, detail } => {
            let invalid = |words| {
                Err(ApiError::invalid(
                    format!("messages[{message}].content[{index}].image_url"),
                    words,
                ))
            };
            if author == Author::TextOnly {
                return invalid(
                    "Images are allowed in user messages and in results of tools only.",
                );
            }
            if !is_image_data(&url) {
                return invalid(
                    "An image must be a data URL in base64, such as 'data:image/png;base64,…': remote images are not fetched.",
                );
            }
            if detail.is_some_and(|detail| detail != "auto") && !ignored.contains(&DETAIL) {
                ignored.push(DETAIL);
            }
            Ok(ContentPart::Image { url })
        }
    };
    let parts = content.into_iter().enumerate();
    parts.filter(|(_, part)| !part.is_empty()).map(read_part).collect()
}

/// Whether a URL is `data:image/…;base64,…`.
fn is_image_data(url: &str) -> bool {
    url.strip_prefix("data:image/")
        .and_then(|rest| rest.split_once(','))
        .is_some_and(|(kind, data)| kind.ends_with(";base64") && !data.is_empty())
}
