//! One choice of an answer as a state machine: the turn's events and the clock in, content and calls
//! out.

mod blocks;
mod calls;
mod ending;
mod failures;
mod stop_sequences;
mod streamed_call;
mod token_limit;
mod visible;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use model_turn::{
    Failure, FailureKind, MessagePhase, ReasoningItem, ReasoningKind, TokenUsage, ToolCall,
    TurnEnd, TurnEvent,
};
use openai_wire::FinishReason;
use tool_call_aggregator::{SuffixSource, TextScanner};

use crate::finish::{BlockCounts, EndReason};
use crate::output::{Output, Piece};
use crate::policy::{OutputMode, StopAfterTools, TextBlocks, TurnPolicy};
use crate::reasoning::ReasoningTrail;
use blocks::Rest;
use calls::{Block, Calls, rendered};
use ending::Ending;
use failures::{interrupted, unfinished};
pub use token_limit::Tokenizer;
use visible::VisibleText;

/// The end of a choice. Whatever comes later is dropped.
#[derive(Debug, PartialEq)]
pub enum Ended {
    /// With a finish reason.
    Finished(FinishReason),
    /// Without one: there is an error to send.
    Failed(Failure),
}

/// One choice of an answer.
#[derive(Debug)]
pub struct Reply {
    policy: Arc<TurnPolicy>,
    /// Finds blocks; taken while its events are read, and if blocks are ignored.
    scanner: Option<TextScanner>,
    /// Whether a block has begun and is not complete.
    block_open: bool,
    /// The same for a structured call, also one that is not forwarded yet.
    call_open: bool,
    blocks: BlockCounts,
    /// How many values differ in the blocks that were made for calls.
    altered_values: usize,
    /// Bytes of text so far, and where the text began that the scanner reads.
    text_bytes: usize,
    text_start: usize,
    calls: Calls,
    visible: VisibleText,
    /// The part of the reasoning that was last continued.
    reasoning_part: Option<ReasoningPart>,
    trail: ReasoningTrail,
    /// When the burst is over, if a time is set.
    burst_until: Option<Instant>,
    response_ended: bool,
    usage: Option<TokenUsage>,
    speech: Speech,
    /// A message that has begun and has no text yet.
    next_message: Option<NextMessage>,
    /// How much text and reasoning it may still have.
    bytes_left: usize,
    /// How to end, found while an event was being read.
    ending: Option<Ending>,
    failure: Option<FailureKind>,
    end: Option<EndReason>,
}

/// A part of the reasoning: of which item, and which of that.
type ReasoningPart = (usize, u32);

#[derive(Debug)]
struct NextMessage {
    phase: Option<MessagePhase>,
}

/// What the model has sent by now: text and calls, without its reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speech {
    Nothing,
    /// What follows does not continue it.
    Something,
    OpenMessage,
}

// === impl Reply ===

impl Reply {
    /// A choice of an answer. `tokenizer` is needed where the policy limits tokens, and `id_suffix`
    /// makes ids unique where the backend's own cannot be carried.
    pub fn new(
        policy: Arc<TurnPolicy>,
        choice: u32,
        tokenizer: Option<Arc<dyn Tokenizer>>,
        id_suffix: SuffixSource,
    ) -> Self {
        let calls = Calls::new(&policy, choice, id_suffix);
        let scanner = match policy.text_blocks {
            TextBlocks::Ignored => None,
            TextBlocks::Declared | TextBlocks::Any if policy.shows_examples() => {
                Some(calls.scanner().with_fences_as_text())
            }
            TextBlocks::Declared | TextBlocks::Any => Some(calls.scanner()),
        };
        Self {
            scanner,
            block_open: false,
            call_open: false,
            blocks: BlockCounts::default(),
            altered_values: 0,
            text_bytes: 0,
            text_start: 0,
            calls,
            visible: VisibleText::new(&policy, tokenizer),
            reasoning_part: None,
            trail: ReasoningTrail::default(),
            burst_until: None,
            response_ended: false,
            usage: None,
            speech: Speech::Nothing,
            next_message: None,
            bytes_left: policy.max_answer_bytes,
            policy,
            ending: None,
            failure: None,
            end: None,
        }
    }

    /// Takes the next event of the turn.
    pub fn on_event(
        &mut self,
        event: TurnEvent,
        now: Instant,
        out: &mut impl Output,
    ) -> Option<Ended> {
        if self.end.is_some() {
            return None;
        }
        if self.calls.is_open() && self.is_beside_the_open_call(&event) {
            return Some(self.fail(unfinished(), now, out));
        }
        match event {
            TurnEvent::Text(text) => {
                let fitting = self.fitting(&text);
                self.on_text(fitting, now, out);
                if fitting.len() < text.len() {
                    return Some(self.overflow(now, out));
                }
            }
            TurnEvent::Reasoning { kind, part, text } => {
                let fitting = self.fitting(&text);
                self.end_message(now, out);
                self.on_reasoning(kind, part, fitting, out);
                if fitting.len() < text.len() {
                    return Some(self.overflow(now, out));
                }
            }
            TurnEvent::ReasoningItem(item) => {
                let encrypted = item.encrypted_content.as_deref().unwrap_or_default();
                if self.fitting(encrypted).len() < encrypted.len() {
                    return Some(self.overflow(now, out));
                }
                self.end_message(now, out);
                self.on_reasoning_item(item, out);
            }
            TurnEvent::MessageStart { phase } => {
                self.end_message(now, out);
                self.next_message = Some(NextMessage { phase });
            }
            TurnEvent::ToolCallStart { call_id, name, kind } => {
                self.on_call_start(&call_id, &name, kind, now, out);
            }
            TurnEvent::ToolCallArguments(text) => self.on_arguments(&text, out),
            TurnEvent::ToolCall(call) => self.on_call(&call, now, out),
            TurnEvent::Refusal(text) => {
                let fitting = self.fitting(&text);
                self.on_refusal(fitting, now, out);
                if fitting.len() < text.len() {
                    return Some(self.overflow(now, out));
                }
            }
            TurnEvent::ResponseEnd { usage, .. } => {
                self.usage = usage;
                self.response_ended = true;
                // Otherwise it may be a refusal, which only the turn's last event shows.
                if self.speech != Speech::Nothing {
                    return Some(self.complete(now, out));
                }
            }
            TurnEvent::Failed(failure) => return Some(self.fail(failure, now, out)),
            TurnEvent::End(TurnEnd::Completed | TurnEnd::ToolCalls) => {
                self.response_ended = true;
                return Some(self.complete(now, out));
            }
            // Nobody but us interrupts a turn, and by then it has ended here.
            TurnEvent::End(TurnEnd::Interrupted) => {
                return Some(self.fail(interrupted(), now, out));
            }
        }
        self.ending.take().map(|ending| self.end(ending, out))
    }

    /// When [`Self::on_time`] wants to be called, if nothing happens before.
    pub fn deadline(&self) -> Option<Instant> {
        let is_writing = self.block_open || self.call_open;
        self.burst_until.filter(|_| self.end.is_none() && !is_writing)
    }

    /// Time has passed.
    pub fn on_time(&mut self, now: Instant, out: &mut impl Output) -> Option<Ended> {
        let due = self.deadline().is_some_and(|deadline| deadline <= now);
        due.then(|| self.conclude(EndReason::Grace, now, out))
    }

    /// As much of a text as the answer may still have, however it was cut.
    fn fitting<'a>(&mut self, text: &'a str) -> &'a str {
        let end = text.floor_char_boundary(self.bytes_left);
        self.bytes_left -= end;
        &text[..end]
    }

    /// What follows does not continue the text so far, if there is any.
    fn end_message(&mut self, now: Instant, out: &mut impl Output) {
        if self.speech == Speech::OpenMessage {
            self.speech = Speech::Something;
            self.flush(now, out);
        }
    }

    fn on_text(&mut self, text: &str, now: Instant, out: &mut impl Output) {
        if !text.is_empty() {
            self.speech = Speech::OpenMessage;
            self.trail.on_text();
            if let Some(NextMessage { phase }) = self.next_message.take() {
                self.visible.begin_message(phase, out);
            }
        }
        self.text_bytes += text.len();
        match self.scanner.take() {
            None => self.show(text, out),
            Some(mut scanner) => {
                self.on_scanned(scanner.push(text), Rest::MayCome, now, out);
                self.scanner = Some(scanner);
            }
        }
    }

    fn on_refusal(&mut self, text: &str, now: Instant, out: &mut impl Output) {
        self.speech = Speech::Something;
        self.flush(now, out);
        if self.ending.is_none() {
            // No call comes after it.
            self.visible.release_preamble(out);
            self.visible.count(text);
            out.write(Piece::Refusal(text));
        }
    }

    fn on_call(&mut self, call: &ToolCall, now: Instant, out: &mut impl Output) {
        self.call_open = false;
        if self.calls.is_open() {
            return self.end_call(call, now, out);
        }
        self.speech = Speech::Something;
        // A message ends before the call that follows it.
        self.flush(now, out);
        if self.ending.is_none() {
            self.calls.note_deviation(call);
            self.forward(call, None, now, out);
        }
    }

    /// Forwards a whole call, which may stand in the text.
    fn forward(
        &mut self,
        call: &ToolCall,
        block: Option<Block<'_>>,
        now: Instant,
        out: &mut impl Output,
    ) {
        let raw = block.map(|block| block.raw);
        match self.calls.take(call, block) {
            Ok(Some(part)) => {
                let xml = match (self.policy.mode, raw) {
                    (OutputMode::OpenAiJson, _) => None,
                    (OutputMode::ObsidianXml, Some(raw)) => Some(Cow::from(raw)),
                    (OutputMode::ObsidianXml, None) => {
                        let (xml, altered) = rendered(call, &self.policy);
                        self.altered_values += altered;
                        Some(xml.into())
                    }
                };
                self.visible.begin_call(xml.as_deref(), &self.policy.delimiter, out);
                out.write(Piece::Call(&part));
                out.write(Piece::CallEnd);
                self.trail.on_call(part.head.map_or("", |head| head.id));
                if self.policy.stop_after_tools == StopAfterTools::First {
                    self.ending = Some(Ending::Finished(EndReason::FirstCall));
                }
            }
            // The block of a call that was rendered before would make the client act twice.
            Ok(None) => self.visible.suppress(raw.map_or(0, str::len)),
            Err(ending) => {
                self.visible.suppress(raw.map_or(0, str::len));
                self.ending = Some(ending);
            }
        }
        if let Some(raw) = raw {
            self.visible.count(raw);
        } else {
            self.visible.count(&call.name.name);
            self.visible.count(&call.arguments);
        }
        // Also by a call that is not forwarded: the model is still at it.
        self.restart_burst(now);
    }

    fn restart_burst(&mut self, now: Instant) {
        if let StopAfterTools::Burst { grace: Some(grace) } = self.policy.stop_after_tools
            && self.calls.count() > 0
        {
            self.burst_until = Some(now + grace);
        }
    }

    fn on_reasoning(&mut self, kind: ReasoningKind, part: u32, text: &str, out: &mut impl Output) {
        let unseen = !self.policy.reasoning || kind == ReasoningKind::Raw || text.is_empty();
        if unseen || self.ending.is_some() {
            return;
        }
        let part = (self.trail.items(), part);
        if self.reasoning_part.replace(part).is_some_and(|before| before != part) {
            out.write(Piece::ReasoningPart);
        }
        out.write(Piece::Reasoning(text));
    }

    fn on_reasoning_item(&mut self, mut item: ReasoningItem, out: &mut impl Output) {
        if self.ending.is_some() {
            return;
        }
        if self.policy.reasoning {
            out.write(Piece::ReasoningItem(&item));
        } else {
            let summary = std::mem::take(&mut item.summary);
            out.write(Piece::ReasoningItem(&item));
            item.summary = summary;
        }
        self.trail.on_item(item);
    }

    fn show(&mut self, text: &str, out: &mut impl Output) {
        if let Some(end) = self.visible.push(text, out) {
            self.ending = Some(Ending::Finished(end));
        }
    }

    fn flush_visible(&mut self, out: &mut impl Output) {
        if let Some(end) = self.visible.flush(out) {
            self.ending = Some(Ending::Finished(end));
        }
    }

    /// No more text follows.
    fn flush(&mut self, now: Instant, out: &mut impl Output) {
        self.flush_before(Rest::Ended, now, out);
    }

    fn flush_before(&mut self, rest: Rest, now: Instant, out: &mut impl Output) {
        self.flush_scanner(rest, now, out);
        if self.ending.is_none() {
            self.flush_visible(out);
        }
    }
}
