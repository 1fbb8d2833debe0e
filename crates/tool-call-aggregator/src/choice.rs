//! The calls of one choice: which call an event is about.

use std::collections::HashMap;
use std::ops::Range;

use crate::call::{Call, Origin};
use crate::delta::ToolCallDelta;
use crate::event::{Arguments, CallEvent, Position};
use crate::record::ToolCallRecord;
use crate::twin::{Meaning, mean_the_same};

/// All choices of a turn that have a call, in the order of their numbers. There is nearly always one:
/// a list is quicker than a map.
#[derive(Debug, Default)]
pub(crate) struct Choices {
    list: Vec<(u32, Choice)>,
}

/// The calls of one choice.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// In the order in which they were first heard of.
    pub(crate) calls: Vec<Call>,
    /// Those whose name is known, in the order in which it became known.
    appeared: Vec<usize>,
    by_id: HashMap<Box<str>, usize>,
    by_chat_index: HashMap<u64, usize>,
    by_output_index: HashMap<u64, usize>,
    by_block_start: HashMap<usize, usize>,
    legacy: Option<usize>,
    /// The call that was last spoken of; `None` also if that call was not taken.
    current: Option<usize>,
    /// The bytes of arguments, names and ids.
    pub(crate) held: usize,
}

/// A change of one call in the running ingest.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    pub(crate) choice: u32,
    pub(crate) call: usize,
    pub(crate) appended: Range<usize>,
    pub(crate) replaced: bool,
    pub(crate) first: bool,
}

// === impl Choices ===

impl Choices {
    /// Where a choice stands in the list, or where it would.
    fn slot(&self, choice: u32) -> Result<usize, usize> {
        self.list.binary_search_by_key(&choice, |(choice, _)| *choice)
    }

    pub(crate) fn get(&self, choice: u32) -> Option<&Choice> {
        self.slot(choice).ok().map(|slot| &self.list[slot].1)
    }

    pub(crate) fn get_mut(&mut self, choice: u32) -> Option<&mut Choice> {
        self.slot(choice).ok().map(|slot| &mut self.list[slot].1)
    }

    pub(crate) fn get_or_create(&mut self, choice: u32) -> &mut Choice {
        let slot = self.slot(choice).unwrap_or_else(|slot| {
            self.list.insert(slot, (choice, Choice::default()));
            slot
        });
        &mut self.list[slot].1
    }

    pub(crate) fn remove(&mut self, choice: u32) -> Option<Choice> {
        self.slot(choice).ok().map(|slot| self.list.remove(slot).1)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Choice)> {
        self.list.iter().map(|(choice, calls)| (*choice, calls))
    }

    pub(crate) fn delta(&self, change: &Change) -> Option<ToolCallDelta<'_>> {
        let call = self.get(change.choice)?.calls.get(change.call)?;
        Some(ToolCallDelta {
            choice: change.choice,
            index: call.index?,
            id: &call.id,
            name: &call.name,
            arguments: &call.arguments,
            appended: call.arguments.get(change.appended.clone()).unwrap_or_default(),
            replaced: change.replaced,
            complete: call.complete,
            first: change.first,
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
        self.appeared().any(|call| call.origin != Origin::Text)
    }

    pub(crate) fn records(&self) -> Vec<ToolCallRecord> {
        self.appeared()
            .map(|call| ToolCallRecord {
                id: call.id.clone(),
                backend_id: call.backend_id.as_deref().map(str::to_owned),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            })
            .collect()
    }

    /// The place of the next call to appear.
    pub(crate) fn next_index(&self) -> usize {
        self.appeared.len()
    }

    pub(crate) fn appear(&mut self, call: usize, id: String) {
        self.calls[call].index = Some(self.appeared.len());
        self.calls[call].id = id;
        self.appeared.push(call);
    }

    pub(crate) fn is_id_taken(&self, id: &str) -> bool {
        self.appeared().any(|call| call.id == id)
    }

    /// The known call that an event is about.
    pub(crate) fn find(&self, event: &CallEvent<'_>) -> Option<usize> {
        if let Some(current) = self.current
            && Self::is_plainly(&self.calls[current], event)
        {
            return Some(current);
        }
        if event.is_anonymous() {
            return self.find_anonymous(event);
        }
        [event.call_id, event.item_id]
            .into_iter()
            .flatten()
            .find_map(|id| self.by_id.get(id).copied())
            .filter(|call| !contradicts(&self.calls[*call], event))
            .or_else(|| self.find_by_position(event))
    }

    /// The usual case while a call is streamed: nothing but its own identity.
    fn is_plainly(call: &Call, event: &CallEvent<'_>) -> bool {
        let position = match event.position {
            None => event.item_id.is_some() || event.call_id.is_some(),
            Some(Position::ChatIndex(index)) => call.chat_index == Some(index),
            Some(Position::OutputIndex(index)) => call.output_index == Some(index),
            Some(_) => false,
        };
        position
            && event.name.is_none()
            && (event.item_id.is_none() || event.item_id == call.item_id.as_deref())
            && (event.call_id.is_none() || event.call_id == call.backend_id.as_deref())
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
        if call.index.is_none() || !Self::is_plainly(call, event) {
            return None;
        }
        let appended = call.stream_on(text)?;
        self.held += text.len();
        Some((current, appended))
    }

    fn find_by_position(&self, event: &CallEvent<'_>) -> Option<usize> {
        let call = match event.position? {
            Position::ChatIndex(index) => *self.by_chat_index.get(&index)?,
            Position::FunctionCall => self.legacy?,
            Position::OutputIndex(index) => *self.by_output_index.get(&index)?,
            Position::InMessage(place) => self.structured(place)?,
            Position::TextBlock(start) => *self.by_block_start.get(&start)?,
        };
        let known = &self.calls[call];
        let names_differ = |name: &str| !known.name.is_empty() && known.name != name;
        let is_another = match event.position? {
            Position::OutputIndex(_) => false,
            Position::ChatIndex(_) | Position::FunctionCall | Position::InMessage(_) => {
                event.name.is_some_and(names_differ)
            }
            Position::TextBlock(_) => {
                event.name.is_some_and(names_differ)
                    || event.arguments != Arguments::Snapshot(known.arguments.as_str())
            }
        };
        (!is_another && !contradicts(known, event)).then_some(call)
    }

    /// The structured call at a place of a message.
    fn structured(&self, place: usize) -> Option<usize> {
        let is_structured = |call: &&usize| self.calls[**call].origin == Origin::Structured;
        self.appeared.iter().filter(is_structured).nth(place).copied()
    }

    /// Without any identity an event is about the call that was last spoken of, unless it plainly
    /// speaks of another one.
    fn find_anonymous(&self, event: &CallEvent<'_>) -> Option<usize> {
        let current = self.current?;
        let call = &self.calls[current];
        let is_current = match (event.name, event.arguments) {
            (None, _) => true,
            (Some(_), Arguments::Absent | Arguments::Increment(_)) => call.name.is_empty(),
            (
                Some(name),
                Arguments::Initial(text) | Arguments::Snapshot(text) | Arguments::Rewritten(text),
            ) => call.name == name && call.arguments == text,
        };
        is_current.then_some(current)
    }

    /// A new call.
    pub(crate) fn create(&mut self, origin: Origin) -> usize {
        self.calls.push(Call::new(origin));
        self.calls.len() - 1
    }

    /// The call that was last spoken of is one that was not taken.
    pub(crate) fn lose_current(&mut self) {
        self.current = None;
    }

    /// Remembers by what the call can be found again; gives the bytes that this holds.
    pub(crate) fn learn(&mut self, call: usize, event: &CallEvent<'_>) -> usize {
        self.current = Some(call);
        let mut held = 0;
        let known = &mut self.calls[call];
        for (place, id) in
            [(&mut known.backend_id, event.call_id), (&mut known.item_id, event.item_id)]
        {
            if let (None, Some(id)) = (&place, id) {
                *place = Some(id.into());
                self.by_id.entry(id.into()).or_insert(call);
                held += 2 * id.len();
            }
        }
        match event.position {
            Some(Position::FunctionCall) => self.legacy = Some(call),
            Some(Position::TextBlock(start)) => {
                self.by_block_start.insert(start, call);
            }
            // A call has one place of a kind at a time, and a place one call.
            Some(Position::ChatIndex(index)) if known.chat_index != Some(index) => {
                if let Some(left) = known.chat_index.replace(index) {
                    self.by_chat_index.remove(&left);
                }
                if let Some(other) = self.by_chat_index.insert(index, call) {
                    self.calls[other].chat_index = None;
                }
            }
            Some(Position::OutputIndex(index)) if known.output_index != Some(index) => {
                if let Some(left) = known.output_index.replace(index) {
                    self.by_output_index.remove(&left);
                }
                if let Some(other) = self.by_output_index.insert(index, call) {
                    self.calls[other].output_index = None;
                }
            }
            None
            | Some(Position::ChatIndex(_) | Position::OutputIndex(_) | Position::InMessage(_)) => {}
        }
        self.held += held;
        held
    }

    /// Another response has begun: its items are counted from the beginning.
    pub(crate) fn forget_output_indices(&mut self) {
        self.by_output_index.clear();
        for call in &mut self.calls {
            call.output_index = None;
        }
    }

    /// The call that means the same as this one, among those of the other origin.
    pub(crate) fn twin(&mut self, name: &str, arguments: &str, origin: Origin) -> Option<usize> {
        let mut meaning = None;
        for call in &self.appeared {
            let known = &mut self.calls[*call];
            let is_other = (known.origin == Origin::Text) != (origin == Origin::Text);
            if is_other && known.name == name {
                let meaning = *meaning.get_or_insert_with(|| Meaning::of(arguments));
                if known.meaning() == meaning && mean_the_same(&known.arguments, arguments) {
                    return Some(*call);
                }
            }
        }
        None
    }
}

/// Whether an event has an id of the same kind that is another one. The call's own id has the last
/// word: an item may be reported under several.
fn contradicts(call: &Call, event: &CallEvent<'_>) -> bool {
    let compare = |known: &Option<Box<str>>, said: Option<&str>| {
        known.as_deref().zip(said).map(|(known, said)| known == said)
    };
    let same =
        compare(&call.backend_id, event.call_id).or_else(|| compare(&call.item_id, event.item_id));
    same == Some(false)
}
