//! The field `text`: the form of the answer.

use serde::Serialize;
use serde_json::{Map, Value};

use super::JsonText;
use crate::ApiError;
use crate::reading::{Object, ResponseFormat, Verbosity};

/// What is said about the answer's text.
#[derive(Default)]
pub(super) struct Text {
    /// The form of the answer.
    pub(super) format: ResponseFormat,
    /// What the client calls the schema.
    schema_name: Option<String>,
    /// How many words the model should make.
    pub(super) verbosity: Option<Verbosity>,
}

#[derive(Serialize)]
struct TextEcho<'a> {
    format: FormatEcho<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verbosity: Option<Verbosity>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum FormatEcho<'a> {
    Text,
    JsonObject,
    JsonSchema {
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        description: Option<&'a str>,
        schema: &'a Map<String, Value>,
        strict: bool,
    },
}

// === impl Text ===

impl Text {
    pub(super) fn read(request: &mut Object<'_>) -> Result<Self, ApiError> {
        let Some(text) = request.take("text") else { return Ok(Self::default()) };
        let mut text = Object::read(text, request.path("text"))?;
        let verbosity = Verbosity::read(&mut text)?;
        let Some(format) = text.take("format") else {
            return Ok(Self { verbosity, ..Self::default() });
        };
        let mut schema_name = None;
        let mut read_schema = |members: &mut Object<'_>| {
            schema_name = members.string("name")?;
            ResponseFormat::read_schema(members)
        };
        let format = Object::read(format, text.path("format"))?;
        let format = ResponseFormat::read(format, |mut format| match format.take("json_schema") {
            None => read_schema(&mut format),
            // As in chat completions.
            Some(inner) => read_schema(&mut Object::read(inner, format.path("json_schema"))?),
        })?;
        Ok(Self { format, schema_name, verbosity })
    }

    /// As the response repeats it.
    pub(super) fn echo(&self) -> JsonText {
        let format = match &self.format {
            ResponseFormat::Text => FormatEcho::Text,
            ResponseFormat::JsonObject => FormatEcho::JsonObject,
            ResponseFormat::JsonSchema { description, schema, strict } => FormatEcho::JsonSchema {
                name: self.schema_name.as_deref(),
                description: description.as_deref(),
                schema,
                strict: *strict,
            },
        };
        JsonText::new(&TextEcho { format, verbosity: self.verbosity })
    }
}
