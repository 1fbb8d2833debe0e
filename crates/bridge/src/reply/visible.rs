//! Visible text on its way out: stop sequences, then the limit of tokens, then the tail after a call.

use std::sync::Arc;

use model_turn::MessagePhase;

use super::stop_sequences::StopSequences;
use super::token_limit::{TokenLimit, Tokenizer};
use crate::finish::EndReason;
use crate::output::{Output, Piece};
use crate::policy::{Preamble, TurnPolicy};

/// The visible text of one choice.
#[derive(Debug)]
pub(super) struct VisibleText {
    stop: StopSequences,
    limited: Limited,
}

/// Text without stop sequences.
#[derive(Debug)]
struct Limited {
    limit: Option<TokenLimit>,
    sent: Sent,
    /// Why no more text is visible.
    end: Option<EndReason>,
}

/// What was sent, and what may still be.
#[derive(Debug, Default)]
struct Sent {
    /// Most text after a call that is held back; `None` sends it at once.
    max_tail: Option<usize>,
    /// Most text before a forced call that is held back; `None` once there is nothing to wait for.
    max_preamble: Option<usize>,
    /// Text after a call: the next call releases it, the end drops it. Or text before a forced call: the
    /// call drops it, the end releases it.
    tail: String,
    /// Messages that begin in the tail: the position, and the phase.
    tail_messages: Vec<(usize, Option<MessagePhase>)>,
    /// Set while a block is taken that is not closed: clients execute it, so it is never a tail.
    is_unclosed_block: bool,
    /// Stands before the next content, if there is content already: another message begins.
    separator: &'static str,
    /// Whether content has the text of several messages.
    has_joined: bool,
    /// Bytes of content, blocks and separators included.
    content_bytes: usize,
    last_call_end: Option<usize>,
    /// Whether the last thing that was sent is a block.
    after_block: bool,
    suppressed: usize,
    /// Text and calls, for counting tokens.
    said: String,
}

// === impl VisibleText ===

impl VisibleText {
    pub(super) fn new(policy: &TurnPolicy, tokenizer: Option<Arc<dyn Tokenizer>>) -> Self {
        let limit = tokenizer.zip(policy.max_tokens);
        let sent = Sent {
            max_tail: policy.suppress_tail.then_some(policy.max_held_bytes),
            max_preamble: (policy.preamble == Preamble::Held).then_some(policy.max_held_bytes),
            ..Sent::default()
        };
        Self {
            stop: StopSequences::new(&policy.stop_sequences),
            limited: Limited {
                limit: limit.map(|(tokenizer, tokens)| TokenLimit::new(tokenizer, tokens)),
                sent,
                end: None,
            },
        }
    }

    /// Takes text that is not part of a call; returns the reason if it is the last.
    pub(super) fn push(&mut self, text: &str, out: &mut impl Output) -> Option<EndReason> {
        let Self { stop, limited } = self;
        if stop.push(text, |part| limited.push(part, out)).is_some() {
            limited.flush(out);
            limited.end.get_or_insert(EndReason::StopSequence);
        }
        limited.end
    }

    /// Takes a block that is not closed when its message ends. It is sent, and the tail before it.
    pub(super) fn push_unclosed_block(
        &mut self,
        block: &str,
        out: &mut impl Output,
    ) -> Option<EndReason> {
        if !self.limited.sent.is_after_call() {
            return self.push(block, out);
        }
        self.flush(out).or_else(|| {
            self.limited.sent.is_unclosed_block = true;
            let end = self.push(block, out).or_else(|| self.flush(out));
            self.limited.sent.is_unclosed_block = false;
            end
        })
    }

    /// The text that follows is another message.
    pub(super) fn begin_message(&mut self, phase: Option<MessagePhase>, out: &mut impl Output) {
        let sent = &mut self.limited.sent;
        if sent.tail.is_empty() {
            out.write(Piece::Message(phase));
            sent.separator = out.separator();
        } else {
            sent.tail_messages.push((sent.tail.len(), phase));
        }
    }

    /// What follows does not continue the text so far.
    pub(super) fn flush(&mut self, out: &mut impl Output) -> Option<EndReason> {
        let Self { stop, limited } = self;
        stop.flush(|part| limited.push(part, out));
        limited.flush(out);
        limited.end
    }

    /// A call is sent next: first what was held back before it, then its block if it has one.
    pub(super) fn begin_call(
        &mut self,
        block: Option<&str>,
        delimiter: &str,
        out: &mut impl Output,
    ) {
        let sent = &mut self.limited.sent;
        match sent.max_preamble.take() {
            Some(_) => sent.drop_tail(),
            None => sent.release_tail(out),
        }
        if let Some(block) = block {
            if sent.after_block && !delimiter.is_empty() {
                // It separates two messages as well.
                sent.separator = "";
                out.write(Piece::Text(delimiter));
                sent.content_bytes += delimiter.len();
            }
            sent.separate(out);
            out.write(Piece::Block(block));
            sent.content_bytes += block.len();
            sent.after_block = true;
        }
        sent.last_call_end = Some(sent.content_bytes);
    }

    /// Keeps what the model has written beside its text, for counting.
    pub(super) fn count(&mut self, text: &str) {
        self.limited.sent.said.push_str(text);
    }

    /// Text that is not sent.
    pub(super) fn suppress(&mut self, bytes: usize) {
        self.limited.sent.suppressed += bytes;
    }

    /// Nothing follows: a tail is dropped, and text before a call that never came is released.
    pub(super) fn end(&mut self, out: &mut impl Output) {
        self.release_preamble(out);
        self.drop_held();
    }

    /// No forced call comes any more: sends the text that was held back for one.
    pub(super) fn release_preamble(&mut self, out: &mut impl Output) {
        if self.limited.sent.max_preamble.take().is_some() {
            self.limited.sent.release_tail(out);
        }
    }

    /// Nothing more is sent.
    pub(super) fn drop_held(&mut self) {
        self.limited.sent.drop_tail();
    }

    /// Whether content has the text of several messages.
    pub(super) fn has_joined(&self) -> bool {
        self.limited.sent.has_joined
    }

    pub(super) fn suppressed(&self) -> usize {
        self.limited.sent.suppressed
    }

    pub(super) fn last_call_end(&self) -> Option<usize> {
        self.limited.sent.last_call_end
    }

    pub(super) fn into_said(self) -> String {
        self.limited.sent.said
    }
}

// === impl Limited ===

impl Limited {
    fn push(&mut self, text: &str, out: &mut impl Output) {
        let Self { limit, sent, end } = self;
        if end.is_some() {
            return;
        }
        match limit {
            None => *end = sent.take(text, out),
            Some(limit) => {
                let met = limit.push(text, |part| *end = end.or_else(|| sent.take(part, out)));
                *end = end.or(met.map(|_| EndReason::MaxTokens));
            }
        }
    }

    fn flush(&mut self, out: &mut impl Output) {
        let Self { limit, sent, end } = self;
        if let (Some(limit), None) = (limit, &end) {
            let met = limit.flush(|part| *end = end.or_else(|| sent.take(part, out)));
            *end = end.or(met.map(|_| EndReason::MaxTokens));
        }
    }
}

// === impl Sent ===

impl Sent {
    fn take(&mut self, text: &str, out: &mut impl Output) -> Option<EndReason> {
        if let Some(most) = self.max_preamble {
            self.hold_preamble(most, text, out);
            return None;
        }
        match self.max_tail {
            Some(most) if self.is_after_call() && !self.is_unclosed_block => {
                // How much was held must not depend on the chunks.
                let held = text.floor_char_boundary(most - self.tail.len());
                self.tail.push_str(&text[..held]);
                (held < text.len()).then_some(EndReason::HeldText)
            }
            _ => {
                if self.is_unclosed_block {
                    self.release_tail(out);
                }
                self.send(text, out);
                None
            }
        }
    }

    /// Text before a forced call.
    #[cold]
    fn hold_preamble(&mut self, most: usize, text: &str, out: &mut impl Output) {
        let held = text.floor_char_boundary(most - self.tail.len());
        self.tail.push_str(&text[..held]);
        if held < text.len() {
            // It looks like an answer.
            self.max_preamble = None;
            self.release_tail(out);
            self.send(&text[held..], out);
        }
    }

    /// Whether text is held back now.
    fn is_after_call(&self) -> bool {
        self.max_tail.is_some() && self.last_call_end.is_some()
    }

    fn drop_tail(&mut self) {
        let tail = std::mem::take(&mut self.tail);
        self.tail_messages.clear();
        self.suppressed += tail.len();
        self.said.push_str(&tail);
    }

    fn release_tail(&mut self, out: &mut impl Output) {
        let tail = std::mem::take(&mut self.tail);
        let mut done = 0;
        for (at, phase) in std::mem::take(&mut self.tail_messages) {
            self.send(&tail[done..at], out);
            out.write(Piece::Message(phase));
            self.separator = out.separator();
            done = at;
        }
        self.send(&tail[done..], out);
    }

    /// Content follows, perhaps of another message.
    #[inline]
    fn separate(&mut self, out: &mut impl Output) {
        if self.separator.is_empty() {
            return;
        }
        let separator = std::mem::take(&mut self.separator);
        if self.content_bytes > 0 {
            out.write(Piece::Text(separator));
            self.content_bytes += separator.len();
            self.has_joined = true;
        }
    }

    fn send(&mut self, text: &str, out: &mut impl Output) {
        if !text.is_empty() {
            self.separate(out);
            out.write(Piece::Text(text));
            self.said.push_str(text);
            self.content_bytes += text.len();
            self.after_block = false;
        }
    }
}
