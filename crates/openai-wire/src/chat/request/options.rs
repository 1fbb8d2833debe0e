//! The simple fields of a request.

use serde_json::Value;

use crate::ApiError;
use crate::reading::{self, Object, ReasoningSummary, ResponseFormat};

/// Most texts that may end an answer.
const MOST_STOPS: usize = 4;

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
    let (other, summary) = reading::read_reasoning(request)?;
    Ok((effort.or(other), summary))
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

pub(super) fn read_response_format(request: &mut Object<'_>) -> Result<ResponseFormat, ApiError> {
    let Some(format) = request.take("response_format") else { return Ok(ResponseFormat::Text) };
    let format = Object::read(format, request.path("response_format"))?;
    ResponseFormat::read(format, |mut format| {
        let schema = format.take("json_schema");
        let path = format.path("json_schema");
        let schema = schema.ok_or_else(|| path.missing())?;
        ResponseFormat::read_schema(&mut Object::read(schema, path)?)
    })
}
