//! Which turn the fragments of the log belong to: lines and the time in, events of turns out.
//!
//! The line of a fragment names its item, another line the turn of that item. Either may come first.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::line::LogLine;
use super::{LogEvent, StartedCall};

/// Items that are known at the same time.
const MOST_ITEMS: usize = 4_096;

/// Bytes of fragments that wait for the line that names their turn: of one item, and of all.
const MOST_OF_AN_ITEM: usize = 256 * 1024;
const MOST_OF_ALL: usize = 4 * 1024 * 1024;

/// How long they wait for it; and how long an id is not used again after the turn of an item that was
/// never done: lines about it may still come.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The items that the log speaks of, with what is known of each.
#[derive(Debug, Default)]
pub(crate) struct Attribution {
    items: HashMap<Box<str>, Item>,
    /// Items with news for their turns.
    changed: Vec<Box<str>>,
    waiting_bytes: usize,
    counts: LogCounts,
}

/// What was counted since it was last asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LogCounts {
    /// Fragments of known items.
    pub(crate) fragments: u64,
    /// Fragments whose turn never became known.
    pub(crate) unattributed: u64,
}

#[derive(Debug)]
struct Item {
    since: Instant,
    /// A function call, or anything else.
    is_call: bool,
    /// Whether no further line about it is to come.
    is_done: bool,
    /// When its turn was first seen to have ended.
    orphaned: Option<Instant>,
    owner: Owner,
    call: Option<Call>,
    refusal: Option<String>,
}

/// The turn of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Owner {
    Unknown,
    Turn {
        thread_id: Box<str>,
        turn_id: Box<str>,
    },
    /// Two live turns have an item of this id: it belongs to neither.
    Several,
}

#[derive(Debug)]
struct Call {
    /// Taken when the turn gets it.
    started: Option<StartedCall>,
    /// The number of its last event, where events have numbers.
    sequence: Option<u64>,
    /// Whether an event is missing: no further fragment is handed over.
    is_broken: bool,
    /// Bytes that were handed over, and those that will be next.
    handed_over: usize,
    waiting: String,
    waiting_fragments: u64,
}

// === impl Attribution ===

impl Attribution {
    /// Takes a line. `is_live` says whether a turn of that thread and id is running.
    pub(crate) fn on_line(
        &mut self,
        line: LogLine<'_>,
        now: Instant,
        is_live: impl Fn(&str, &str) -> bool,
    ) {
        match line {
            LogLine::CallAdded { sequence, call } => self.on_added(call, sequence, now, is_live),
            LogLine::Arguments { item_id, sequence, text } => {
                self.on_arguments(&item_id, sequence, &text);
            }
            LogLine::CallDone { item_id } => {
                if let Some(item) = self.items.get_mut(item_id.as_str()) {
                    item.is_done = true;
                }
            }
            LogLine::Refusal { item_id, text } => self.on_refusal(&item_id, text, now, is_live),
            LogLine::Owner { item_id, is_call, thread_id, turn_id } => {
                if is_live(&thread_id, &turn_id) {
                    let owner = Owner::Turn {
                        thread_id: Box::from(thread_id),
                        turn_id: Box::from(turn_id),
                    };
                    self.on_owner(&item_id, is_call, owner, now, is_live);
                }
            }
            LogLine::Damaged => self.distrust_all(),
            LogLine::Unused | LogLine::Other => {}
        }
    }

    /// What the lines so far mean for turns, in order for each of them.
    pub(crate) fn take_events(&mut self, mut emit: impl FnMut(&str, &str, LogEvent)) -> LogCounts {
        for item_id in std::mem::take(&mut self.changed) {
            let Some(item) = self.items.get_mut(&item_id) else { continue };
            let Owner::Turn { thread_id, turn_id } = &item.owner else { continue };
            if let Some(text) = item.refusal.take() {
                self.waiting_bytes -= text.len();
                emit(thread_id, turn_id, LogEvent::Refusal(text));
            }
            let Some(call) = &mut item.call else { continue };
            if let Some(started) = call.started.take() {
                emit(thread_id, turn_id, LogEvent::CallStarted(started));
            }
            if !call.waiting.is_empty() {
                let text = std::mem::take(&mut call.waiting);
                let offset = call.handed_over;
                self.waiting_bytes -= text.len();
                self.counts.fragments += std::mem::take(&mut call.waiting_fragments);
                call.handed_over += text.len();
                let event = LogEvent::Arguments { item_id, offset, text };
                emit(thread_id, turn_id, event);
            }
        }
        std::mem::take(&mut self.counts)
    }

    /// Forgets every item: what comes of them later is without an owner.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    fn on_added(
        &mut self,
        started: StartedCall,
        sequence: Option<u64>,
        now: Instant,
        is_live: impl Fn(&str, &str) -> bool,
    ) {
        self.make_room(&started.item_id, true, now, is_live);
        let Some(item) = self.items.get_mut(&started.item_id) else { return };
        if item.call.is_none() && item.owner != Owner::Several {
            self.changed.push(started.item_id.clone());
            item.call = Some(Call::new(started, sequence));
            return;
        }
        // Two responses have an item of this id, or a line came twice.
        self.waiting_bytes -= item.belong_to_neither(now, &mut self.counts);
    }

    fn on_arguments(&mut self, item_id: &str, sequence: Option<u64>, text: &str) {
        let item = self.items.get_mut(item_id);
        let Some(call) = item.and_then(|item| item.call.as_mut()) else {
            self.counts.unattributed += 1;
            return;
        };
        // A number that does not follow, that is new, or that is missing: something was lost.
        call.is_broken |= sequence != call.sequence.and_then(|before| before.checked_add(1))
            || call.waiting.len() + text.len() > MOST_OF_AN_ITEM
            || self.waiting_bytes + text.len() > MOST_OF_ALL;
        if call.is_broken {
            return;
        }
        call.sequence = sequence;
        call.waiting.push_str(text);
        call.waiting_fragments += 1;
        self.waiting_bytes += text.len();
        if self.changed.last().is_none_or(|last| **last != *item_id) {
            self.changed.push(item_id.into());
        }
    }

    fn on_owner(
        &mut self,
        item_id: &str,
        is_call: bool,
        owner: Owner,
        now: Instant,
        is_live: impl Fn(&str, &str) -> bool,
    ) {
        self.make_room(item_id, is_call, now, &is_live);
        let Some(item) = self.items.get_mut(item_id) else { return };
        match &item.owner {
            // A message is named when it begins, and again when it is whole.
            known if *known == owner => item.is_done |= !is_call,
            Owner::Unknown => {
                item.owner = owner;
                self.changed.push(item_id.into());
            }
            Owner::Turn { .. } | Owner::Several => {
                self.waiting_bytes -= item.belong_to_neither(now, &mut self.counts);
            }
        }
    }

    fn on_refusal(
        &mut self,
        item_id: &str,
        text: String,
        now: Instant,
        is_live: impl Fn(&str, &str) -> bool,
    ) {
        if self.waiting_bytes + text.len() > MOST_OF_ALL {
            return;
        }
        self.make_room(item_id, false, now, is_live);
        let Some(item) = self.items.get_mut(item_id) else { return };
        let bytes = text.len();
        let before = item.refusal.replace(text).map_or(0, |before| before.len());
        self.waiting_bytes = self.waiting_bytes + bytes - before;
        self.changed.push(item_id.into());
    }

    /// Makes sure that an item is known, unless there are too many.
    fn make_room(
        &mut self,
        item_id: &str,
        is_call: bool,
        now: Instant,
        is_live: impl Fn(&str, &str) -> bool,
    ) {
        let stays = |item: &mut Item| item.is_call == is_call && !item.is_over(now, &is_live);
        if self.items.get_mut(item_id).is_some_and(stays) {
            return;
        }
        self.forget_the_dead(now, &is_live);
        if let Some(item) = self.items.get_mut(item_id) {
            // A message and a call of the same id are not one item.
            self.waiting_bytes -= item.belong_to_neither(now, &mut self.counts);
        } else if self.items.len() < MOST_ITEMS {
            self.items.insert(item_id.into(), Item::new(is_call, now));
        }
    }

    /// A damaged line may have been about any of them.
    fn distrust_all(&mut self) {
        for call in self.items.values_mut().filter_map(|item| item.call.as_mut()) {
            call.is_broken = true;
        }
    }

    /// Forgets items of turns that have ended, and those that have waited too long for theirs.
    fn forget_the_dead(&mut self, now: Instant, is_live: impl Fn(&str, &str) -> bool) {
        let Self { items, waiting_bytes, counts, .. } = self;
        items.retain(|_, item| {
            let is_over = item.is_over(now, &is_live);
            if is_over {
                *waiting_bytes -= item.drop_waiting(counts);
            }
            !is_over
        });
    }
}

// === impl Item ===

impl Item {
    fn new(is_call: bool, now: Instant) -> Self {
        Self {
            since: now,
            is_call,
            is_done: false,
            orphaned: None,
            owner: Owner::Unknown,
            call: None,
            refusal: None,
        }
    }

    /// Whether its id is free for another item.
    fn is_over(&mut self, now: Instant, is_live: impl Fn(&str, &str) -> bool) -> bool {
        let since = match &self.owner {
            Owner::Turn { thread_id, turn_id } if is_live(thread_id, turn_id) => return false,
            Owner::Turn { .. } if self.is_done => return true,
            // Bytes of one turn must not reach another that has an item of the same id.
            Owner::Turn { .. } => *self.orphaned.get_or_insert(now),
            Owner::Unknown | Owner::Several => self.since,
        };
        now.saturating_duration_since(since) >= LONGEST_WAIT
    }

    /// Two items have this id. They are kept apart for a while from now on: as long as both are being
    /// written, a third one could get their fragments.
    fn belong_to_neither(&mut self, now: Instant, counts: &mut LogCounts) -> usize {
        self.owner = Owner::Several;
        self.since = now;
        self.drop_waiting(counts)
    }

    /// Drops what waits, and any fragment that follows; returns how many bytes waited.
    fn drop_waiting(&mut self, counts: &mut LogCounts) -> usize {
        let refusal = self.refusal.take().map_or(0, |text| text.len());
        let Some(call) = &mut self.call else { return refusal };
        call.is_broken = true;
        counts.unattributed += std::mem::take(&mut call.waiting_fragments);
        refusal + std::mem::take(&mut call.waiting).len()
    }
}

// === impl Call ===

impl Call {
    fn new(started: StartedCall, sequence: Option<u64>) -> Self {
        Self {
            started: Some(started),
            sequence,
            is_broken: false,
            handed_over: 0,
            waiting: String::new(),
            waiting_fragments: 0,
        }
    }
}

#[cfg(test)]
mod tests;
