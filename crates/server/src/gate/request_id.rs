//! What a request is called in logs.

use axum::http::{HeaderMap, HeaderValue};

use super::only;
use crate::headers::X_REQUEST_ID;

/// The longest name that a client may give a request.
const MAX_BYTES: usize = 128;

/// The name of a request: the client's own if it gave a usable one, else ours. Handlers find it
/// among the request's extensions, the client in `x-request-id` of every answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(HeaderValue);

// === impl RequestId ===

impl RequestId {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        match only(headers, &X_REQUEST_ID) {
            Some(given) if is_usable(given.as_bytes()) => Self(given.clone()),
            _ => Self::new(),
        }
    }

    /// Unique is enough: nothing is guarded by it.
    pub(crate) fn new() -> Self {
        let id = format!("req_{:024x}", fastrand::u128(..) >> 32);
        Self(HeaderValue::try_from(id).unwrap_or(HeaderValue::from_static("req_")))
    }

    /// Visible ASCII.
    pub fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    pub(crate) fn into_header(self) -> HeaderValue {
        self.0
    }
}

fn is_usable(id: &[u8]) -> bool {
    (1..=MAX_BYTES).contains(&id.len()) && id.iter().all(u8::is_ascii_graphic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(given: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for value in given {
            headers.append(X_REQUEST_ID, HeaderValue::from_str(value).unwrap());
        }
        RequestId::of(&headers).as_str().to_owned()
    }

    #[test]
    fn a_usable_name_is_kept_and_another_is_replaced() {
        let long = "x".repeat(MAX_BYTES);
        for kept in ["a", "req-1/2:~!", &long] {
            assert_eq!(id_for(&[kept]), kept);
        }
        let too_long = "x".repeat(MAX_BYTES + 1);
        let unusable: [&[&str]; 6] = [&[], &[""], &["a b"], &["é"], &[&too_long], &["a", "a"]];
        for given in unusable {
            let id = id_for(given);
            let digits = id.strip_prefix("req_").unwrap();
            assert_eq!(digits.len(), 24, "{id}");
            assert!(digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id}");
            assert_ne!(id_for(given), id);
        }
    }
}
