//! The crate's own reading of a text, in the terms of the reference.

use tool_call_aggregator::{
    Limits, ParsedTextBlock, ScanEvent, TextPatterns, TextScanner, ToolCallJson,
};

use crate::bracket::Bracket;
use crate::reference::{Block, Grammar, Outcome};

impl From<ParsedTextBlock> for Block {
    fn from(block: ParsedTextBlock) -> Self {
        let ParsedTextBlock { start, end, name, args_text, raw } = block;
        Self { start, end, name, args_text, raw }
    }
}

/// A scanner for these grammars.
pub(crate) fn scanner(grammars: &[Grammar], limits: Limits) -> TextScanner {
    let scanner = TextScanner::with_limits(&patterns(grammars), limits);
    if grammars.contains(&Grammar::Fences) { scanner.with_fences_as_text() } else { scanner }
}

fn patterns(grammars: &[Grammar]) -> TextPatterns {
    let mut patterns = TextPatterns::default();
    if !grammars.contains(&Grammar::UseTool) {
        assert!(patterns.remove("use_tool"), "the built-in one is there from the beginning");
    }
    if grammars.contains(&Grammar::ToolCall) {
        patterns.register("tool_call", ToolCallJson).unwrap();
    }
    if grammars.contains(&Grammar::Bracket) {
        patterns.register("bracket", Bracket).unwrap();
    }
    patterns
}

/// What a scanner has said so far.
pub(crate) struct Reading {
    scanner: TextScanner,
    outcome: Outcome,
    opened: Option<usize>,
}

impl Reading {
    pub(crate) fn new(grammars: &[Grammar]) -> Self {
        let scanner = scanner(grammars, Limits::default());
        Self { scanner, outcome: Outcome::default(), opened: None }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        for event in self.scanner.push_bytes(bytes) {
            take(&mut self.outcome, &mut self.opened, event);
        }
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        for event in self.scanner.push(text) {
            take(&mut self.outcome, &mut self.opened, event);
        }
    }

    /// What is certain by now.
    pub(crate) fn so_far(&self) -> &Outcome {
        &self.outcome
    }

    pub(crate) fn finish(mut self) -> Outcome {
        for event in self.scanner.finish() {
            take(&mut self.outcome, &mut self.opened, event);
        }
        self.outcome.unnamed = usize::try_from(self.scanner.counts().unnamed).unwrap();
        self.outcome
    }
}

fn take(outcome: &mut Outcome, opened: &mut Option<usize>, event: ScanEvent<'_>) {
    match event {
        ScanEvent::Text(text) => {
            assert!(!text.is_empty(), "an event that says nothing");
            outcome.text(text);
        }
        ScanEvent::BlockOpened { start } => *opened = Some(start),
        ScanEvent::Block(block) => {
            assert_eq!(opened.take(), Some(block.start), "a block is opened before it is there");
            outcome.block(block.clone().into());
        }
    }
}

/// A text that arrives in these chunks.
pub(crate) fn scan<'c>(
    grammars: &[Grammar],
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Outcome {
    let mut reading = Reading::new(grammars);
    for chunk in chunks {
        reading.push(chunk);
    }
    reading.finish()
}
