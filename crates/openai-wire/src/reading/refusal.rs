//! What tests expect of a request that is refused.

use serde_json::Value;

use crate::{ApiError, ErrorType};

pub(crate) const MISSING: &str = "missing_required_parameter";
pub(crate) const TYPE: &str = "invalid_type";
pub(crate) const VALUE: &str = "invalid_value";

/// Refused at `param` with `code`, and the message holds `words`.
#[track_caller]
pub(crate) fn assert_refused(body: &Value, error: &ApiError, param: &str, code: &str, words: &str) {
    let expected = ApiError {
        status: 400,
        r#type: ErrorType::InvalidRequestError,
        message: error.message.clone(),
        param: Some(param.to_owned()),
        code: Some(code.to_owned().into()),
        retry_after: None,
        should_retry: true,
    };
    assert_eq!(*error, expected, "{body}");
    assert!(error.message.contains(words), "{:?} does not say {words:?}", error.message);
}
