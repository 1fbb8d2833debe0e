//! The blocks in the text of a choice.

use std::time::Instant;

use tool_call_aggregator::{ParsedTextBlock, ScanEvent, ScanEvents};

use super::Reply;
use super::calls::{Block, block_call};
use super::ending::Ending;
use crate::output::Output;
use crate::policy::{OutputMode, TextBlocks};

/// What comes after a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    /// Perhaps more of it.
    MayCome,
    /// Something else.
    Ended,
    /// Nothing, although there was more. A client must not execute half a block, so an open one is text.
    Cut,
}

// === impl Reply ===

impl Reply {
    pub(super) fn on_scanned(
        &mut self,
        mut events: ScanEvents<'_>,
        rest: Rest,
        now: Instant,
        out: &mut impl Output,
    ) {
        // Obsidian Copilot executes a block that is not closed.
        let executes_last = events.ends_in_block()
            && rest == Rest::Ended
            && self.policy.mode == OutputMode::ObsidianXml;
        while let Some(event) = events.next() {
            if self.ending.is_some() {
                return;
            }
            match event {
                ScanEvent::BlockOpened { .. } => {
                    self.block_open = true;
                    self.blocks.started += 1;
                    continue;
                }
                ScanEvent::Text(text) if executes_last && events.len() == 0 => {
                    self.show_unclosed_block(text, out);
                }
                ScanEvent::Text(text) => self.show(text, out),
                ScanEvent::Block(block) if rest != Rest::Cut && self.is_call(block) => {
                    self.blocks.flushed += 1;
                    self.on_block(block, now, out);
                }
                ScanEvent::Block(block) => self.show(&block.raw, out),
            }
            if std::mem::take(&mut self.block_open) {
                // The time that a block takes is no silence.
                self.restart_burst(now);
            }
        }
    }

    /// In a request that declares tools a block of another name is just text.
    fn is_call(&self, block: &ParsedTextBlock) -> bool {
        match self.policy.text_blocks {
            TextBlocks::Ignored => false,
            TextBlocks::Any => true,
            TextBlocks::Declared => self.policy.tools.schema(&block.name).is_some(),
        }
    }

    fn on_block(&mut self, block: &ParsedTextBlock, now: Instant, out: &mut impl Output) {
        self.flush_visible(out);
        if self.ending.is_none() {
            let call = block_call(block, &self.policy.tools);
            let block = Block { raw: &block.raw, start: self.text_start + block.start };
            self.forward(&call, Some(block), now, out);
        }
    }

    fn show_unclosed_block(&mut self, block: &str, out: &mut impl Output) {
        if let Some(end) = self.visible.push_unclosed_block(block, out) {
            self.ending = Some(Ending::Finished(end));
        }
    }

    /// What could have become a block or a stop sequence cannot any more.
    pub(super) fn flush_scanner(&mut self, rest: Rest, now: Instant, out: &mut impl Output) {
        if let Some(mut scanner) = self.scanner.take() {
            self.on_scanned(scanner.finish(), rest, now, out);
            self.block_open = false;
            self.text_start = self.text_bytes;
            self.scanner = Some(scanner);
        }
    }
}
