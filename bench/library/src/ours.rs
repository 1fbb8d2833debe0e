//! Our crate, behind the same adapter as its peers.

use tool_call_aggregator::{ScanEvent, ScanEvents, TextPatterns, TextScanner, ToolCallJson};

use crate::corpus::{Block, Pattern, Segment, add_text};
use crate::reader::{Reader, Sink};

/// A scanner of text.
pub struct Text {
    scanner: TextScanner,
    calls: usize,
}

/// What is looked for.
pub fn patterns(pattern: Pattern) -> TextPatterns {
    let mut patterns = match pattern {
        Pattern::UseTool | Pattern::Both => TextPatterns::default(),
        Pattern::ToolCall => TextPatterns::none(),
    };
    if pattern != Pattern::UseTool {
        patterns.register("tool_call", ToolCallJson).expect("the name is free");
    }
    patterns
}

/// Reads a text that may be cut inside characters.
pub fn read_bytes<'a>(
    patterns: &TextPatterns,
    chunks: impl Iterator<Item = &'a [u8]>,
) -> Vec<Segment> {
    let mut scanner = patterns.scanner();
    let mut segments = Vec::new();
    for chunk in chunks {
        keep(scanner.push_bytes(chunk), &mut segments);
    }
    keep(scanner.finish(), &mut segments);
    segments
}

fn keep(events: ScanEvents<'_>, segments: &mut Vec<Segment>) {
    for event in events {
        match event {
            ScanEvent::Text(text) => add_text(segments, text),
            ScanEvent::BlockOpened { .. } => {}
            ScanEvent::Block(block) => segments.push(Segment::Block(Block {
                name: block.name.clone(),
                args_text: block.args_text.clone(),
                start: block.start,
                end: block.end,
                raw: block.raw.clone(),
            })),
        }
    }
}

// === impl Text ===

impl Text {
    pub fn new(pattern: Pattern) -> Self {
        Self { scanner: patterns(pattern).scanner(), calls: 0 }
    }

    fn pass(calls: &mut usize, events: ScanEvents<'_>, sink: &mut impl Sink) {
        for event in events {
            match event {
                ScanEvent::Text(text) => sink.text(text),
                ScanEvent::BlockOpened { .. } => {}
                ScanEvent::Block(block) => {
                    sink.name(*calls, &block.name);
                    sink.arguments(*calls, &block.args_text);
                    *calls += 1;
                }
            }
        }
    }
}

impl Reader for Text {
    fn push(&mut self, chunk: &str, sink: &mut impl Sink) {
        Self::pass(&mut self.calls, self.scanner.push(chunk), sink);
    }

    fn finish(&mut self, sink: &mut impl Sink) {
        Self::pass(&mut self.calls, self.scanner.finish(), sink);
    }
}
