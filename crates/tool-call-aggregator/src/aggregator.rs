//! The aggregator: events of calls in, calls out.

mod applying;
mod builder;
mod reading;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::call::Origin;
use crate::choice::{Change, Choice, Choices};
use crate::delta::{Deltas, Ingest};
use crate::event::{Arguments, CallEvent, Position};
use crate::ids::IdPolicy;
use crate::limits::{Limit, Limits};
use crate::options::{FragmentMode, RepeatPolicy, TextCalls};
use crate::record::ToolCallRecord;
use crate::sequence::Responses;
use crate::text::{self, Extracted, ParsedTextBlock, Rest, TextPatterns, TextScanner};
use crate::wire::{self, ChoiceOf, DeltaText};
pub use builder::Builder;

/// Puts the calls of one turn together, whatever events the backend has for them and in whatever pieces.
///
/// ```
/// use serde_json::json;
/// use tool_call_aggregator::ToolCallAggregator;
///
/// let mut calls = ToolCallAggregator::new();
/// for delta in [
///     json!({"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "add", "arguments": ""}}]}),
///     json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"a\":"}}]}),
///     json!({"tool_calls": [{"index": 0, "function": {"arguments": "1}"}}]}),
/// ] {
///     for delta in calls.ingest_delta(&delta, None).deltas {
///         println!("{}", serde_json::to_string(&delta)?);
///     }
/// }
/// assert_eq!(calls.snapshot(0)[0].arguments, r#"{"a":1}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug)]
pub struct ToolCallAggregator {
    id_policy: IdPolicy,
    repeat_policy: RepeatPolicy,
    fragments: FragmentMode,
    limits: Limits,
    patterns: TextPatterns,
    turn: Turn,
    /// What the running ingest has changed.
    changes: Vec<Change>,
    limit: Option<Limit>,
    sequence: Option<u64>,
    /// Whether the running ingest is about a response that another one has followed.
    is_late: bool,
    /// Counts ingests, so that a call knows whether its change belongs to the running one.
    ingests: u64,
}

/// Everything that a reset forgets.
#[derive(Debug, Default)]
struct Turn {
    choices: Choices,
    /// All calls, also those whose name is not known yet.
    calls: usize,
    /// The bytes of their arguments, names and ids.
    held: usize,
    /// The ids that clients have seen.
    ids: HashSet<Box<str>>,
    responses: HashMap<u32, Responses>,
    no_parallel_calls: bool,
}

// === impl ToolCallAggregator ===

impl Default for ToolCallAggregator {
    fn default() -> Self {
        Self::new()
    }
}

impl ToolCallAggregator {
    /// An aggregator with the default settings.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// An aggregator with settings of its own.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Takes one event of a stream: a Codex app-server message, a Responses event, a chat chunk or a
    /// part of one. What has nothing about calls changes nothing.
    ///
    /// Everything in the payload belongs to `choice`. With `None` the payload's own index counts
    /// (`choices[].index`, `choice_index`), and without one choice 0. So several streams, each of which
    /// counts from 0, can be merged:
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_call_aggregator::ToolCallAggregator;
    ///
    /// let mut calls = ToolCallAggregator::new();
    /// let delta = json!({"tool_calls": [{"index": 0, "function": {"name": "now", "arguments": ""}}]});
    /// let chunk = json!({"choices": [{"index": 0, "delta": delta}]});
    /// calls.ingest_delta(&chunk, None);
    /// calls.ingest_delta(&chunk, 1);
    /// assert_eq!(calls.choices().collect::<Vec<_>>(), [0, 1]);
    /// ```
    pub fn ingest_delta(&mut self, event: &Value, choice: impl Into<Option<u32>>) -> Ingest<'_> {
        self.ingest_payload(event, choice.into(), wire::Whole::No, TextCalls::Ignore)
    }

    /// Takes one event of a stream as JSON text, as [`ingest_delta`](Self::ingest_delta) does a parsed
    /// one. Increments of the Responses API are read without a tree of values.
    ///
    /// # Errors
    ///
    /// If `event` is not JSON.
    pub fn ingest_json(
        &mut self,
        event: &str,
        choice: impl Into<Option<u32>>,
    ) -> Result<Ingest<'_>, serde_json::Error> {
        self.ingest_text(event, choice.into())
    }

    fn ingest_text(
        &mut self,
        event: &str,
        choice: Option<u32>,
    ) -> Result<Ingest<'_>, serde_json::Error> {
        let Some(delta) = DeltaText::read(event) else {
            let event = serde_json::from_str(event)?;
            return Ok(self.ingest_delta(&event, choice));
        };
        // Such an event names no choice.
        let choice = choice.unwrap_or_default();
        self.begin();
        if self.admit(choice, delta.stamp()) {
            let event = delta.event();
            if !self.stream_on(choice, &event) {
                self.on_call(choice, &event);
            }
        }
        Ok(self.outcome())
    }

    /// Takes a whole message, response or list of items: what it has of a call is final.
    /// `choice` is as for [`ingest_delta`](Self::ingest_delta).
    pub fn ingest_message(
        &mut self,
        message: &Value,
        choice: impl Into<Option<u32>>,
        text_calls: TextCalls,
    ) -> Ingest<'_> {
        self.ingest_payload(message, choice.into(), wire::Whole::Yes, text_calls)
    }

    fn ingest_payload(
        &mut self,
        payload: &Value,
        choice: Option<u32>,
        whole: wire::Whole,
        text_calls: TextCalls,
    ) -> Ingest<'_> {
        let choice = ChoiceOf::from(choice);
        self.begin();
        wire::read(payload, choice, whole, self);
        if text_calls == TextCalls::EmitIfMissing {
            self.emit_missing(payload, choice);
        }
        self.outcome()
    }

    /// Takes what is known about one call, in borrowed text.
    pub fn ingest(&mut self, choice: u32, event: &CallEvent<'_>) -> Ingest<'_> {
        self.begin();
        if !self.stream_on(choice, event) {
            let is_text = matches!(event.position, Some(Position::TextBlock(_)));
            let origin = if is_text { Origin::Text } else { Origin::Structured };
            self.apply(choice, event, origin);
        }
        self.outcome()
    }

    /// Takes a block that was found in the text. One that is equal in name and JSON value to a
    /// structured call of the choice *is* that call. Structured calls should be complete by then: a
    /// call of which half is known is not equal to anything. Without a choice it is one of choice 0.
    pub fn ingest_block(
        &mut self,
        block: &ParsedTextBlock,
        choice: impl Into<Option<u32>>,
    ) -> Ingest<'_> {
        self.begin();
        self.apply_block(choice.into().unwrap_or_default(), block, 0);
        self.outcome()
    }

    /// Completes the calls of a choice: no more events of them follow. Those without arguments give a last
    /// delta, if a client that receives them has not been sent `{}` yet. A call that has reached a cap
    /// stays incomplete, and is reported once more.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_call_aggregator::ToolCallAggregator;
    ///
    /// let mut calls = ToolCallAggregator::new();
    /// let chunk = json!({"tool_calls": [{"index": 0, "function": {"name": "now", "arguments": ""}}]});
    /// calls.ingest_delta(&chunk, None);
    /// let frames: Vec<_> = calls.finish(0).deltas.map(|delta| serde_json::to_string(&delta)).collect();
    /// assert_eq!(frames[0].as_deref().ok(), Some(r#"{"index":0,"function":{"arguments":"{}"}}"#));
    /// assert!(!calls.finish(0).updated);
    /// ```
    pub fn finish(&mut self, choice: u32) -> Ingest<'_> {
        self.begin();
        if let Some(calls) = self.turn.choices.get_mut(&choice) {
            for (index, call) in calls.calls.iter_mut().enumerate() {
                if call.over_limit.is_some() {
                    self.limit = call.over_limit;
                    continue;
                }
                call.complete = true;
                if call.index.is_some() && call.record.arguments.is_empty() && !call.was_empty {
                    call.was_empty = true;
                    self.changes.push(Change::of(choice, index));
                }
            }
        }
        self.outcome()
    }

    /// Every call of a choice whose name is known, in the order in which they appeared.
    pub fn snapshot(&self, choice: u32) -> Vec<ToolCallRecord> {
        let calls = self.turn.choices.get(&choice);
        calls.map(|calls| calls.records().cloned().collect()).unwrap_or_default()
    }

    /// The calls of [`snapshot`](Self::snapshot), borrowed.
    pub fn records(&self, choice: u32) -> impl Iterator<Item = &ToolCallRecord> {
        self.turn.choices.get(&choice).into_iter().flat_map(Choice::records)
    }

    /// The choices that have calls.
    pub fn choices(&self) -> impl Iterator<Item = u32> {
        self.turn.choices.iter().filter(|(_, calls)| calls.has_calls()).map(|(choice, _)| *choice)
    }

    /// Whether a choice has a call.
    pub fn has_calls(&self, choice: u32) -> bool {
        self.turn.choices.get(&choice).is_some_and(Choice::has_calls)
    }

    /// Whether any choice has a call.
    pub fn has_any_calls(&self) -> bool {
        self.choices().next().is_some()
    }

    /// Whether the backend has completed a call.
    pub fn is_complete(&self, choice: u32, index: usize) -> bool {
        let calls = self.turn.choices.get(&choice);
        calls.and_then(|calls| calls.appeared().nth(index)).is_some_and(|call| call.complete)
    }

    /// Whether a call has reached a cap: its arguments are not complete, and must not be acted on.
    pub fn is_cut_off(&self, choice: u32, index: usize) -> bool {
        let calls = self.turn.choices.get(&choice);
        let call = calls.and_then(|calls| calls.appeared().nth(index));
        call.is_some_and(|call| call.over_limit.is_some())
    }

    /// False as soon as a payload had `parallel_tool_calls: false`.
    pub fn supports_parallel_calls(&self) -> bool {
        !self.turn.no_parallel_calls
    }

    /// Forgets a choice, or everything but the settings and text patterns.
    pub fn reset_turn(&mut self, choice: Option<u32>) {
        self.changes = Vec::new();
        let Some(choice) = choice else {
            self.turn = Turn::default();
            return;
        };
        self.turn.responses.remove(&choice);
        if let Some(calls) = self.turn.choices.remove(&choice) {
            self.turn.calls -= calls.calls.len();
            self.turn.held -= calls.held;
            for call in calls.appeared() {
                self.turn.ids.remove(call.record.id.as_str());
            }
        }
    }

    /// The formats of calls in text.
    pub fn patterns(&self) -> &TextPatterns {
        &self.patterns
    }

    /// The formats of calls in text, to be changed.
    pub fn patterns_mut(&mut self) -> &mut TextPatterns {
        &mut self.patterns
    }

    /// Every complete block of a text, in any of the formats. Changes nothing.
    pub fn extract_blocks(&self, text: &str, start_at: usize) -> Extracted {
        self.extract(text, start_at, Rest::MayCome)
    }

    /// A scanner for text in chunks, for the formats as they are now. It shares nothing with the
    /// aggregator.
    pub fn scanner(&self) -> TextScanner {
        TextScanner::with_limits(&self.patterns, self.limits)
    }

    fn extract(&self, text: &str, start_at: usize, rest: Rest) -> Extracted {
        text::extract(&self.patterns, self.limits, text, start_at, rest)
    }

    fn begin(&mut self) {
        self.changes.clear();
        self.limit = None;
        self.sequence = None;
        self.is_late = false;
        self.ingests += 1;
    }

    fn outcome(&self) -> Ingest<'_> {
        Ingest {
            updated: !self.changes.is_empty(),
            deltas: Deltas { changes: self.changes.iter(), choices: &self.turn.choices },
            limit: self.limit,
        }
    }

    fn emit_missing(&mut self, message: &Value, choice: ChoiceOf) {
        let mut texts = Vec::new();
        wire::texts(message, choice, &mut texts);
        let mut offset = 0;
        for (choice, text) in texts {
            let structured =
                self.turn.choices.get(&choice).is_some_and(Choice::has_structured_calls);
            if !structured {
                for block in self.extract(text, 0, Rest::Ended).blocks {
                    self.apply_block(choice, &block, offset);
                }
            }
            offset += text.len();
        }
    }

    fn apply_block(&mut self, choice: u32, block: &ParsedTextBlock, offset: usize) {
        let event = CallEvent {
            position: Some(Position::TextBlock(block.start + offset)),
            name: Some(&block.name),
            arguments: Arguments::Snapshot(&block.args_text),
            complete: true,
            ..CallEvent::default()
        };
        self.apply(choice, &event, Origin::Text);
    }
}

impl AsMut<TextPatterns> for ToolCallAggregator {
    fn as_mut(&mut self) -> &mut TextPatterns {
        &mut self.patterns
    }
}
