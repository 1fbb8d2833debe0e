//! What a browser is told about every answer, so that nothing of it is used where it does not belong.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// All of them are known when this is compiled, so that an answer costs no allocation for them.
const ALL: [(HeaderName, HeaderValue); 4] = [
    // Nothing but our own files, and nobody's frame.
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'self'; frame-ancestors 'none'"),
    ),
    // An answer is what it says it is.
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    // Other pages cannot load an answer as an image or a script. Those that are allowed by their
    // origin ask by CORS, which this does not touch.
    (CROSS_ORIGIN_RESOURCE_POLICY, HeaderValue::from_static("same-origin")),
];

/// Adds the headers that every answer has, unless it has a stricter one of its own.
pub(crate) fn harden(headers: &mut HeaderMap) {
    for (name, value) in ALL {
        headers.entry(name).or_insert(value);
    }
}
