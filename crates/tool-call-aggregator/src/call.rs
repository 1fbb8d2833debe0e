//! One call, as it is put together.

use std::ops::Range;

use crate::arguments_value::Numbers;
use crate::event::{Arguments, CallEvent};
use crate::limits::Limit;
use crate::options::{FragmentMode, RepeatPolicy};
use crate::record::ToolCallRecord;
use crate::twin::{ValueDigests, have_equal_value};

/// A call of a choice. It appears to the outside when its name is known.
#[derive(Debug, Default)]
pub(crate) struct Call {
    /// What the outside sees of it. The id is empty until the call appears.
    pub(crate) record: ToolCallRecord,
    /// Its index among the calls that have appeared.
    pub(crate) index: Option<usize>,
    /// The call that had the same backend id before.
    pub(crate) same_id: Option<usize>,
    /// The backend's id of the item that holds it.
    pub(crate) item_id: Option<Box<str>>,
    pub(crate) chat_index: Option<u64>,
    pub(crate) output_index: Option<u64>,
    /// The text block that holds it.
    pub(crate) block: Option<(usize, u64)>,
    pub(crate) complete: bool,
    pub(crate) origin: Origin,
    /// The cap that it has reached: nothing more is taken.
    pub(crate) over_limit: Option<Limit>,
    /// Of its arguments, for as long as they stay what they are.
    digests: ValueDigests,
    /// How many bytes of the arguments have come as increments.
    streamed: usize,
    known_from: KnownFrom,
    last: Option<Payload>,
    /// Whether it was reported as complete and empty, so that a client holds `{}`.
    pub(crate) was_empty: bool,
    /// The change that the running ingest has recorded for this call.
    pub(crate) change: Option<(u64, usize)>,
}

/// Where a call came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The backend's events.
    #[default]
    Structured,
    /// A block in the text.
    Text,
    /// A block in the text, which the backend's events have reported too. The text's own bytes are
    /// kept; events are compared with them by what they mean.
    Both,
}

/// How well the arguments are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum KnownFrom {
    #[default]
    Nothing,
    /// A parsed value that was written anew.
    Value,
    /// The backend's own text.
    Text,
}

/// What an event has done to the arguments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    #[default]
    None,
    /// They have grown; this is how long they were.
    Appended(usize),
    /// They, or the name, were replaced.
    Replaced,
}

/// What is remembered of the last event, to notice that it is delivered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Payload {
    increment: usize,
    has_call_id: bool,
    has_name: bool,
    sequence: Option<u64>,
}

// === impl Call ===

impl Call {
    pub(crate) fn new(origin: Origin) -> Self {
        Self { origin, ..Self::default() }
    }

    /// Takes the arguments of an event.
    pub(crate) fn take(&mut self, arguments: Arguments<'_>, mode: FragmentMode) -> Effect {
        match arguments {
            Arguments::Increment(text) => match mode {
                FragmentMode::Increments => self.take_increment(text),
                FragmentMode::Cumulative if self.complete => Effect::None,
                FragmentMode::Cumulative => self.take_snapshot(text),
            },
            Arguments::Snapshot(text) => self.take_snapshot(text),
            Arguments::Initial(text) if self.record.arguments.is_empty() => {
                self.take_snapshot(text)
            }
            Arguments::Rewritten(text) if self.known_from != KnownFrom::Text => {
                self.known_from = KnownFrom::Value;
                self.replace(text)
            }
            Arguments::Absent | Arguments::Initial(_) | Arguments::Rewritten(_) => Effect::None,
        }
    }

    /// How many bytes an event can add.
    pub(crate) fn growth(&self, arguments: Arguments<'_>, mode: FragmentMode) -> usize {
        let known = match (arguments, mode) {
            (Arguments::Increment(_), _) if self.complete => return 0,
            (Arguments::Increment(_), FragmentMode::Increments) => self.streamed_ahead().len(),
            _ => self.record.arguments.len(),
        };
        match arguments {
            Arguments::Absent => 0,
            Arguments::Increment(text)
            | Arguments::Initial(text)
            | Arguments::Snapshot(text)
            | Arguments::Rewritten(text) => text.len().saturating_sub(known),
        }
    }

    /// What a snapshot has given that has not come as increments yet.
    fn streamed_ahead(&self) -> &str {
        self.record.arguments.get(self.streamed..).unwrap_or_default()
    }

    /// Appends an increment, if nothing but appending is to be done.
    #[inline]
    pub(crate) fn stream_on(&mut self, text: &str) -> Option<Range<usize>> {
        let before = self.record.arguments.len();
        if text.is_empty()
            || self.complete
            || self.over_limit.is_some()
            || self.streamed != before
            || self.known_from != KnownFrom::Text
        {
            return None;
        }
        self.record.arguments.push_str(text);
        self.streamed = self.record.arguments.len();
        self.digests = ValueDigests::default();
        Some(before..self.streamed)
    }

    fn take_increment(&mut self, text: &str) -> Effect {
        if text.is_empty() || self.complete {
            return Effect::None;
        }
        if self.known_from == KnownFrom::Value {
            self.known_from = KnownFrom::Text;
            let effect = self.replace(text);
            self.streamed = self.record.arguments.len();
            return effect;
        }
        self.known_from = KnownFrom::Text;
        let before = self.record.arguments.len();
        // Bytes that a snapshot has already given are not new.
        let known = self.streamed_ahead();
        if known.is_empty() {
            self.record.arguments.push_str(text);
        } else if known.starts_with(text) {
            self.streamed += text.len();
            return Effect::None;
        } else {
            self.record.arguments.push_str(text.strip_prefix(known).unwrap_or(text));
        }
        self.streamed = self.record.arguments.len();
        self.appended(before)
    }

    fn take_snapshot(&mut self, text: &str) -> Effect {
        if text.is_empty() {
            return Effect::None;
        }
        if self.origin == Origin::Both
            && have_equal_value(text, &self.record.arguments, Numbers::Written)
        {
            return Effect::None;
        }
        self.known_from = KnownFrom::Text;
        self.replace(text)
    }

    fn replace(&mut self, text: &str) -> Effect {
        let before = self.record.arguments.len();
        if let Some(rest) = text.strip_prefix(self.record.arguments.as_str()) {
            self.record.arguments.push_str(rest);
            return self.appended(before);
        }
        self.record.arguments.clear();
        self.record.arguments.push_str(text);
        self.streamed = 0;
        self.digests = ValueDigests::default();
        Effect::Replaced
    }

    fn appended(&mut self, before: usize) -> Effect {
        if self.record.arguments.len() == before {
            return Effect::None;
        }
        self.digests = ValueDigests::default();
        Effect::Appended(before)
    }

    /// Whether an event repeats what came before: a chat frame that repeats the header of a call and
    /// all of its arguments, or, by policy, the increment that was just taken.
    pub(crate) fn is_repeat(
        &self,
        event: &CallEvent<'_>,
        payload: Option<Payload>,
        policy: RepeatPolicy,
    ) -> bool {
        let Arguments::Increment(text) = event.arguments else {
            return false;
        };
        let repeats_header = event.call_id.is_some() && event.name.is_some();
        (repeats_header && !text.is_empty() && self.record.arguments == text)
            || (policy == RepeatPolicy::DropImmediateRepeats
                && self.last == payload
                && self.record.arguments.ends_with(text))
    }

    /// The call is complete.
    pub(crate) fn finish(&mut self, arguments: Arguments<'_>) {
        self.complete = true;
        if matches!(arguments, Arguments::Snapshot(_)) {
            self.known_from = KnownFrom::Text;
        }
    }

    /// The bytes that it holds, but for its ids.
    pub(crate) fn held(&self) -> usize {
        self.record.name.len() + self.record.arguments.len()
    }

    /// Remembers an event.
    pub(crate) fn remember(&mut self, payload: Option<Payload>) {
        self.last = payload;
    }

    /// A digest of the arguments' value, computed once.
    pub(crate) fn digest(&mut self, numbers: Numbers) -> u64 {
        self.digests.get(&self.record.arguments, numbers)
    }

    /// How the arguments can be compared with those of an event: where either side was parsed before
    /// it came here, the text of its numbers is lost.
    pub(crate) fn numbers(&self, arguments: Arguments<'_>) -> Numbers {
        let is_rewritten = matches!(arguments, Arguments::Rewritten(_));
        if is_rewritten || self.known_from == KnownFrom::Value {
            Numbers::Rewritten
        } else {
            Numbers::Written
        }
    }
}

// === impl Payload ===

impl Payload {
    /// What to remember of an increment; other events are never taken for repetitions.
    pub(crate) fn of(event: &CallEvent<'_>, sequence: Option<u64>) -> Option<Self> {
        let Arguments::Increment(text) = event.arguments else {
            return None;
        };
        Some(Self {
            increment: text.len(),
            has_call_id: event.call_id.is_some(),
            has_name: event.name.is_some(),
            sequence,
        })
    }
}
