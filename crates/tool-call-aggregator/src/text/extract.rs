//! The blocks of a whole text.

use super::markers::Rest;
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
/// The text may still grow. A block that only the end of the text would complete (one with JSON that
/// is broken off) is not among them; a scanner's [`finish`](TextScanner::finish) gives it.
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
    extract(&TextPatterns::default(), Limits::default(), text, start_at, Rest::MayCome)
}

/// Every complete block of `text` from `start_at` on. A start beyond the end finds nothing; one inside
/// a character begins with the next.
pub(crate) fn extract(
    patterns: &TextPatterns,
    limits: Limits,
    text: &str,
    start_at: usize,
    rest: Rest,
) -> Extracted {
    let start = text.ceil_char_boundary(start_at);
    let mut scanner = TextScanner::with_limits(patterns, limits);
    let mut blocks = Vec::new();
    let mut take = |event: ScanEvent<'_>| {
        if let ScanEvent::Block(block) = event {
            let (from, to) = (block.start + start, block.end + start);
            blocks.push(ParsedTextBlock { start: from, end: to, ..block.clone() });
        }
    };
    scanner.push(&text[start..]).for_each(&mut take);
    let held_back = scanner.held_back();
    if rest == Rest::Ended || scanner.needs_whole_text() {
        scanner.finish().for_each(&mut take);
    }
    let next = match rest {
        Rest::MayCome if scanner.needs_whole_text() => {
            blocks.last().map_or(start, |block| block.end)
        }
        Rest::MayCome => text.len() - held_back,
        Rest::Ended => text.len(),
    };
    Extracted { blocks, next }
}
