//! The library by itself: a long argument in chunks as small as a model's tokens.

use std::hint::black_box;

use tool_call_aggregator::{CallEvent, ScanEvents, TextPatterns, TextScanner, ToolCallAggregator};

/// Bytes of the argument.
pub const SIZE: usize = 64 << 10;

/// A token of a model is about this long.
const CHUNK: usize = 4;

const ITEM: &str = "fc_68af0c1e3b5c8190";

const PROSE: &str =
    "The harbour was quiet when the first of the boats came in, and nobody on the pier had slept. ";

/// Something to read, in chunks.
pub type Chunks = Vec<&'static str>;

/// Text without calls.
pub fn plain_text() -> Chunks {
    chunks(prose())
}

/// A block with a long argument.
pub fn text_block() -> Chunks {
    let block =
        format!("<use_tool><name>write_file</name><content>{}</content></use_tool>", prose());
    chunks(block)
}

/// The argument of a structured call.
pub fn fragments() -> Chunks {
    chunks(format!(r#"{{"content":"{}"}}"#, prose()))
}

/// Where text is looked through.
pub fn scanner() -> TextScanner {
    TextPatterns::default().scanner()
}

/// Looks through a whole text, and says how many events there were.
pub fn scan(scanner: &mut TextScanner, chunks: &[&str]) -> usize {
    let mut events = 0;
    let mut count = |found: ScanEvents<'_>| events += found.count();
    for chunk in chunks {
        count(scanner.push(black_box(chunk)));
    }
    count(scanner.finish());
    events
}

/// An aggregator with one open call.
pub fn open_call() -> ToolCallAggregator {
    let mut calls = ToolCallAggregator::new();
    let event = CallEvent {
        call_id: Some("call_9qXbW1"),
        name: Some("write_file"),
        ..CallEvent::increment(ITEM, "")
    };
    calls.ingest(0, &event);
    calls
}

/// Gives it its arguments, and says how many bytes of them were told.
pub fn append(calls: &mut ToolCallAggregator, fragments: &[&str]) -> usize {
    let mut told = 0;
    for fragment in fragments {
        let ingest = calls.ingest(0, &CallEvent::increment(ITEM, black_box(fragment)));
        told += ingest.deltas.map(|delta| delta.appended.len()).sum::<usize>();
    }
    told
}

fn prose() -> String {
    let mut prose = PROSE.repeat(SIZE / PROSE.len() + 1);
    prose.truncate(SIZE);
    prose
}

/// It lives as long as the process: cutting it is not measured, nor is dropping it.
fn chunks(text: String) -> Chunks {
    let text: &'static str = text.leak();
    (0..text.len()).step_by(CHUNK).map(|at| &text[at..(at + CHUNK).min(text.len())]).collect()
}
