//! The simple fields of a request.

use serde_json::Value;

use super::object::Object;
use super::{ReasoningSummary, ResponseFormat};
use crate::ApiError;

/// Longest name of a model, in bytes.
const LONGEST_MODEL: usize = 256;

/// Most texts that may end an answer.
const MOST_STOPS: usize = 4;

pub(super) fn read_model(request: &mut Object<'_>) -> Result<String, ApiError> {
    let model = request.required_string("model")?;
    if (1..=LONGEST_MODEL).contains(&model.len()) {
        return Ok(model);
    }
    let problem = format!("The name of a model must have 1 to {LONGEST_MODEL} bytes.");
    Err(request.path("model").invalid(problem))
}

/// `reasoning_effort`, or `reasoning` as in the Responses API.
pub(super) fn read_reasoning(
    request: &mut Object<'_>,
) -> Result<(Option<String>, Option<ReasoningSummary>), ApiError> {
    let effort = request.string("reasoning_effort")?;
    if effort.as_deref() == Some("") {
        let problem =
            "'reasoning_effort' must not be empty: leave it out, or name an effort such as 'low'.";
        return Err(request.path("reasoning_effort").invalid(problem));
    }
    let Some(reasoning) = request.take("reasoning") else { return Ok((effort, None)) };
    let mut reasoning = Object::read(reasoning, request.path("reasoning"))?;
    let effort = effort.or(reasoning.string("effort")?.filter(|effort| !effort.is_empty()));
    let Some(summary) = reasoning.string("summary")? else { return Ok((effort, None)) };
    let summary = match summary.as_str() {
        "auto" => ReasoningSummary::Auto,
        "concise" => ReasoningSummary::Concise,
        "detailed" => ReasoningSummary::Detailed,
        "none" => ReasoningSummary::None,
        _ => {
            let allowed = ["auto", "concise", "detailed", "none"];
            return Err(reasoning.path("summary").unsupported(&summary, &allowed));
        }
    };
    Ok((effort, Some(summary)))
}

/// Only text can be had.
pub(super) fn refuse_audio(request: &mut Object<'_>) -> Result<(), ApiError> {
    if request.take("audio").is_some() {
        let problem = "Audio cannot be had: leave 'audio' out, and 'modalities' too or [\"text\"].";
        return Err(request.path("audio").invalid(problem));
    }
    let modalities = request.array("modalities")?.unwrap_or_default();
    let path = request.path("modalities");
    for (index, modality) in modalities.iter().enumerate() {
        match modality {
            Value::String(name) if name == "text" => {}
            Value::String(name) => return Err(path.item(index).unsupported(name, &["text"])),
            other => return Err(path.item(index).wrong_type("a string", other)),
        }
    }
    Ok(())
}

pub(super) fn read_stop(request: &mut Object<'_>) -> Result<Vec<String>, ApiError> {
    let values = match request.take("stop") {
        None => return Ok(Vec::new()),
        Some(Value::Array(values)) => values,
        Some(Value::String(text)) if !text.is_empty() => return Ok(vec![text]),
        Some(Value::String(_)) => return Err(request.path("stop").invalid(EMPTY_STOP)),
        Some(other) => {
            return Err(request.path("stop").wrong_type("a string or an array of strings", &other));
        }
    };
    let path = request.path("stop");
    if values.len() > MOST_STOPS {
        let problem = format!(
            "Invalid 'stop': array too long. Expected at most {MOST_STOPS} strings, but got {}.",
            values.len()
        );
        return Err(path.invalid(problem).with_code("array_above_max_length"));
    }
    let read = |(index, value)| match value {
        Value::String(text) if !text.is_empty() => Ok(text),
        Value::String(_) => Err(path.item(index).invalid(EMPTY_STOP)),
        other => Err(path.item(index).wrong_type("a string", &other)),
    };
    values.into_iter().enumerate().map(read).collect()
}

const EMPTY_STOP: &str = "A text that ends the answer must not be empty.";

pub(super) fn read_include_usage(request: &mut Object<'_>) -> Result<bool, ApiError> {
    let Some(options) = request.take("stream_options") else { return Ok(false) };
    let mut options = Object::read(options, request.path("stream_options"))?;
    Ok(options.boolean("include_usage")?.unwrap_or(false))
}

// === impl ResponseFormat ===

impl ResponseFormat {
    pub(super) fn read(request: &mut Object<'_>) -> Result<Self, ApiError> {
        let Some(format) = request.take("response_format") else { return Ok(Self::Text) };
        let mut format = Object::read(format, request.path("response_format"))?;
        let r#type = format.required_string("type")?;
        match r#type.as_str() {
            "text" => Ok(Self::Text),
            "json_object" => Ok(Self::JsonObject),
            "json_schema" => {
                let inner = format.take("json_schema");
                let path = format.path("json_schema");
                let mut inner = Object::read(inner.ok_or_else(|| path.missing())?, path)?;
                let schema = inner.object("schema")?;
                Ok(Self::JsonSchema {
                    description: inner.string("description")?,
                    schema: schema.ok_or_else(|| inner.path("schema").missing())?,
                    strict: inner.boolean("strict")?.unwrap_or(false),
                })
            }
            _ => {
                let allowed = ["text", "json_object", "json_schema"];
                Err(format.path("type").unsupported(&r#type, &allowed))
            }
        }
    }
}
