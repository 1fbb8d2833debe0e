//! What a message or the result of a call says.

use serde_json::Value;

use super::{Excerpt, Object, Path};
use crate::ApiError;

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image {
        /// Where it is, or a `data:` URL.
        url: String,
        /// How closely the model should look.
        detail: Option<String>,
    },
}

/// Names that parts have in either API.
const PART_TYPES: [&str; 7] =
    ["text", "image_url", "input_text", "output_text", "summary_text", "input_image", "refusal"];

/// Text, a list of parts, or nothing. Parts keep their places, so that they can be named.
pub(crate) fn read_content(content: Option<Value>, path: Path<'_>) -> Result<Vec<Part>, ApiError> {
    match content {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(vec![Part::Text(text)]),
        Some(Value::Array(parts)) => parts
            .into_iter()
            .enumerate()
            .map(|(index, part)| Part::read(part, path.item(index)))
            .collect(),
        Some(other) => Err(path.wrong_type("a string or an array of parts", &other)),
    }
}

// === impl Part ===

impl Part {
    /// What it says, if it is a text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image { .. } => None,
        }
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Text(text) if text.is_empty())
    }

    fn read(value: Value, path: Path<'_>) -> Result<Self, ApiError> {
        if let Value::String(text) = value {
            return Ok(Self::Text(text));
        }
        let mut part = Object::read(value, path)?;
        let r#type = part.required_string("type")?;
        match r#type.as_str() {
            "text" | "input_text" | "output_text" | "summary_text" => {
                Ok(Self::Text(part.required_string("text")?))
            }
            "refusal" => Ok(Self::Text(part.required_string("refusal")?)),
            "image_url" | "input_image" => Self::read_image(part),
            _ => {
                let path = part.path("type");
                let problem = format!(
                    "Invalid value for '{path}': {}. Only texts and images can be sent: supported \
                     values are '{}'.",
                    Excerpt(&r#type),
                    PART_TYPES.join("', '")
                );
                Err(path.invalid(problem))
            }
        }
    }

    /// `image_url` is an object in chat completions, and a text in the Responses API.
    fn read_image(mut part: Object<'_>) -> Result<Self, ApiError> {
        let detail = part.string("detail")?;
        match part.take("image_url") {
            None if part.take("file_id").is_some() => {
                let problem = "An uploaded file cannot be had here: send the image itself as 'image_url', which may be a 'data:' URL.";
                Err(part.path("file_id").invalid(problem))
            }
            None => Err(part.path("image_url").missing()),
            Some(Value::String(url)) => Ok(Self::Image { url, detail }),
            Some(image) => {
                let mut image = Object::read(image, part.path("image_url"))?;
                let detail = image.string("detail")?.or(detail);
                Ok(Self::Image { url: image.required_string("url")?, detail })
            }
        }
    }
}
