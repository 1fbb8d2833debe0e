//! What is not as it must be.

use std::fmt::Debug;

use serde::Serialize;

/// A difference between what was expected and what came.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{what}: expected {expected}, but got {found}")]
pub struct Mismatch {
    what: String,
    expected: String,
    found: String,
}

/// As much as is shown of an answer.
const LONGEST: usize = 300;

// === impl Mismatch ===

impl Mismatch {
    /// A difference in `what`.
    pub fn new(
        what: impl Into<String>,
        expected: impl Into<String>,
        found: &(impl ToString + ?Sized),
    ) -> Self {
        Self { what: what.into(), expected: expected.into(), found: found.to_string() }
    }

    /// The same with only the beginning of what came, if that is long.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        if let Some((end, _)) = self.found.char_indices().nth(LONGEST) {
            self.found.replace_range(end.., "…");
        }
        self
    }
}

/// Both must be equal.
///
/// # Errors
/// If they are not.
pub fn expect<T>(what: &str, expected: &T, found: &T) -> Result<(), Mismatch>
where
    T: Debug + PartialEq + ?Sized,
{
    if expected == found {
        return Ok(());
    }
    Err(Mismatch::new(what, format!("{expected:?}"), &format!("{found:?}")))
}
