//! What a browser is told, so that pages of allowed origins can send requests and read answers.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use openai_wire::ApiError;

use crate::headers::EXPOSED;

/// Every method that there is on some path.
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, DELETE");
/// For how many seconds a browser need not ask again.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");
/// The most headers that a page may want to send, and their names' length together.
const MAX_NAMES: usize = 64;
const MAX_NAMES_BYTES: usize = 4096;

const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// What the answers to pages have in common.
pub(crate) struct Cors {
    exposed: HeaderValue,
}

// === impl Cors ===

impl Cors {
    pub(crate) fn new() -> Self {
        let names = EXPOSED.each_ref().map(HeaderName::as_str).join(", ");
        let exposed = HeaderValue::try_from(names).unwrap_or(HeaderValue::from_static(""));
        Self { exposed }
    }

    /// Lets pages of `origin` read an answer. It is one of the list, never what a client has sent.
    pub(crate) fn open(&self, origin: &HeaderValue, answer: &mut HeaderMap) {
        answer.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        answer.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, self.exposed.clone());
    }
}

/// Whether a browser asks what a page may send. It never has the key.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// The answer to a browser that asks for a page of an allowed origin.
///
/// # Errors
/// If what it wants to send are no names of headers, or too many.
pub(crate) fn preflight(headers: &HeaderMap) -> Result<Response, ApiError> {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let answer = response.headers_mut();
    answer.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    // `*` would not cover Authorization, and SDKs send a dozen headers of their own.
    if let Some(wanted) = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        if !are_header_names(wanted) {
            return Err(bad_names());
        }
        answer.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    if headers.get(REQUEST_PRIVATE_NETWORK).is_some_and(|value| value == "true") {
        answer.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    Ok(response)
}

fn are_header_names(list: &HeaderValue) -> bool {
    let list = list.as_bytes();
    list.len() <= MAX_NAMES_BYTES
        && list.split(|&byte| byte == b',').count() <= MAX_NAMES
        && list
            .split(|&byte| byte == b',')
            .all(|name| HeaderName::from_bytes(name.trim_ascii()).is_ok())
}

fn bad_names() -> ApiError {
    ApiError::invalid(
        header::ACCESS_CONTROL_REQUEST_HEADERS.as_str(),
        format!(
            "Access-Control-Request-Headers must be up to {MAX_NAMES} names of headers, with \
             commas between them, in at most {MAX_NAMES_BYTES} bytes."
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(more: &[(HeaderName, &str)]) -> HeaderMap {
        more.iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn the_wanted_headers_are_allowed_by_name() {
        let wanted = "authorization, content-type,x-stainless-os";
        let response =
            preflight(&asked(&[(header::ACCESS_CONTROL_REQUEST_HEADERS, wanted)])).unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT);
        let expected = asked(&[
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, DELETE"),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, wanted),
        ]);
        assert_eq!(response.headers(), &expected);
    }

    #[test]
    fn a_private_network_is_allowed_if_it_is_asked_for() {
        let response = preflight(&asked(&[(REQUEST_PRIVATE_NETWORK, "true")])).unwrap();
        let expected = asked(&[
            (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, HEAD, POST, DELETE"),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
            (ALLOW_PRIVATE_NETWORK, "true"),
        ]);
        assert_eq!(response.headers(), &expected);
    }

    #[test]
    fn what_is_no_list_of_headers_is_refused() {
        let many = vec!["a"; MAX_NAMES + 1].join(",");
        let long = format!("a,{}", "b".repeat(MAX_NAMES_BYTES));
        for list in ["", "a,,b", "a b", "x: y", "ä", &many, &long] {
            let headers = asked(&[(header::ACCESS_CONTROL_REQUEST_HEADERS, list)]);
            assert_eq!(preflight(&headers).unwrap_err(), bad_names(), "{list}");
        }
        let most = vec!["a"; MAX_NAMES].join(",");
        assert!(preflight(&asked(&[(header::ACCESS_CONTROL_REQUEST_HEADERS, &most)])).is_ok());
    }
}
