//! The blocks of a whole text.

use super::{ParsedTextBlock, ScanEvent, TextPatterns, TextScanner};
use crate::Limits;

/// The blocks of a text, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Extracted {
    /// The complete blocks, in their order. Offsets count from the beginning of the whole text.
    pub blocks: Vec<ParsedTextBlock>,
    /// Where to start when the text has grown: everything before it is decided.
    pub next: usize,
}

/// Every complete `<use_tool>` block of `text` from the byte `start_at` on: the built-in format alone.
///
/// ```
/// use tool_call_aggregator::extract_use_tool_blocks;
///
/// let text = "First <use_tool><name>getFileTree</name></use_tool>, then <use_tool><na";
/// let found = extract_use_tool_blocks(text, 0);
/// assert_eq!(found.blocks[0].name, "getFileTree");
/// assert_eq!(&text[found.blocks[0].start..found.blocks[0].end], found.blocks[0].raw);
/// assert_eq!(&text[found.next..], "<use_tool><na");
/// ```
pub fn extract_use_tool_blocks(text: &str, start_at: usize) -> Extracted {
    extract(&TextPatterns::default(), Limits::default(), text, start_at)
}

/// Every complete block of `text` from `start_at` on. A start beyond the end finds nothing; one inside
/// a character begins with the next.
pub(crate) fn extract(
    patterns: &TextPatterns,
    limits: Limits,
    text: &str,
    start_at: usize,
) -> Extracted {
    let is_boundary = |at: &usize| text.is_char_boundary(*at);
    let start = (start_at..text.len()).find(is_boundary).unwrap_or(text.len());
    let mut scanner = TextScanner::with_limits(patterns, limits);
    let blocks = scanner
        .push(&text[start..])
        .filter_map(|event| match event {
            ScanEvent::Block(block) => Some(ParsedTextBlock {
                start: block.start + start,
                end: block.end + start,
                ..block.clone()
            }),
            ScanEvent::Text(_) | ScanEvent::BlockOpened { .. } => None,
        })
        .collect();
    Extracted { blocks, next: text.len() - scanner.held_back() }
}
