//! The form of the answer.

use serde_json::{Map, Value};

use super::Object;
use crate::ApiError;

/// The form of the answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ResponseFormat {
    /// Any text.
    #[default]
    Text,
    /// A JSON object.
    JsonObject,
    /// JSON that follows a schema.
    JsonSchema {
        /// What the answer is for.
        description: Option<String>,
        /// The schema.
        schema: Map<String, Value>,
        /// Whether the model is to be held to it.
        strict: bool,
    },
}

// === impl ResponseFormat ===

impl ResponseFormat {
    /// The APIs differ in where the schema stands: `read_schema` finds it in the format.
    pub(crate) fn read(
        mut format: Object<'_>,
        read_schema: impl FnOnce(Object<'_>) -> Result<Self, ApiError>,
    ) -> Result<Self, ApiError> {
        let r#type = format.required_string("type")?;
        match r#type.as_str() {
            "text" => Ok(Self::Text),
            "json_object" => Ok(Self::JsonObject),
            "json_schema" => read_schema(format),
            _ => {
                let allowed = ["text", "json_object", "json_schema"];
                Err(format.path("type").unsupported(&r#type, &allowed))
            }
        }
    }

    /// Reads the schema and what belongs to it.
    pub(crate) fn read_schema(members: &mut Object<'_>) -> Result<Self, ApiError> {
        let schema = members.object("schema")?;
        Ok(Self::JsonSchema {
            description: members.string("description")?,
            schema: schema.ok_or_else(|| members.path("schema").missing())?,
            strict: members.boolean("strict")?.unwrap_or(false),
        })
    }
}
