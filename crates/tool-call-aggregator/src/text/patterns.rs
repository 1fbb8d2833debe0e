//! The formats that are looked for.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::markers::Rest;
use super::whole::Format;
use super::{ParsedTextBlock, TextPattern, TextScanner, UseTool};
use crate::Limits;

/// An ordered set of formats, each with a name. The built-in one, `use_tool`, comes first.
///
/// It is a plain value: cloning is cheap, and two sets share nothing that can change.
///
/// ```
/// use tool_call_aggregator::{TextPatterns, ToolCallJson};
///
/// let mut patterns = TextPatterns::default();
/// patterns.register("tool_call", ToolCallJson)?;
/// assert_eq!(patterns.names().collect::<Vec<_>>(), ["use_tool", "tool_call"]);
/// assert!(patterns.remove("tool_call"));
/// # Ok::<(), tool_call_aggregator::PatternError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TextPatterns {
    entries: Vec<(String, Format)>,
}

/// A format that cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PatternError {
    /// The name is taken.
    Taken(String),
    /// The format has no marker, or an empty one, which would be found everywhere.
    NoMarker(String),
}

// === impl TextPatterns ===

impl Default for TextPatterns {
    fn default() -> Self {
        let built_in = Format::Streamed(Arc::new(UseTool::default()));
        Self { entries: vec![(UseTool::NAME.to_owned(), built_in)] }
    }
}

impl TextPatterns {
    /// A set without any format, not even the built-in one.
    pub fn none() -> Self {
        Self { entries: Vec::new() }
    }

    /// Adds a format, after those that are there.
    ///
    /// # Errors
    ///
    /// If the name is taken, or the format has no marker or an empty one.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        pattern: impl TextPattern + 'static,
    ) -> Result<(), PatternError> {
        self.add(name.into(), Format::Streamed(Arc::new(pattern)))
    }

    /// Adds a format that finds its blocks in a whole text, after those that are there. `raw` of a block
    /// is taken from the text; a block outside the text, or without a name, is ignored.
    ///
    /// This is for whole texts ([`Self::extract_blocks`], messages). A [scanner](Self::scanner) has to
    /// hold back everything until the text ends, or in parts of [`Limits::held_bytes`].
    ///
    /// ```
    /// use tool_call_aggregator::{ParsedTextBlock, TextPatterns};
    ///
    /// let mut patterns = TextPatterns::default();
    /// patterns.register_fn("shout", |text| {
    ///     let found = text.match_indices("RUN!");
    ///     found.map(|(start, run)| ParsedTextBlock::new(start..start + run.len(), "run", "{}")).collect()
    /// })?;
    /// assert_eq!(patterns.extract_blocks("Now RUN! and RUN!", 0).blocks[1].start, 13);
    /// # Ok::<(), tool_call_aggregator::PatternError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the name is taken.
    pub fn register_fn(
        &mut self,
        name: impl Into<String>,
        find: impl Fn(&str) -> Vec<ParsedTextBlock> + Send + Sync + 'static,
    ) -> Result<(), PatternError> {
        self.add(name.into(), Format::Whole(Arc::new(find)))
    }

    fn add(&mut self, name: String, format: Format) -> Result<(), PatternError> {
        if self.contains(&name) {
            return Err(PatternError::Taken(name));
        }
        let markers = format.open_markers();
        let has_none = markers.is_empty() && !format.is_whole();
        if has_none || markers.iter().any(|marker| marker.is_empty()) {
            return Err(PatternError::NoMarker(name));
        }
        self.entries.push((name, format));
        Ok(())
    }

    /// Takes a format out; says whether it was there.
    pub fn remove(&mut self, name: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|(known, _)| known != name);
        self.entries.len() < before
    }

    /// Whether a format of this name is there.
    pub fn contains(&self, name: &str) -> bool {
        self.names().any(|known| known == name)
    }

    /// The names, in the order of registration.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }

    /// Every complete block of a whole text.
    pub fn extract_blocks(&self, text: &str, start_at: usize) -> super::Extracted {
        super::extract::extract(self, Limits::default(), text, start_at, Rest::MayCome)
    }

    /// A scanner for these formats, for text that comes in chunks.
    pub fn scanner(&self) -> TextScanner {
        TextScanner::new(self)
    }

    pub(super) fn formats(&self) -> Vec<Format> {
        self.entries.iter().map(|(_, format)| format.clone()).collect()
    }
}

impl AsMut<Self> for TextPatterns {
    fn as_mut(&mut self) -> &mut Self {
        self
    }
}

// === impl PatternError ===

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken(name) => write!(f, "a text pattern named {name:?} is already registered"),
            Self::NoMarker(name) => {
                write!(f, "the text pattern {name:?} needs open markers, none of them empty")
            }
        }
    }
}

impl Error for PatternError {}
