//! Bodies must say that they are JSON.
//!
//! A page can send other types to any server without asking first; this one it cannot.

use axum::http::{HeaderMap, Method, header};
use openai_wire::{ApiError, ErrorType};

/// Whether the method's body, if there is one, means something.
pub(crate) fn takes_body(method: &Method) -> bool {
    [Method::POST, Method::PUT, Method::PATCH].contains(method)
}

pub(crate) fn check(headers: &HeaderMap) -> Result<(), ApiError> {
    let mut types = headers.get_all(header::CONTENT_TYPE).iter().peekable();
    if types.peek().is_some() && types.all(|value| is_json(value.as_bytes())) {
        return Ok(());
    }
    Err(ApiError::new(
        415,
        ErrorType::InvalidRequestError,
        "The request's body must be JSON, with the header Content-Type: application/json.",
    )
    .with_code("unsupported_content_type"))
}

/// Parameters such as the character set may follow.
fn is_json(value: &[u8]) -> bool {
    let essence = value.split(|&byte| byte == b';').next().unwrap_or_default();
    essence.trim_ascii().eq_ignore_ascii_case(b"application/json")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn accepted(types: &[&str]) -> bool {
        let mut headers = HeaderMap::new();
        for value in types {
            headers.append(header::CONTENT_TYPE, HeaderValue::from_str(value).unwrap());
        }
        check(&headers).is_ok()
    }

    #[test]
    fn row_4_content_type_must_be_json() {
        for value in [
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            "application/json ;charset=UTF-8",
        ] {
            assert!(accepted(&[value]), "{value}");
        }
        for value in [
            "",
            "json",
            "text/plain",
            "text/plain; application/json",
            "text/plain, application/json",
            "application/jsonp",
            "application/json-seq",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=application/json",
        ] {
            assert!(!accepted(&[value]), "{value}");
        }
        assert!(!accepted(&[]));
        assert!(!accepted(&["application/json", "text/plain"]));
    }
}
