//! The same answer, made the plain way: from the whole turn at once, without chunks, time or state that
//! is held back.

use bridge::{EndReason, OutputMode, Preamble, StopAfterTools, TextBlocks, Tokenizer, TurnPolicy};
use model_turn::{Failure, FailureKind, TurnEvent};
use openai_wire::FinishReason;
use serde_json::{Value, json};
use tool_call_aggregator::{ParsedTextBlock, ScanEvent, TextPatterns};

use crate::play::{Answer, BREAK, Sent, Words, called, rendered, shown};
use crate::script::Line;

/// What a model says, in order.
enum Said {
    /// Another message begins, and has text.
    Message,
    /// All text up to the next call.
    Text {
        text: String,
        /// The position of a block that is not closed, or of the end.
        unclosed_at: usize,
    },
    Call(Call),
    End,
    Failed(Failure),
}

struct Call {
    name: String,
    arguments: String,
    /// The block that it stands in, unless it is a structured one.
    raw: Option<String>,
}

/// A call that was sent.
struct Known {
    name: String,
    value: Value,
    structured: bool,
    in_text: bool,
}

struct Naive<'a> {
    policy: &'a TurnPolicy,
    sent: Vec<Sent>,
    /// Held until the demanded call comes.
    preamble: Preamble,
    /// Text that is held back, message by message; never empty.
    tail: Vec<String>,
    message_begins: bool,
    after_block: bool,
    known: Vec<Known>,
    tokens_left: usize,
    dropped: bool,
    suppressed: usize,
}

/// The answer to a whole turn. It is truncated if a call was dropped; what else truncates it depends
/// on when the end is heard of.
pub(crate) fn answer(policy: &TurnPolicy, script: &[Line]) -> Answer {
    let mut naive = Naive {
        policy,
        sent: Vec::new(),
        preamble: policy.preamble,
        tail: vec![String::new()],
        message_begins: false,
        after_block: false,
        known: Vec::new(),
        tokens_left: policy.max_tokens.map_or(usize::MAX, |tokens| tokens as usize),
        dropped: false,
        suppressed: 0,
    };
    for said in everything_said(policy, script) {
        let end = match said {
            Said::Message => naive.message(),
            Said::Text { text, unclosed_at } => naive.text(&text, unclosed_at),
            Said::Call(call) => naive.call(&call),
            Said::End if naive.known.is_empty() => Some(EndReason::Completed),
            Said::End => Some(EndReason::ToolCalls),
            Said::Failed(failure) => Some(naive.failed(&failure)),
        };
        if let Some(end) = end {
            return naive.end(end);
        }
    }
    unreachable!("a script has an end")
}

/// The longest text without a call, in bytes.
pub(crate) fn longest_text(policy: &TurnPolicy, script: &[Line]) -> usize {
    let said = everything_said(policy, script).into_iter();
    let lengths = said.map(|said| if let Said::Text { text, .. } = said { text.len() } else { 0 });
    lengths.max().unwrap_or(0)
}

/// Whether a client would execute a block that is not closed.
pub(crate) fn has_unclosed_block(policy: &TurnPolicy, script: &[Line]) -> bool {
    everything_said(policy, script)
        .iter()
        .any(|said| matches!(said, Said::Text { text, unclosed_at } if *unclosed_at < text.len()))
}

fn everything_said(policy: &TurnPolicy, script: &[Line]) -> Vec<Said> {
    let mut said = Vec::new();
    let mut message = Message::default();
    for line in script {
        let Line::Event(event) = line else { continue };
        let next = match event {
            TurnEvent::Text(text) => {
                message.text.push_str(text);
                continue;
            }
            // The whole call has it all.
            TurnEvent::ToolCallStart { .. }
            | TurnEvent::ToolCallArguments(_)
            | TurnEvent::Refusal(_) => continue,
            TurnEvent::MessageStart { .. } => {
                message.say(policy, Rest::Closed, &mut said);
                message.is_announced = true;
                continue;
            }
            TurnEvent::Reasoning { .. } | TurnEvent::ReasoningItem(_) => {
                message.say(policy, Rest::Closed, &mut said);
                continue;
            }
            TurnEvent::ToolCall(call) => Said::Call(Call {
                name: call.name.name.clone(),
                arguments: call.arguments.clone(),
                raw: None,
            }),
            TurnEvent::ResponseEnd { .. } | TurnEvent::End(_) => Said::End,
            TurnEvent::Failed(failure) => Said::Failed(failure.clone()),
        };
        let rest = if let Said::Failed(_) = next { Rest::Cut } else { Rest::Closed };
        message.say(policy, rest, &mut said);
        said.push(next);
    }
    said
}

/// A message that may grow.
#[derive(Default)]
struct Message {
    text: String,
    is_announced: bool,
}

/// What is known of the end of a text.
#[derive(Clone, Copy)]
enum Rest {
    Closed,
    /// There would have been more.
    Cut,
}

// === impl Message ===

impl Message {
    fn say(&mut self, policy: &TurnPolicy, rest: Rest, said: &mut Vec<Said>) {
        if self.text.is_empty() {
            return;
        }
        let Self { text, is_announced } = std::mem::take(self);
        said.extend(is_announced.then_some(Said::Message));
        say_text(policy, &text, rest, said);
    }
}

fn say_text(policy: &TurnPolicy, message: &str, rest: Rest, said: &mut Vec<Said>) {
    let mut from = 0;
    for block in blocks(policy, message, rest) {
        let is_call = match policy.text_blocks {
            TextBlocks::Any => true,
            TextBlocks::Declared => policy.tools.schema(&block.name).is_some(),
            TextBlocks::Ignored => false,
        };
        if is_call {
            said.push(Said::text(&message[from..block.start]));
            from = block.end;
            let (name, arguments) = (block.name, block.args_text);
            said.push(Said::Call(Call { name, arguments, raw: Some(block.raw) }));
        }
    }
    let text = &message[from..];
    let executes = policy.mode == OutputMode::ObsidianXml
        && policy.text_blocks != TextBlocks::Ignored
        && matches!(rest, Rest::Closed);
    let open =
        text.rfind("<use_tool>").filter(|at| executes && !text[*at..].contains("</use_tool>"));
    said.push(Said::Text { text: text.to_owned(), unclosed_at: open.unwrap_or(text.len()) });
}

/// The blocks of a text. The end may complete one with broken JSON, a cut does not.
fn blocks(policy: &TurnPolicy, text: &str, rest: Rest) -> Vec<ParsedTextBlock> {
    let mut scanner = TextPatterns::default().scanner();
    if policy.mode == OutputMode::OpenAiJson && !policy.tools.is_empty() {
        scanner = scanner.with_fences_as_text();
    }
    let block = |event: ScanEvent<'_>| match event {
        ScanEvent::Block(block) => Some(block.clone()),
        ScanEvent::Text(_) | ScanEvent::BlockOpened { .. } => None,
    };
    let mut blocks: Vec<_> = scanner.push(text).filter_map(block).collect();
    if let Rest::Closed = rest {
        blocks.extend(scanner.finish().filter_map(block));
    }
    blocks
}

// === impl Said ===

impl Said {
    fn text(text: &str) -> Self {
        Self::Text { text: text.to_owned(), unclosed_at: text.len() }
    }
}

// === impl Naive ===

impl Naive<'_> {
    fn message(&mut self) -> Option<EndReason> {
        if self.tail_bytes() > 0 {
            self.tail.push(String::new());
        } else {
            self.message_begins = true;
        }
        None
    }

    fn text(&mut self, text: &str, unclosed_at: usize) -> Option<EndReason> {
        if self.preamble == Preamble::Held {
            let (visible, end) = self.visible(text);
            let last = self.tail.len() - 1;
            self.tail[last].push_str(visible);
            if self.tail_bytes() > self.policy.max_held_bytes {
                self.preamble = Preamble::Sent;
                self.release();
            }
            return end;
        }
        if !self.policy.suppress_tail || self.known.is_empty() {
            let (visible, end) = self.visible(text);
            self.send(visible);
            return end;
        }
        let (held, block) = text.split_at(unclosed_at);
        self.hold(held).or_else(|| {
            let (visible, end) = self.visible(block);
            if !visible.is_empty() {
                self.release();
                self.send(visible);
            }
            end
        })
    }

    /// What may be seen of a text.
    fn visible<'t>(&mut self, text: &'t str) -> (&'t str, Option<EndReason>) {
        let (mut visible, mut end) = match self.stop_in(text) {
            Some(at) => (&text[..at], Some(EndReason::StopSequence)),
            None => (text, None),
        };
        if Words.count(visible) > self.tokens_left {
            visible = &visible[..Words.head(visible, self.tokens_left)];
            end = Some(EndReason::MaxTokens);
        }
        self.tokens_left -= Words.count(visible).min(self.tokens_left);
        (visible, end)
    }

    fn hold(&mut self, text: &str) -> Option<EndReason> {
        let (visible, end) = self.visible(text);
        let last = self.tail.len() - 1;
        self.tail[last].push_str(visible);
        if self.tail_bytes() <= self.policy.max_held_bytes {
            return end;
        }
        while self.tail_bytes() > self.policy.max_held_bytes {
            self.tail[last].pop();
        }
        Some(EndReason::HeldText)
    }

    fn tail_bytes(&self) -> usize {
        self.tail.iter().map(String::len).sum()
    }

    fn release(&mut self) {
        for (number, text) in
            std::mem::replace(&mut self.tail, vec![String::new()]).iter().enumerate()
        {
            self.message_begins |= number > 0;
            self.send(text);
        }
    }

    /// Where the stop sequence begins that is complete first, the longest of several.
    fn stop_in(&self, text: &str) -> Option<usize> {
        let sequences = &self.policy.stop_sequences;
        let mut ends = (0..=text.len()).filter(|end| text.is_char_boundary(*end));
        ends.find_map(|end| {
            let complete = sequences.iter().filter(|one| text[..end].ends_with(one.as_str()));
            complete.map(String::len).max().map(|longest| end - longest)
        })
    }

    fn call(&mut self, call: &Call) -> Option<EndReason> {
        let raw_bytes = call.raw.as_ref().map_or(0, String::len);
        if self.is_said_before(call) {
            self.suppressed += raw_bytes;
            return None;
        }
        if self.policy.max_calls.is_some_and(|most| self.known.len() >= most.get()) {
            self.suppressed += raw_bytes;
            self.dropped = true;
            return Some(EndReason::CallCap);
        }
        if std::mem::take(&mut self.preamble) == Preamble::Held {
            self.suppressed += self.tail_bytes();
            self.tail = vec![String::new()];
        }
        self.release();
        if self.policy.mode == OutputMode::ObsidianXml {
            if self.after_block && !self.policy.delimiter.is_empty() {
                self.message_begins = false;
                self.send(&self.policy.delimiter);
            }
            self.separate();
            self.after_block = true;
            self.sent.push(match &call.raw {
                Some(raw) => shown(raw),
                None => rendered(&call.name, &call.arguments),
            });
        }
        let arguments = if call.arguments.is_empty() { "{}" } else { &call.arguments };
        self.sent.push(called(self.known.len(), &call.name, arguments));
        self.known.push(Known {
            name: call.name.clone(),
            value: value(&call.arguments),
            structured: call.raw.is_none(),
            in_text: call.raw.is_some(),
        });
        (self.policy.stop_after_tools == StopAfterTools::First).then_some(EndReason::FirstCall)
    }

    /// Whether it is the twin of a call, or a repetition that is dropped.
    fn is_said_before(&mut self, call: &Call) -> bool {
        let value = value(&call.arguments);
        let mut equal =
            self.known.iter_mut().filter(|known| known.name == call.name && known.value == value);
        match (&call.raw, self.policy.dedup) {
            (Some(_), false) => equal.any(|known| known.structured),
            (None, false) => {
                let twin = equal.find(|known| !known.structured);
                twin.map(|known| known.structured = true).is_some()
            }
            (raw, true) => {
                let Some(known) = equal.next() else { return false };
                let way = if raw.is_some() { &mut known.in_text } else { &mut known.structured };
                self.dropped |= std::mem::replace(way, true);
                true
            }
        }
    }

    /// Content follows.
    fn separate(&mut self) {
        let has_content = self.sent.iter().any(|sent| !matches!(sent, Sent::Call { .. }));
        if std::mem::take(&mut self.message_begins) && has_content {
            self.send(BREAK);
        }
    }

    fn send(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.separate();
        match self.sent.last_mut() {
            Some(Sent::Text(before)) => before.push_str(text),
            _ => self.sent.push(Sent::Text(text.to_owned())),
        }
        self.after_block = false;
    }

    fn failed(&self, failure: &Failure) -> EndReason {
        match failure.kind {
            _ if !self.known.is_empty() => EndReason::FailedAfterCalls,
            FailureKind::MaxOutput => EndReason::UpstreamLength,
            FailureKind::ContentFilter => EndReason::ContentFilter,
            _ => EndReason::Failed,
        }
    }

    fn end(mut self, end: EndReason) -> Answer {
        if self.preamble == Preamble::Held {
            self.release();
        }
        let finish = match end {
            _ if !self.known.is_empty() => Ok(FinishReason::ToolCalls),
            EndReason::MaxTokens | EndReason::UpstreamLength => Ok(FinishReason::Length),
            EndReason::ContentFilter => Ok(FinishReason::ContentFilter),
            EndReason::Failed => Err(FailureKind::StreamCut),
            _ => Ok(FinishReason::Stop),
        };
        Answer {
            suppressed: self.suppressed + self.tail_bytes(),
            sent: self.sent,
            told: Some(finish),
            end,
            truncated: self.dropped,
        }
    }
}

/// Arguments as they are compared.
fn value(arguments: &str) -> Value {
    if arguments.is_empty() {
        return json!({});
    }
    serde_json::from_str(arguments).unwrap_or_else(|_| json!({"not JSON": arguments}))
}
