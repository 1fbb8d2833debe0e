//! Errors in OpenAI's shape.

use std::borrow::Cow;
use std::time::Duration;

use serde::Serialize;

/// An error that a client is told, as an HTTP answer or as a frame of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// OpenAI's `type`.
    pub r#type: ErrorType,
    /// For people: what is wrong, and what is allowed instead.
    pub message: String,
    /// The field of the request that is wrong, as a path such as `messages[2].content`.
    pub param: Option<String>,
    /// OpenAI's `code`, where it has one.
    pub code: Option<Cow<'static, str>>,
    /// When it may be worth a try again.
    pub retry_after: Option<Duration>,
    /// False where the same request can never succeed, although its status makes clients try.
    pub should_retry: bool,
}

/// OpenAI's kinds of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorType {
    /// The request cannot be served as it is.
    InvalidRequestError,
    /// The key.
    AuthenticationError,
    /// The caller may not do that.
    PermissionError,
    /// Too many requests, or an allowance that is used up.
    RateLimitError,
    /// Something failed here or behind us.
    ServerError,
}

#[derive(Serialize)]
struct Body<'a> {
    error: ErrorObject<'a>,
}

/// An error as its clients read it.
#[derive(Serialize)]
pub(crate) struct ErrorObject<'a> {
    message: &'a str,
    r#type: ErrorType,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

// === impl ApiError ===

impl ApiError {
    /// An error without any particulars.
    pub fn new(status: u16, r#type: ErrorType, message: impl Into<String>) -> Self {
        Self {
            status,
            r#type,
            message: message.into(),
            param: None,
            code: None,
            retry_after: None,
            should_retry: true,
        }
    }

    /// A request whose body cannot be read at all: status 400, without a field or a code.
    pub fn not_json(error: &serde_json::Error) -> Self {
        let message = format!("The body of the request is not valid JSON: {error}.");
        Self::new(400, ErrorType::InvalidRequestError, message)
    }

    /// A field of the request that cannot be served: status 400.
    pub fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        let error = Self::new(400, ErrorType::InvalidRequestError, message);
        Self { param: Some(param.into()), code: Some("invalid_value".into()), ..error }
    }

    /// The same with OpenAI's code for it.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<Cow<'static, str>>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// `{"error":{…}}`, the body of an answer and the data of a frame.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&Body { error: self.object() }).unwrap_or_default()
    }

    pub(crate) fn object(&self) -> ErrorObject<'_> {
        ErrorObject {
            message: &self.message,
            r#type: self.r#type,
            param: self.param.as_deref(),
            code: self.code.as_deref(),
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_there() {
        let error = ApiError::invalid("n", "n must be 1 to 5");
        assert_eq!(
            error.to_json(),
            r#"{"error":{"message":"n must be 1 to 5","type":"invalid_request_error","param":"n","code":"invalid_value"}}"#
        );
        let error = ApiError::new(500, ErrorType::ServerError, "no");
        assert_eq!(
            error.to_json(),
            r#"{"error":{"message":"no","type":"server_error","param":null,"code":null}}"#
        );
    }
}
