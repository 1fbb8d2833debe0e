//! Which call an event is about.
//!
//! By the ids that the backend gives it, then by its position, then by the event before it.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::call::{Call, Origin};
use crate::choice::Choice;
use crate::event::{Arguments, CallEvent, Position};
use crate::twin::have_equal_value;

/// How many calls with the same id are distinguished by their names.
const MOST_OF_ONE_ID: usize = 16;

// === impl Choice ===

impl Choice {
    /// The known call that an event is about.
    pub(crate) fn find(&self, event: &CallEvent<'_>) -> Option<usize> {
        if let Some(current) = self.current
            && self.calls[current].is_plainly(event)
        {
            return Some(current);
        }
        if event.is_anonymous() {
            return self.find_anonymous(event);
        }
        self.find_by_call_id(event)
            .or_else(|| self.find_by_item_id(event))
            .or_else(|| self.find_by_position(event))
    }

    fn find_by_call_id(&self, event: &CallEvent<'_>) -> Option<usize> {
        let id = event.call_id?;
        let newest = *self.by_call_id.get(id).or_else(|| self.by_item_id.get(id))?;
        let there = self.call_at(event.position);
        if let Some(there) = there
            && self.calls[there].record.backend_id.as_deref() == Some(id)
            && !self.is_other_item_in_message(there, event)
        {
            return Some(there);
        }
        // Some servers give every call the same id: another item, or a header for another position, is
        // another call.
        let call = self.with_name(newest, event);
        let is_other = self.calls[call].is_another_item(event)
            || (there.is_none() && self.is_header_for_another(call, event));
        (!is_other).then_some(call)
    }

    /// Whether an item of a list is another one than the call at its index. An equal `output_index`
    /// means one call, whatever the item ids are; lists are counted anew.
    fn is_other_item_in_message(&self, there: usize, event: &CallEvent<'_>) -> bool {
        matches!(event.position, Some(Position::InMessage(_)))
            && self.calls[there].is_another_item(event)
    }

    /// Of the calls with the id of `newest`, the one with the name of an event that has no item id, or
    /// else `newest`. Only the last few are compared, so that the cost of an event is bounded.
    fn with_name(&self, newest: usize, event: &CallEvent<'_>) -> usize {
        if event.item_id.is_some() || !self.calls[newest].has_another_name(event) {
            return newest;
        }
        let calls = std::iter::successors(Some(newest), |call| self.calls[*call].same_id);
        let mut calls = calls.take(MOST_OF_ONE_ID);
        calls.find(|call| event.name == Some(&self.calls[*call].record.name)).unwrap_or(newest)
    }

    /// The call that is known to be at a position.
    fn call_at(&self, position: Option<Position>) -> Option<usize> {
        match position? {
            Position::ChatIndex(index) => self.by_chat_index.get(&index),
            Position::OutputIndex(index) => self.by_output_index.get(&index),
            Position::InMessage(index) => self.structured.get(index),
            Position::FunctionCall | Position::TextBlock(_) => None,
        }
        .copied()
    }

    fn is_header_for_another(&self, call: usize, event: &CallEvent<'_>) -> bool {
        let known = &self.calls[call];
        match event.position {
            Some(Position::ChatIndex(_)) => known.chat_index.is_some() && event.name.is_some(),
            Some(Position::OutputIndex(_)) => {
                known.output_index.is_some() && known.has_another_name(event)
            }
            Some(Position::InMessage(_)) => known.has_another_name(event),
            _ => false,
        }
    }

    fn find_by_item_id(&self, event: &CallEvent<'_>) -> Option<usize> {
        let id = event.item_id?;
        let call = *self.by_item_id.get(id).or_else(|| self.by_call_id.get(id))?;
        (!self.calls[call].has_another_id(event)).then_some(call)
    }

    fn find_by_position(&self, event: &CallEvent<'_>) -> Option<usize> {
        match event.position? {
            // An item's id may change from event to event; its index does not.
            Position::OutputIndex(index) => {
                let call = *self.by_output_index.get(&index)?;
                (!self.calls[call].has_another_id(event)).then_some(call)
            }
            Position::ChatIndex(index) => {
                let call = *self.by_chat_index.get(&index)?;
                (!self.calls[call].is_another_than(event)).then_some(call)
            }
            Position::FunctionCall => {
                self.legacy.filter(|call| !self.calls[*call].is_another_than(event))
            }
            Position::InMessage(index) => self.find_in_message(event, index),
            Position::TextBlock(start) => self.by_block.get(&block_key(start, event)).copied(),
        }
    }

    /// An entry of a message is the call that was streamed under its index, or else the call at its
    /// index. A whole call that differs is another one, unless an equal one came before: some
    /// servers send each call in a message of its own.
    fn find_in_message(&self, event: &CallEvent<'_>, index: usize) -> Option<usize> {
        let streamed = u64::try_from(index).ok().and_then(|index| self.by_chat_index.get(&index));
        let at_index = self.structured.get(index);
        let fits = |call: &usize| {
            let known = &self.calls[*call];
            !known.is_another_than(event) && !known.is_contradicted_by(event)
        };
        if let Some(call) = [streamed, at_index].into_iter().flatten().copied().find(fits) {
            return Some(call);
        }
        let is_equal = |call: &usize| self.calls[*call].equals(event);
        at_index.and_then(|_| self.structured.iter().copied().find(is_equal))
    }

    /// Without any identity an event is about the call of the event before it, unless it is plainly
    /// about another one.
    fn find_anonymous(&self, event: &CallEvent<'_>) -> Option<usize> {
        let current = self.current?;
        let call = &self.calls[current];
        let is_current = match (event.name, event.arguments) {
            (None, _) => true,
            (Some(_), Arguments::Absent | Arguments::Increment(_)) => call.record.name.is_empty(),
            (Some(_), _) => call.equals(event),
        };
        is_current.then_some(current)
    }

    /// How many bytes the ids take that are new for the call.
    pub(crate) fn bytes_to_learn(&self, call: usize, event: &CallEvent<'_>) -> usize {
        let known = &self.calls[call];
        // Kept with the call, and as a key.
        let bytes = |id: Option<&str>| id.map_or(0, |id| 2 * id.len());
        let (call_id, item_id) = known.ids_to_learn(event);
        bytes(call_id) + bytes(item_id)
    }

    /// Remembers by which ids the call can be found again.
    pub(crate) fn learn_ids(&mut self, call: usize, event: &CallEvent<'_>) {
        let known = &mut self.calls[call];
        let (call_id, item_id) = known.ids_to_learn(event);
        // An id that was another call's is this one's now: a later response may count anew.
        if let Some(id) = call_id {
            known.record.backend_id = Some(id.into());
            known.same_id = self.by_call_id.insert(id.into(), call);
        }
        if let Some(id) = item_id {
            known.item_id = Some(id.into());
            self.by_item_id.insert(id.into(), call);
        }
    }

    /// Frees the position of a call that was refused: what follows there is not for the call before it.
    pub(crate) fn forget_position(&mut self, event: &CallEvent<'_>) {
        self.current = None;
        match event.position {
            Some(Position::ChatIndex(index)) => {
                if let Some(call) = self.by_chat_index.remove(&index) {
                    self.calls[call].chat_index = None;
                }
            }
            Some(Position::OutputIndex(index)) => {
                if let Some(call) = self.by_output_index.remove(&index) {
                    self.calls[call].output_index = None;
                }
            }
            Some(Position::FunctionCall) => self.legacy = None,
            Some(Position::InMessage(_) | Position::TextBlock(_)) | None => {}
        }
    }

    /// Remembers the position of the call. It has one of a kind at a time, and a position one call.
    pub(crate) fn learn_position(&mut self, call: usize, event: &CallEvent<'_>) {
        self.current = Some(call);
        let known = &mut self.calls[call];
        match event.position {
            Some(Position::FunctionCall) => self.legacy = Some(call),
            Some(Position::TextBlock(start)) => {
                let key = block_key(start, event);
                if let Some(left) = known.block.replace(key) {
                    self.by_block.remove(&left);
                }
                self.by_block.insert(key, call);
            }
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
            _ => {}
        }
    }

    /// Another response has begun: its items are counted from the beginning.
    pub(crate) fn forget_output_indices(&mut self) {
        for (_, call) in self.by_output_index.drain() {
            self.calls[call].output_index = None;
        }
    }
}

// === impl Call ===

impl Call {
    /// The usual case while a call is streamed: nothing but its own identity.
    pub(crate) fn is_plainly(&self, event: &CallEvent<'_>) -> bool {
        let position = match event.position {
            None => event.item_id.is_some() || event.call_id.is_some(),
            Some(Position::ChatIndex(index)) => self.chat_index == Some(index),
            Some(Position::OutputIndex(index)) => self.output_index == Some(index),
            Some(_) => false,
        };
        position
            && event.name.is_none()
            && (event.item_id.is_none() || event.item_id == self.item_id.as_deref())
            && (event.call_id.is_none() || event.call_id == self.record.backend_id.as_deref())
    }

    fn has_another_id(&self, event: &CallEvent<'_>) -> bool {
        differ(self.record.backend_id.as_deref(), event.call_id)
    }

    fn has_another_name(&self, event: &CallEvent<'_>) -> bool {
        event.name.is_some_and(|name| !self.record.name.is_empty() && self.record.name != name)
    }

    /// Whether an event for the same position is about another call.
    fn is_another_than(&self, event: &CallEvent<'_>) -> bool {
        self.has_another_id(event) || self.has_another_name(event) || self.is_another_item(event)
    }

    /// Whether an event is about an item with another id.
    fn is_another_item(&self, event: &CallEvent<'_>) -> bool {
        let (known, given) = self.item_ids(event);
        differ(known, given)
    }

    /// The ids of an event that are to be remembered: the call's and the item's.
    fn ids_to_learn<'e>(&self, event: &CallEvent<'e>) -> (Option<&'e str>, Option<&'e str>) {
        let (known, given) = self.item_ids(event);
        let call_id = event.call_id.filter(|_| self.record.backend_id.is_none());
        (call_id, given.filter(|_| known.is_none()))
    }

    /// The id of this call's item, and of an event's. The call's own id is no item id: some servers
    /// write it in both fields, or in the wrong one.
    fn item_ids<'e>(&self, event: &CallEvent<'e>) -> (Option<&str>, Option<&'e str>) {
        let is_call_id =
            |id: &str| [event.call_id, self.record.backend_id.as_deref()].contains(&Some(id));
        let known = self.item_id.as_deref().filter(|id| !is_call_id(id));
        (known, event.item_id.filter(|id| !is_call_id(id)))
    }

    /// Whether a whole call without an id differs from this one, which is whole as well.
    fn is_contradicted_by(&self, event: &CallEvent<'_>) -> bool {
        let is_identified = self.record.backend_id.is_some() && event.call_id.is_some();
        let is_other = match event.arguments {
            Arguments::Snapshot(text) | Arguments::Rewritten(text) => {
                !have_equal_value(text, &self.record.arguments, self.numbers(event.arguments))
            }
            Arguments::Absent | Arguments::Increment(_) | Arguments::Initial(_) => false,
        };
        self.complete && !is_identified && is_other
    }

    /// Whether a whole call equals this one.
    fn equals(&self, event: &CallEvent<'_>) -> bool {
        let arguments = match event.arguments {
            Arguments::Initial(text) | Arguments::Snapshot(text) | Arguments::Rewritten(text) => {
                text
            }
            Arguments::Absent => "",
            Arguments::Increment(_) => return false,
        };
        let is_same = match self.origin {
            Origin::Structured | Origin::Text => arguments == self.record.arguments,
            Origin::Both => {
                have_equal_value(arguments, &self.record.arguments, self.numbers(event.arguments))
            }
        };
        let is_other = self.has_another_id(event) || self.is_another_item(event);
        event.name == Some(self.record.name.as_str()) && is_same && !is_other
    }
}

fn differ(known: Option<&str>, given: Option<&str>) -> bool {
    known.zip(given).is_some_and(|(known, given)| known != given)
}

/// A block is the same if it has the same start and content.
fn block_key(start: usize, event: &CallEvent<'_>) -> (usize, u64) {
    let mut hasher = DefaultHasher::new();
    event.name.hash(&mut hasher);
    if let Arguments::Snapshot(text) = event.arguments {
        text.hash(&mut hasher);
    }
    (start, hasher.finish())
}
