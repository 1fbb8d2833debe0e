//! OpenAI's errors as HTTP answers.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use openai_wire::ApiError;

use crate::headers::X_SHOULD_RETRY;

/// An error on its way to the client.
#[derive(Debug)]
pub struct ErrorResponse(pub ApiError);

// === impl ErrorResponse ===

impl From<ApiError> for ErrorResponse {
    fn from(error: ApiError) -> Self {
        Self(error)
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        // Its words may quote the request.
        let ApiError { status, code, param, .. } = &self.0;
        if *status >= 500 {
            tracing::warn!(status, code = code.as_deref(), "a request failed");
        } else {
            let param = param.as_deref();
            tracing::debug!(status, code = code.as_deref(), param, "a request was refused");
        }
        self.into_parts().into_response()
    }
}

impl ErrorResponse {
    /// Status, headers and body.
    pub(crate) fn into_parts(self) -> (StatusCode, HeaderMap, String) {
        let Self(error) = self;
        let status =
            StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(wait) = error.retry_after {
            // A client that comes back a moment too early only fails again.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if !error.should_retry && clients_retry(status) {
            headers.insert(X_SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if status == StatusCode::REQUEST_TIMEOUT {
            // What is left of the request may still come, and is no beginning of another one.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        (status, headers, error.to_json())
    }
}

/// The statuses at which OpenAI's SDKs try again unless they are told not to.
fn clients_retry(status: StatusCode) -> bool {
    status.is_server_error()
        || [StatusCode::REQUEST_TIMEOUT, StatusCode::CONFLICT, StatusCode::TOO_MANY_REQUESTS]
            .contains(&status)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use openai_wire::ErrorType;

    use super::*;

    fn headers_of(error: ApiError) -> (StatusCode, HeaderMap) {
        let response = ErrorResponse(error).into_response();
        let mut headers = response.headers().clone();
        assert_eq!(headers.remove("content-type").unwrap(), "application/json");
        (response.status(), headers)
    }

    #[test]
    fn a_wait_is_rounded_up_to_seconds() {
        for (wait, told) in [(0, "0"), (1, "1"), (1_000, "1"), (1_001, "2"), (59_999, "60")] {
            let mut error = ApiError::new(429, ErrorType::RateLimitError, "busy");
            error.retry_after = Some(Duration::from_millis(wait));
            let (status, headers) = headers_of(error);
            assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
            let expected =
                HeaderMap::from_iter([(header::RETRY_AFTER, HeaderValue::from_str(told).unwrap())]);
            assert_eq!(headers, expected);
        }
    }

    #[test]
    fn a_client_that_would_try_again_in_vain_is_told_not_to() {
        for (status, told) in [(400, false), (404, false), (408, true), (409, true), (429, true)]
            .into_iter()
            .chain([(500, true), (502, true), (503, true)])
        {
            let mut error = ApiError::new(status, ErrorType::ServerError, "no");
            assert!(!headers_of(error.clone()).1.contains_key(X_SHOULD_RETRY));
            error.should_retry = false;
            let (_, headers) = headers_of(error);
            assert_eq!(headers.contains_key(header::CONNECTION), status == 408);
            assert_eq!(headers.get(X_SHOULD_RETRY).is_some_and(|v| v == "false"), told, "{status}");
        }
    }
}
