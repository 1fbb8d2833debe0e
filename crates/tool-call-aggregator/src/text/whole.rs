//! Formats that look at whole texts.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::{ParsedTextBlock, TextPattern};

/// A format, by the way in which it finds its blocks.
#[derive(Clone)]
pub(super) enum Format {
    /// By markers, as text arrives.
    Streamed(Arc<dyn TextPattern>),
    /// In a whole text.
    Whole(Arc<FindBlocks>),
}

/// Finds the blocks of a whole text.
pub(super) type FindBlocks = dyn Fn(&str) -> Vec<ParsedTextBlock> + Send + Sync;

/// What formats have found in a whole text, in its order.
#[derive(Debug, Default)]
pub(super) struct Found {
    blocks: VecDeque<(usize, ParsedTextBlock)>,
}

// === impl Format ===

impl Format {
    pub(super) fn open_markers(&self) -> &[&str] {
        match self {
            Self::Streamed(pattern) => pattern.open_markers(),
            Self::Whole(_) => &[],
        }
    }

    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole(_))
    }
}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Streamed(pattern) => pattern.fmt(f),
            Self::Whole(_) => f.write_str("Whole"),
        }
    }
}

// === impl Found ===

impl Found {
    /// What `formats` find in `text`, which begins at `offset`. A block outside the text, or with no
    /// name or too long a one, is none.
    pub(super) fn of(formats: &[Format], text: &str, offset: usize, name_limit: usize) -> Self {
        let mut blocks = Vec::new();
        for (index, format) in formats.iter().enumerate() {
            let Format::Whole(find) = format else { continue };
            for ParsedTextBlock { start, end, name, args_text, .. } in find(text) {
                if start < end
                    && (1..=name_limit).contains(&name.len())
                    && let Some(raw) = text.get(start..end)
                {
                    let raw = raw.to_owned();
                    let (start, end) = (offset + start, offset + end);
                    blocks.push((index, ParsedTextBlock { start, end, name, args_text, raw }));
                }
            }
        }
        blocks.sort_by_key(|(index, block)| (block.start, *index));
        Self { blocks: blocks.into() }
    }

    /// The first block from `start` on, if it begins before `marker`, a place and the index of the
    /// format whose marker stands there.
    pub(super) fn next(&mut self, start: usize, marker: (usize, usize)) -> Option<ParsedTextBlock> {
        while self.blocks.front().is_some_and(|(_, block)| block.start < start) {
            self.blocks.pop_front();
        }
        let is_first = |(index, block): &(usize, ParsedTextBlock)| (block.start, *index) < marker;
        let first = self.blocks.front().is_some_and(is_first).then(|| self.blocks.pop_front());
        first.flatten().map(|(_, block)| block)
    }
}
