//! What one event of a call does to the turn, and which change comes of it.

use super::ToolCallAggregator;
use crate::arguments_value::Numbers;
use crate::call::{Effect, Origin, Payload};
use crate::choice::Change;
use crate::delta::Frame;
use crate::event::{Arguments, CallEvent};
use crate::ids::IdContext;
use crate::limits::Limit;
use crate::options::{FragmentMode, RepeatPolicy};
use crate::record::NO_ARGUMENTS;
use crate::twin::have_equal_value;

// === impl ToolCallAggregator ===

impl ToolCallAggregator {
    /// The usual case while a call is streamed, without the questions that need not be asked then;
    /// false if it is another case.
    #[inline]
    pub(super) fn stream_on(&mut self, choice: u32, event: &CallEvent<'_>) -> bool {
        let Arguments::Increment(text) = event.arguments else {
            return false;
        };
        if event.complete
            || self.repeat_policy != RepeatPolicy::ByIdentity
            || self.fragments != FragmentMode::Increments
            || self.turn.held + text.len() > self.limits.argument_bytes
        {
            return false;
        }
        let calls = self.turn.choices.get_mut(&choice);
        let Some((call, appended)) = calls.and_then(|calls| calls.stream_on(event, text)) else {
            return false;
        };
        self.turn.held += text.len();
        self.changes.push(Change { appended, ..Change::of(choice, call) });
        true
    }

    pub(super) fn apply(&mut self, choice: u32, event: &CallEvent<'_>, origin: Origin) {
        let event = event.normalised();
        let calls = self.turn.choices.get(&choice);
        let index = match calls.and_then(|calls| calls.find(&event)) {
            Some(index) => index,
            None if self.is_delivered_again(choice, &event) => return,
            None if self.is_twin(choice, &event, origin) => return,
            None => match self.create(choice, &event, origin) {
                Some(index) => index,
                None => return,
            },
        };
        if let Some(effect) = self.update(choice, index, &event) {
            self.report(choice, index, effect);
        }
    }

    /// Whether a named increment without any identity is the one that was just taken.
    fn is_delivered_again(&self, choice: u32, event: &CallEvent<'_>) -> bool {
        let calls = self.turn.choices.get(&choice);
        let current = calls.and_then(|calls| calls.current.map(|current| &calls.calls[current]));
        let payload = Payload::of(event, self.sequence);
        event.is_anonymous()
            && current.is_some_and(|call| {
                event.name == Some(&call.record.name)
                    && call.is_repeat(event, payload, self.repeat_policy)
            })
    }

    /// Whether a call that is new by its identity is one that is known from the other side: as text,
    /// or as a structured call.
    fn is_twin(&mut self, choice: u32, event: &CallEvent<'_>, origin: Origin) -> bool {
        let (true, Some(name), Some(calls)) =
            (event.complete, event.name, self.turn.choices.get_mut(&choice))
        else {
            return false;
        };
        let Some(twin) = calls.twin(name, event.arguments, origin) else {
            return false;
        };
        if origin != Origin::Text {
            calls.confirm(twin);
            self.learn(choice, twin, event);
        }
        true
    }

    fn create(&mut self, choice: u32, event: &CallEvent<'_>, origin: Origin) -> Option<usize> {
        if event.name.is_none() && matches!(event.arguments, Arguments::Absent) && event.complete {
            return None;
        }
        if self.turn.calls >= self.limits.calls {
            self.limit = Some(Limit::Calls);
            if let Some(calls) = self.turn.choices.get_mut(&choice) {
                calls.forget_position(event);
            }
            return None;
        }
        self.turn.calls += 1;
        Some(self.turn.choices.entry(choice).or_default().create(origin))
    }

    /// Remembers by what a call can be found again; false if there is no room for its ids.
    fn learn(&mut self, choice: u32, index: usize, event: &CallEvent<'_>) -> bool {
        let Some(calls) = self.turn.choices.get_mut(&choice) else {
            return false;
        };
        calls.learn_position(index, event);
        let ids = calls.bytes_to_learn(index, event);
        let has_room = self.turn.held + ids <= self.limits.argument_bytes;
        if has_room {
            calls.learn_ids(index, event);
            calls.held += ids;
            self.turn.held += ids;
        }
        has_room
    }

    /// Brings a call up to date; gives what has changed.
    fn update(&mut self, choice: u32, index: usize, event: &CallEvent<'_>) -> Option<Effect> {
        let has_room = self.learn(choice, index, event);
        let calls = self.turn.choices.get_mut(&choice)?;
        let call = &mut calls.calls[index];
        let payload = Payload::of(event, self.sequence);
        let name = event.name.filter(|name| {
            let is_last_word = event.complete && payload.is_none();
            call.record.name.is_empty() || (is_last_word && call.record.name != *name)
        });
        let is_repeat = call.is_repeat(event, payload, self.repeat_policy);
        let growth = if is_repeat {
            0
        } else {
            call.growth(event.arguments, self.fragments) + name.map_or(0, str::len)
        };
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
        let mut effect = Effect::None;
        if !is_repeat {
            effect = call.take(event.arguments, self.fragments);
            if let Some(name) = name {
                if !call.record.name.is_empty() {
                    effect = Effect::Replaced;
                }
                name.clone_into(&mut call.record.name);
            }
            call.remember(payload);
        }
        if event.complete {
            call.finish(event.arguments);
        }
        let after = call.held();
        calls.held = calls.held + after - before;
        self.turn.held = self.turn.held + after - before;
        Some(effect)
    }

    /// Records the change that comes of an update.
    fn report(&mut self, choice: u32, index: usize, effect: Effect) {
        let first = match self.turn.choices.get(&choice) {
            Some(calls) if !calls.calls[index].record.name.is_empty() => {
                calls.calls[index].index.is_none()
            }
            _ => return,
        };
        if first {
            self.appear(choice, index);
        }
        let Some(calls) = self.turn.choices.get_mut(&choice) else {
            return;
        };
        let call = &mut calls.calls[index];
        let is_empty = call.complete && call.record.arguments.is_empty();
        let earlier = call.change.filter(|(ingest, _)| *ingest == self.ingests);
        if earlier.is_some() && is_empty {
            // The change that is already recorded will be written with `{}`.
            call.was_empty = true;
        }
        // A client that was sent `{}` for no arguments cannot be given others.
        let after_braces = call.was_empty && effect == Effect::Appended(0);
        let frame = if first {
            Frame::Header
        } else if effect == Effect::Replaced {
            Frame::Replaced
        } else if !after_braces {
            Frame::Increment
        } else if have_equal_value(&call.record.arguments, NO_ARGUMENTS, Numbers::Written) {
            Frame::Known
        } else {
            Frame::Replaced
        };
        let start = match (frame, effect) {
            (Frame::Header | Frame::Replaced, _) => 0,
            (_, Effect::Appended(before)) => before,
            (_, Effect::None | Effect::Replaced) => return,
        };
        call.was_empty = is_empty;
        let end = call.record.arguments.len();
        // A call that several parts of one payload are about has changed once.
        if let Some((_, earlier)) = earlier {
            let change = &mut self.changes[earlier];
            change.frame = match (change.frame, frame) {
                (Frame::Header, _) => Frame::Header,
                (Frame::Increment, Frame::Increment | Frame::Known) => Frame::Increment,
                _ => Frame::Replaced,
            };
            let is_whole = change.frame == Frame::Replaced;
            change.appended = if is_whole { 0..end } else { change.appended.start..end };
            return;
        }
        call.change = Some((self.ingests, self.changes.len()));
        self.changes.push(Change { choice, call: index, appended: start..end, frame });
    }

    fn appear(&mut self, choice: u32, index: usize) {
        let Some(calls) = self.turn.choices.get(&choice) else {
            return;
        };
        let call = &calls.calls[index];
        let context = IdContext {
            choice,
            ordinal: calls.next_index(),
            backend_id: call.record.backend_id.as_deref(),
            name: &call.record.name,
        };
        let has_own_id = call.same_id.is_none();
        let id = self.id_policy.make(&context, has_own_id, |id| self.turn.ids.contains(id));
        self.turn.ids.insert(id.as_str().into());
        if let Some(calls) = self.turn.choices.get_mut(&choice) {
            calls.appear(index, id);
        }
    }
}
