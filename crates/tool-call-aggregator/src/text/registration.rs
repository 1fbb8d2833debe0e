//! Formats that are there for a while.

use std::ops::{Deref, DerefMut};

use super::{PatternError, TextPattern, TextPatterns};

/// A format that is registered until this value is dropped. It stands for its owner: a
/// [`TextPatterns`] or a [`ToolCallAggregator`](crate::ToolCallAggregator).
///
/// ```
/// use tool_call_aggregator::{Registration, ToolCallAggregator, ToolCallJson};
///
/// let mut calls = ToolCallAggregator::new();
/// {
///     let calls = Registration::new(&mut calls, ToolCallJson::NAME, ToolCallJson)?;
///     assert_eq!(calls.extract_blocks(r#"<tool_call>{"name":"f"}</tool_call>"#, 0).blocks.len(), 1);
/// }
/// assert!(!calls.patterns().contains(ToolCallJson::NAME));
/// # Ok::<(), tool_call_aggregator::PatternError>(())
/// ```
#[derive(Debug)]
#[must_use = "the format is removed when this is dropped"]
pub struct Registration<'a, T: AsMut<TextPatterns>> {
    owner: &'a mut T,
    name: String,
}

// === impl Registration ===

impl<'a, T: AsMut<TextPatterns>> Registration<'a, T> {
    /// Registers a format.
    ///
    /// # Errors
    ///
    /// As [`TextPatterns::register`].
    pub fn new(
        owner: &'a mut T,
        name: impl Into<String>,
        pattern: impl TextPattern + 'static,
    ) -> Result<Self, PatternError> {
        let name = name.into();
        owner.as_mut().register(name.clone(), pattern)?;
        Ok(Self { owner, name })
    }
}

impl<T: AsMut<TextPatterns>> Drop for Registration<'_, T> {
    fn drop(&mut self) {
        self.owner.as_mut().remove(&self.name);
    }
}

impl<T: AsMut<TextPatterns>> Deref for Registration<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.owner
    }
}

impl<T: AsMut<TextPatterns>> DerefMut for Registration<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.owner
    }
}
