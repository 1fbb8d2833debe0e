//! The calls of a turn, by choice.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::call::{Call, Origin};
use crate::delta::{Frame, ToolCallDelta};
use crate::event::{Arguments, CallEvent};
use crate::record::ToolCallRecord;
use crate::twin::{ValueDigests, have_equal_value};

/// All choices of a turn that have a call.
pub(crate) type Choices = BTreeMap<u32, Choice>;

/// The calls of one choice. `matching.rs` finds the one that an event is about.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// In the order of their first events.
    pub(crate) calls: Vec<Call>,
    /// Those whose name is known, in the order in which it became known.
    appeared: Vec<usize>,
    /// Those of them that the backend's events have reported.
    pub(crate) structured: Vec<usize>,
    /// How many of them came from the text alone.
    texts: usize,
    /// The call of the last event; `None` also if that call was not taken.
    pub(crate) current: Option<usize>,
    /// The bytes of arguments, names and ids.
    pub(crate) held: usize,
    pub(crate) by_call_id: HashMap<Box<str>, usize>,
    pub(crate) by_item_id: HashMap<Box<str>, usize>,
    pub(crate) by_chat_index: HashMap<u64, usize>,
    pub(crate) by_output_index: HashMap<u64, usize>,
    /// By a text block's start and a digest of its content.
    pub(crate) by_block: HashMap<(usize, u64), usize>,
    pub(crate) legacy: Option<usize>,
}

/// A change of one call in the running ingest.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) choice: u32,
    pub(crate) call: usize,
    pub(crate) appended: Range<usize>,
    pub(crate) frame: Frame,
}

// === impl Change ===

impl Change {
    /// A change that adds nothing.
    #[inline]
    pub(crate) fn of(choice: u32, call: usize) -> Self {
        Self { choice, call, appended: 0..0, frame: Frame::Increment }
    }

    pub(crate) fn delta<'a>(&self, choices: &'a Choices) -> Option<ToolCallDelta<'a>> {
        let call = choices.get(&self.choice)?.calls.get(self.call)?;
        let ToolCallRecord { id, name, arguments, .. } = &call.record;
        Some(ToolCallDelta {
            choice: self.choice,
            index: call.index?,
            id,
            name,
            arguments,
            appended: arguments.get(self.appended.clone()).unwrap_or_default(),
            replaced: self.frame == Frame::Replaced,
            complete: call.complete,
            frame: self.frame,
        })
    }
}

// === impl Choice ===

impl Choice {
    /// The calls that have appeared, in order.
    pub(crate) fn appeared(&self) -> impl Iterator<Item = &Call> {
        self.appeared.iter().map(|call| &self.calls[*call])
    }

    pub(crate) fn has_calls(&self) -> bool {
        !self.appeared.is_empty()
    }

    pub(crate) fn has_structured_calls(&self) -> bool {
        self.appeared.len() > self.texts
    }

    pub(crate) fn records(&self) -> impl Iterator<Item = &ToolCallRecord> {
        self.appeared().map(|call| &call.record)
    }

    /// The index of the next call to appear.
    pub(crate) fn next_index(&self) -> usize {
        self.appeared.len()
    }

    pub(crate) fn appear(&mut self, call: usize, id: String) {
        self.calls[call].index = Some(self.appeared.len());
        self.calls[call].record.id = id;
        self.appeared.push(call);
        match self.calls[call].origin {
            Origin::Structured => self.structured.push(call),
            Origin::Text => self.texts += 1,
            Origin::Both => {}
        }
    }

    /// A new call.
    pub(crate) fn create(&mut self, origin: Origin) -> usize {
        self.calls.push(Call::new(origin));
        self.calls.len() - 1
    }

    /// Appends to the call that is being streamed, if the event is nothing but its next increment.
    #[inline]
    pub(crate) fn stream_on(
        &mut self,
        event: &CallEvent<'_>,
        text: &str,
    ) -> Option<(usize, Range<usize>)> {
        let current = self.current?;
        let call = &mut self.calls[current];
        if call.index.is_none() || !call.is_plainly(event) {
            return None;
        }
        let appended = call.stream_on(text)?;
        self.held += text.len();
        Some((current, appended))
    }

    /// The call with the same name and value, among those of the other origin.
    pub(crate) fn twin(
        &mut self,
        name: &str,
        arguments: Arguments<'_>,
        origin: Origin,
    ) -> Option<usize> {
        if origin != Origin::Text && self.texts == 0 {
            return None;
        }
        let text = arguments.whole()?;
        let mut digests = ValueDigests::default();
        for call in &self.appeared {
            let known = &mut self.calls[*call];
            let is_other = (known.origin == Origin::Text) != (origin == Origin::Text);
            if is_other && known.record.name == name {
                let numbers = known.numbers(arguments);
                if known.digest(numbers) == digests.get(text, numbers)
                    && have_equal_value(&known.record.arguments, text, numbers)
                {
                    return Some(*call);
                }
            }
        }
        None
    }

    /// A call of the text was reported by the backend, too.
    pub(crate) fn confirm(&mut self, call: usize) {
        self.calls[call].origin = Origin::Both;
        self.structured.push(call);
        self.texts -= 1;
    }
}
