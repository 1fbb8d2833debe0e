//! Reading a request's body, within its limits.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use memchr::memchr2;
use openai_wire::{ApiError, ErrorType};
use tokio::time::timeout;

/// What the body of a request may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// The longest one.
    pub bytes: usize,
    /// How long it may take to come to its end.
    pub time: Duration,
}

/// Reads the whole body.
///
/// # Errors
/// If it is too long (413), takes too long (408), or does not come to its end (400).
pub async fn read_body(body: Body, limits: BodyLimits) -> Result<Bytes, ApiError> {
    let BodyLimits { bytes, time } = limits;
    match timeout(time, Limited::new(body, bytes).collect()).await {
        Err(_) => Err(too_slow(time)),
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(bytes)),
        Ok(Err(error)) => {
            tracing::debug!(%error, "a request's body ended early");
            Err(ApiError::new(
                400,
                ErrorType::InvalidRequestError,
                "The request's body could not be read to its end.",
            )
            .with_code("incomplete_body"))
        }
    }
}

/// The error for a body of more than `limit` bytes.
pub(crate) fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        413,
        ErrorType::InvalidRequestError,
        format!("The request's body is larger than {limit} bytes (PROXY_MAX_BODY_BYTES)."),
    )
    .with_code("request_too_large")
}

fn too_slow(limit: Duration) -> ApiError {
    let message = format!(
        "The request's body took longer than {} ms (PROXY_BODY_TIMEOUT_MS).",
        limit.as_millis()
    );
    ApiError::new(408, ErrorType::InvalidRequestError, message).with_code("request_timeout")
}

/// Refuses JSON whose arrays and objects are nested more than `limit` deep, before anything
/// recurses into it. Whether it is JSON at all is for the parser to say.
///
/// # Errors
/// If it is deeper.
pub fn check_json_depth(json: &[u8], limit: usize) -> Result<(), ApiError> {
    let mut depth = 0_usize;
    let mut rest = json;
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => rest = after_string(rest),
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Err(too_deep(limit));
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// What follows the string whose opening quote was just read.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr2(b'"', b'\\', rest) {
        match rest[at] {
            b'"' => return &rest[at + 1..],
            _ => rest = rest.get(at + 2..).unwrap_or_default(),
        }
    }
    &[]
}

fn too_deep(limit: usize) -> ApiError {
    ApiError::new(
        400,
        ErrorType::InvalidRequestError,
        format!("The request's JSON is nested more than {limit} deep (PROXY_MAX_JSON_DEPTH)."),
    )
    .with_code("json_too_deep")
}

#[cfg(test)]
mod tests;
