//! The blocks in the text of a choice.

use std::time::Instant;

use model_turn::{ToolCall, ToolCallKind};
use serde_json::Value;
use tool_call_aggregator::{ParsedTextBlock, ScanEvent, ScanEvents};

use super::Reply;
use super::calls::Block;
use super::ending::Ending;
use crate::declared_tools::DeclaredTools;
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

/// The call that a block makes.
fn block_call(block: &ParsedTextBlock, tools: &DeclaredTools) -> ToolCall {
    let other = tools.other(&block.name);
    let is_custom = other.is_some_and(|tool| tool.is_custom);
    ToolCall {
        // A block has no ids.
        call_id: String::new(),
        item_id: None,
        name: other.map_or_else(|| block.name.as_str().into(), |tool| tool.name.clone()),
        arguments: if is_custom { block_input(block) } else { block.args_text.clone() },
        kind: if is_custom { ToolCallKind::Custom } else { ToolCallKind::Function },
        deviation: None,
    }
}

/// The input of a custom tool that was called in a block.
fn block_input(block: &ParsedTextBlock) -> String {
    match serde_json::from_str(&block.args_text) {
        Ok(Value::Object(mut members)) if members.len() == 1 => match members.remove("input") {
            Some(Value::String(input)) => input,
            _ => block.args_text.clone(),
        },
        _ => block.args_text.clone(),
    }
}
