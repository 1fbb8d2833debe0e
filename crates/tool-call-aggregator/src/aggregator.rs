//! The aggregator: everything that is said about calls in, calls out.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::call::{Effect, Origin, Payload};
use crate::choice::{Change, Choice, Choices};
use crate::delta::{Deltas, Frame, Ingest};
use crate::event::{Arguments, CallEvent, Position};
use crate::ids::{IdContext, IdPolicy};
use crate::limits::{Limit, Limits};
use crate::options::{FragmentMode, RepeatPolicy, TextCalls};
use crate::record::{NO_ARGUMENTS, ToolCallRecord};
use crate::sequence::{Admission, Responses};
use crate::text::{Extracted, ParsedTextBlock, TextPatterns, TextScanner};
use crate::wire::{self, DeltaText, Sink, Stamp};

/// Puts the calls of one turn together, whatever the backend says about them and in whatever pieces.
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
///     for delta in calls.ingest_delta(&delta, 0).deltas {
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

/// What an event has done to a call.
#[derive(Debug, Clone, Copy, Default)]
struct Update {
    effect: Effect,
    renamed: bool,
}

/// Settings of a [`ToolCallAggregator`].
#[derive(Debug, Clone, Default)]
pub struct Builder {
    id_policy: IdPolicy,
    repeat_policy: RepeatPolicy,
    fragments: FragmentMode,
    limits: Limits,
    patterns: TextPatterns,
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
    /// part of one. What says nothing about calls changes nothing. `choice` is used where the payload
    /// itself names none.
    pub fn ingest_delta(&mut self, event: &Value, choice: u32) -> Ingest<'_> {
        self.begin();
        wire::read(event, choice, wire::Whole::No, self);
        self.outcome()
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
        choice: u32,
    ) -> Result<Ingest<'_>, serde_json::Error> {
        let Some(delta) = DeltaText::read(event) else {
            let event = serde_json::from_str(event)?;
            return Ok(self.ingest_delta(&event, choice));
        };
        self.begin();
        if self.admit(choice, delta.stamp()) {
            let event = delta.event();
            if !self.stream_on(choice, &event) {
                self.call(choice, &event);
            }
        }
        Ok(self.outcome())
    }

    /// Takes a whole message, response or list of items: what it says about a call is the last word.
    pub fn ingest_message(
        &mut self,
        message: &Value,
        choice: u32,
        text_calls: TextCalls,
    ) -> Ingest<'_> {
        self.begin();
        wire::read(message, choice, wire::Whole::Yes, self);
        if text_calls == TextCalls::EmitIfMissing {
            self.emit_missing(message, choice);
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
    /// call of which half is known is not equal to anything.
    pub fn ingest_block(&mut self, block: &ParsedTextBlock, choice: u32) -> Ingest<'_> {
        self.begin();
        self.apply_block(choice, block, 0);
        self.outcome()
    }

    /// Says that no more will be heard of the calls of a choice. Those without arguments give a last
    /// delta, if a client that receives them has not been sent `{}` yet.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_call_aggregator::ToolCallAggregator;
    ///
    /// let mut calls = ToolCallAggregator::new();
    /// let chunk = json!({"tool_calls": [{"index": 0, "function": {"name": "now", "arguments": ""}}]});
    /// calls.ingest_delta(&chunk, 0);
    /// let frames: Vec<_> = calls.finish(0).deltas.map(|delta| serde_json::to_string(&delta)).collect();
    /// assert_eq!(frames[0].as_deref().ok(), Some(r#"{"index":0,"function":{"arguments":"{}"}}"#));
    /// assert!(!calls.finish(0).updated);
    /// ```
    pub fn finish(&mut self, choice: u32) -> Ingest<'_> {
        self.begin();
        if let Some(calls) = self.turn.choices.get_mut(choice) {
            for (index, call) in calls.calls.iter_mut().enumerate() {
                call.complete = true;
                if call.index.is_some() && call.arguments.is_empty() && !call.was_empty {
                    call.was_empty = true;
                    self.changes.push(Change::of(choice, index));
                }
            }
        }
        self.outcome()
    }

    /// Every call of a choice whose name is known, in the order in which they appeared.
    pub fn snapshot(&self, choice: u32) -> Vec<ToolCallRecord> {
        self.turn.choices.get(choice).map(Choice::records).unwrap_or_default()
    }

    /// The choices that have calls.
    pub fn choices(&self) -> impl Iterator<Item = u32> {
        self.turn.choices.iter().filter(|(_, calls)| calls.has_calls()).map(|(choice, _)| choice)
    }

    /// Whether a choice has a call.
    pub fn has_calls(&self, choice: u32) -> bool {
        self.turn.choices.get(choice).is_some_and(Choice::has_calls)
    }

    /// Whether any choice has a call.
    pub fn has_any_calls(&self) -> bool {
        self.choices().next().is_some()
    }

    /// Whether the backend has said its last word on a call.
    pub fn is_complete(&self, choice: u32, index: usize) -> bool {
        let calls = self.turn.choices.get(choice);
        calls.and_then(|calls| calls.appeared().nth(index)).is_some_and(|call| call.complete)
    }

    /// Whether a call has reached a cap: its arguments are not complete, and must not be acted on.
    pub fn is_cut_off(&self, choice: u32, index: usize) -> bool {
        let calls = self.turn.choices.get(choice);
        let call = calls.and_then(|calls| calls.appeared().nth(index));
        call.is_some_and(|call| call.over_limit.is_some())
    }

    /// False as soon as a payload has said `parallel_tool_calls: false`.
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
        if let Some(calls) = self.turn.choices.remove(choice) {
            self.turn.calls -= calls.calls.len();
            self.turn.held -= calls.held;
            for call in calls.appeared() {
                self.turn.ids.remove(call.id.as_str());
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
        crate::text::extract(&self.patterns, self.limits, text, start_at)
    }

    /// A scanner for text in chunks, for the formats as they are now. It shares nothing with the
    /// aggregator.
    pub fn scanner(&self) -> TextScanner {
        TextScanner::with_limits(&self.patterns, self.limits)
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

    fn emit_missing(&mut self, message: &Value, choice: u32) {
        let mut texts = Vec::new();
        wire::texts(message, choice, &mut texts);
        let mut offset = 0;
        for (choice, text) in texts {
            let structured =
                self.turn.choices.get(choice).is_some_and(Choice::has_structured_calls);
            if !structured {
                for block in self.extract_blocks(text, 0).blocks {
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

    /// The usual case while a call is streamed, without the questions that need not be asked then;
    /// false if it is another case.
    #[inline]
    fn stream_on(&mut self, choice: u32, event: &CallEvent<'_>) -> bool {
        let Arguments::Increment(text) = event.arguments else {
            return false;
        };
        if self.repeat_policy != RepeatPolicy::ByIdentity
            || self.fragments != FragmentMode::Increments
            || self.turn.held + text.len() > self.limits.argument_bytes
        {
            return false;
        }
        let calls = self.turn.choices.get_mut(choice);
        let Some((call, appended)) = calls.and_then(|calls| calls.stream_on(event, text)) else {
            return false;
        };
        self.turn.held += text.len();
        self.changes.push(Change { appended, ..Change::of(choice, call) });
        true
    }

    fn apply(&mut self, choice: u32, event: &CallEvent<'_>, origin: Origin) {
        let event = event.normalised();
        let calls = self.turn.choices.get(choice);
        let index = match calls.and_then(|calls| calls.find(&event)) {
            Some(index) => index,
            None if self.is_delivered_again(choice, &event) => return,
            None if self.is_twin(choice, &event, origin) => return,
            None => match self.create(choice, &event, origin) {
                Some(index) => index,
                None => return,
            },
        };
        if let Some(update) = self.update(choice, index, &event) {
            self.report(choice, index, update);
        }
    }

    /// Whether a named increment without any identity is the one that was just taken.
    fn is_delivered_again(&self, choice: u32, event: &CallEvent<'_>) -> bool {
        let calls = self.turn.choices.get(choice);
        let current = calls.and_then(|calls| calls.current.map(|current| &calls.calls[current]));
        let payload = Payload::of(event, self.sequence);
        event.is_anonymous()
            && current.is_some_and(|call| {
                event.name == Some(&call.name) && call.is_repeat(event, payload, self.repeat_policy)
            })
    }

    /// Whether a call that is new by its identity is one that is known from the other side: as text,
    /// or as a structured call.
    fn is_twin(&mut self, choice: u32, event: &CallEvent<'_>, origin: Origin) -> bool {
        let (
            true,
            Some(name),
            Arguments::Snapshot(arguments) | Arguments::Rewritten(arguments),
            Some(calls),
        ) = (event.complete, event.name, event.arguments, self.turn.choices.get_mut(choice))
        else {
            return false;
        };
        let Some(twin) = calls.twin(name, arguments, origin) else {
            return false;
        };
        if origin != Origin::Text {
            calls.confirm(twin);
            self.update(choice, twin, event);
        }
        true
    }

    fn create(&mut self, choice: u32, event: &CallEvent<'_>, origin: Origin) -> Option<usize> {
        if event.name.is_none() && matches!(event.arguments, Arguments::Absent) && event.complete {
            return None;
        }
        if self.turn.calls >= self.limits.calls {
            self.limit = Some(Limit::Calls);
            if let Some(calls) = self.turn.choices.get_mut(choice) {
                calls.lose_current();
            }
            return None;
        }
        self.turn.calls += 1;
        Some(self.turn.choices.get_or_create(choice).create(origin))
    }

    /// Brings a call up to date; gives what has changed.
    fn update(&mut self, choice: u32, index: usize, event: &CallEvent<'_>) -> Option<Update> {
        let calls = self.turn.choices.get_mut(choice)?;
        calls.learn_position(index, event);
        let ids = calls.bytes_to_learn(index, event);
        let has_room = self.turn.held + ids <= self.limits.argument_bytes;
        if has_room {
            calls.learn_ids(index, event);
            calls.held += ids;
            self.turn.held += ids;
        }
        let call = &mut calls.calls[index];
        let payload = Payload::of(event, self.sequence);
        let name = event.name.filter(|name| {
            let is_last_word = event.complete && payload.is_none();
            call.name.is_empty() || (is_last_word && call.name != *name)
        });
        let growth = call.growth(event.arguments, self.fragments) + name.map_or(0, str::len);
        if call.over_limit.is_none() {
            if name.is_some_and(|name| name.len() > self.limits.name_bytes) {
                call.over_limit = Some(Limit::NameBytes);
            } else if !has_room || self.turn.held + growth > self.limits.argument_bytes {
                call.over_limit = Some(Limit::ArgumentBytes);
            }
        }
        if call.over_limit.is_some() {
            self.limit = call.over_limit;
            return None;
        }
        let before = call.held();
        let mut update = Update::default();
        if !call.is_repeat(event, payload, self.repeat_policy) {
            if let Some(name) = name {
                update.renamed = !call.name.is_empty();
                name.clone_into(&mut call.name);
            }
            update.effect = call.take(event.arguments, self.fragments);
            call.remember(payload);
        }
        if event.complete {
            call.finish(event.arguments);
        }
        let after = call.held();
        calls.held = calls.held + after - before;
        self.turn.held = self.turn.held + after - before;
        Some(update)
    }

    /// Records what the outside is to learn of an update.
    fn report(&mut self, choice: u32, index: usize, update: Update) {
        let first = match self.turn.choices.get(choice) {
            Some(calls) if !calls.calls[index].name.is_empty() => {
                calls.calls[index].index.is_none()
            }
            _ => return,
        };
        if first {
            self.appear(choice, index);
        }
        let Some(calls) = self.turn.choices.get_mut(choice) else {
            return;
        };
        let call = &mut calls.calls[index];
        // A client that was sent `{}` for no arguments cannot be given others.
        let after_braces = call.was_empty && update.effect == Effect::Appended(0);
        let is_known_to_client = after_braces && call.arguments == NO_ARGUMENTS;
        let taken_back = update.renamed
            || update.effect == Effect::Replaced
            || (after_braces && !is_known_to_client);
        let replaced = taken_back && !first;
        let start = match update.effect {
            _ if first || replaced => 0,
            Effect::Appended(before) => before,
            Effect::None | Effect::Replaced => return,
        };
        call.was_empty = call.complete && call.arguments.is_empty();
        let end = call.arguments.len();
        match call.change {
            // A call that several parts of one payload speak of has changed once.
            Some((ingest, earlier)) if ingest == self.ingests => {
                let change = &mut self.changes[earlier];
                change.replaced |= replaced && change.frame != Frame::Header;
                let from = if replaced { 0 } else { change.appended.start };
                change.appended = from..end;
            }
            _ => {
                call.change = Some((self.ingests, self.changes.len()));
                let appended = start..end;
                let frame = match (first, is_known_to_client) {
                    (true, _) => Frame::Header,
                    (false, true) => Frame::Known,
                    (false, false) => Frame::Increment,
                };
                self.changes.push(Change {
                    appended,
                    replaced,
                    frame,
                    ..Change::of(choice, index)
                });
            }
        }
    }

    fn appear(&mut self, choice: u32, index: usize) {
        let Some(calls) = self.turn.choices.get(choice) else {
            return;
        };
        let call = &calls.calls[index];
        let context = IdContext {
            choice,
            ordinal: calls.next_index(),
            backend_id: call.backend_id.as_deref(),
            name: &call.name,
        };
        let id = self.id_policy.make(&context, |id| self.turn.ids.contains(id));
        self.turn.ids.insert(id.as_str().into());
        if let Some(calls) = self.turn.choices.get_mut(choice) {
            calls.appear(index, id);
        }
    }
}

impl Sink for ToolCallAggregator {
    fn admit(&mut self, choice: u32, stamp: Stamp<'_>) -> bool {
        self.sequence = stamp.sequence;
        self.is_late = false;
        if stamp.is_blank() {
            return true;
        }
        let responses = &mut self.turn.responses;
        // A payload may name any choice: those without calls must not fill the memory.
        if responses.len() >= self.limits.calls && !responses.contains_key(&choice) {
            return true;
        }
        match responses.entry(choice).or_default().admit(stamp) {
            Admission::Current => true,
            Admission::New => {
                if let Some(calls) = self.turn.choices.get_mut(choice) {
                    calls.forget_output_indices();
                }
                true
            }
            Admission::Late => {
                self.is_late = true;
                true
            }
            Admission::Repeated => false,
        }
    }

    fn call(&mut self, choice: u32, event: &CallEvent<'_>) {
        // The places of an earlier response now belong to other calls.
        let is_misplaced = self.is_late && matches!(event.position, Some(Position::OutputIndex(_)));
        let position = event.position.filter(|_| !is_misplaced);
        let event = CallEvent { position, ..*event };
        if !(is_misplaced && event.normalised().is_anonymous()) {
            self.apply(choice, &event, Origin::Structured);
        }
    }

    fn no_parallel_calls(&mut self) {
        self.turn.no_parallel_calls = true;
    }
}

// === impl Builder ===

impl Builder {
    /// How ids are made.
    #[must_use]
    pub fn id_policy(mut self, policy: IdPolicy) -> Self {
        self.id_policy = policy;
        self
    }

    /// How repeated events are told from new ones.
    #[must_use]
    pub fn repeat_policy(mut self, policy: RepeatPolicy) -> Self {
        self.repeat_policy = policy;
        self
    }

    /// What the backend's fragments are.
    #[must_use]
    pub fn fragments(mut self, mode: FragmentMode) -> Self {
        self.fragments = mode;
        self
    }

    /// How much a turn may hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The formats of calls in text.
    #[must_use]
    pub fn patterns(mut self, patterns: TextPatterns) -> Self {
        self.patterns = patterns;
        self
    }

    /// The aggregator.
    pub fn build(self) -> ToolCallAggregator {
        let Self { id_policy, repeat_policy, fragments, limits, patterns } = self;
        ToolCallAggregator {
            id_policy,
            repeat_policy,
            fragments,
            limits,
            patterns,
            turn: Turn::default(),
            changes: Vec::new(),
            limit: None,
            sequence: None,
            is_late: false,
            ingests: 0,
        }
    }
}
