//! Answers to those whose request was not read.

use std::fmt::Write as _;
use std::time::Duration;

use axum::http::{HeaderValue, header};
use openai_wire::{ApiError, ErrorType};

use super::ConnectionLimits;
use crate::api_error::ErrorResponse;
use crate::gate::{RequestId, harden};
use crate::headers::X_REQUEST_ID;
use crate::time_words::how_long;

/// When a client may find room.
const COME_BACK_IN: Duration = Duration::from_secs(1);

/// The bytes of an answer after which the connection ends.
///
/// Written here because hyper answers only what it has read.
pub(super) fn to_bytes(error: ApiError) -> Vec<u8> {
    let id = RequestId::new();
    tracing::debug!(request_id = id.as_str(), %error, "a connection was refused");
    let (status, mut headers, body) = ErrorResponse(error).into_parts();
    harden(&mut headers);
    headers.insert(X_REQUEST_ID, id.into_header());
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    // The status with its words.
    let mut text = format!("HTTP/1.1 {status}\r\n");
    for (name, value) in &headers {
        // A string takes everything, and all of our headers are text.
        let _ = write!(text, "{name}: {}\r\n", value.to_str().unwrap_or_default());
    }
    text.push_str("\r\n");
    text.push_str(&body);
    text.into_bytes()
}

/// The error for a head that hyper could not read.
pub(super) fn unreadable(error: &hyper::Error, limits: &ConnectionLimits) -> ApiError {
    if error.is_parse_too_large() {
        let ConnectionLimits { max_header_bytes, max_headers, .. } = limits;
        return ApiError::new(
            431,
            ErrorType::InvalidRequestError,
            format!(
                "The request's headers are larger than {max_header_bytes} bytes \
                 (PROXY_MAX_HEADER_BYTES), or there are more than {max_headers} headers \
                 (PROXY_MAX_HEADERS)."
            ),
        )
        .with_code("headers_too_large");
    }
    ApiError::new(
        400,
        ErrorType::InvalidRequestError,
        "This is not a valid request in HTTP/1.1. If the address begins with https://: the server \
         speaks plain HTTP.",
    )
    .with_code("invalid_http")
}

/// The error for a head that does not come to its end.
pub(super) fn slow_head(limits: &ConnectionLimits) -> ApiError {
    ApiError::new(
        408,
        ErrorType::InvalidRequestError,
        format!(
            "The request's headers did not arrive within {} (PROXY_HEADER_TIMEOUT_MS). Try again.",
            how_long(limits.header_timeout)
        ),
    )
    .with_code("request_timeout")
}

/// The error for a connection more than there may be.
pub(super) fn no_room(limits: &ConnectionLimits) -> ApiError {
    ApiError {
        retry_after: Some(COME_BACK_IN),
        ..ApiError::new(
            429,
            ErrorType::RateLimitError,
            format!(
                "The server is busy: all {} connections are in use (PROXY_MAX_CONNECTIONS). Try again \
                 in a second.",
                limits.max_connections
            ),
        )
        .with_code("too_many_connections")
    }
}
