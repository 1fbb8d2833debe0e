//! What is not as it must be.

use std::fmt::Debug;

use serde::Serialize;
use serde_json::Value;

/// A difference between what was expected and what came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{what}: expected {expected}, but got {found}")]
pub(super) struct Mismatch {
    what: String,
    expected: String,
    found: String,
}

/// As much as is shown of an answer.
const LONGEST: usize = 300;

// === impl Mismatch ===

impl Mismatch {
    pub(super) fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: impl AsRef<str>,
    ) -> Self {
        let found = match found.as_ref().char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &found.as_ref()[..end]),
            None => found.as_ref().to_owned(),
        };
        Self { what: what.into(), expected: expected.into(), found }
    }
}

/// Both must be equal.
pub(super) fn expect<T>(what: &str, expected: &T, found: &T) -> Result<(), Mismatch>
where
    T: Debug + PartialEq + ?Sized,
{
    if expected == found {
        return Ok(());
    }
    Err(Mismatch::new(what, format!("{expected:?}"), format!("{found:?}")))
}

/// The same for JSON, which is shown as such.
pub(super) fn expect_json(
    what: &str,
    expected: impl Into<Value>,
    found: &Value,
) -> Result<(), Mismatch> {
    let expected = expected.into();
    if expected == *found {
        return Ok(());
    }
    Err(Mismatch::new(what, expected.to_string(), found.to_string()))
}
