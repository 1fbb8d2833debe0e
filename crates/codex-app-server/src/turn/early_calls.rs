//! Calls that the log has announced, until standard output confirms them.
//!
//! A call is streamed when every item before it has come on standard output, so that nothing which
//! belongs before it is still on its way; until then its fragments wait here.

use std::collections::HashSet;
use std::time::Instant;

use model_turn::ToolCall;

use super::streamed::{Contradiction, Streamed};
use crate::child_log::StartedCall;

/// Calls that wait for the items before them, and bytes of their arguments.
const MOST_WAITING: usize = 64;
const MOST_WAITING_BYTES: usize = 1024 * 1024;

/// The calls of a response whose arguments come from the log.
#[derive(Debug, Default)]
pub(crate) struct EarlyCalls {
    /// Whether the consumer wants arguments before their call is whole.
    wanted: bool,
    /// Items of the response that have come whole.
    items: u64,
    /// The call that is being streamed.
    open: Option<OpenCall>,
    waiting: Vec<WaitingCall>,
    waiting_bytes: usize,
    /// Calls that have come whole, also in earlier responses of the same turn, by their ids.
    earlier: HashSet<String>,
}

/// A call that the consumer knows of.
#[derive(Debug)]
struct OpenCall {
    started: StartedCall,
    arguments: Streamed,
    since: Instant,
}

#[derive(Debug)]
struct WaitingCall {
    started: StartedCall,
    arguments: String,
}

// === impl EarlyCalls ===

impl EarlyCalls {
    pub(crate) fn new(wanted: bool) -> Self {
        Self { wanted, ..Self::default() }
    }

    /// Whether a call is being streamed.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The log has announced a call. [`Self::open_next`] opens it when its time has come.
    pub(crate) fn on_started(&mut self, started: StartedCall) {
        let is_known = self.waiting.iter().any(|call| call.is_at(started.output_index));
        let is_earlier = self.earlier.contains(&started.call_id);
        let is_late = started.output_index < self.items
            || (self.open.is_some() && started.output_index == self.items);
        let is_new = !is_known && !is_earlier && !is_late;
        if self.wanted && is_new && self.waiting.len() < MOST_WAITING {
            self.waiting.push(WaitingCall { started, arguments: String::new() });
        }
    }

    /// More arguments, which are returned if they are to be streamed now.
    pub(crate) fn on_arguments(
        &mut self,
        item_id: &str,
        offset: usize,
        text: String,
    ) -> Option<String> {
        if let Some(open) = &mut self.open
            && &*open.started.item_id == item_id
        {
            // After a gap nothing fits any more: the whole item has the rest.
            return (open.arguments.bytes() == offset).then(|| {
                open.arguments.stream(&text);
                text
            });
        }
        let at = self.waiting.iter().position(|call| &*call.started.item_id == item_id)?;
        if self.waiting[at].arguments.len() == offset
            && self.waiting_bytes + text.len() <= MOST_WAITING_BYTES
        {
            self.waiting_bytes += text.len();
            self.waiting[at].arguments.push_str(&text);
        }
        None
    }

    /// The call that can be streamed from now on, if there is one, and its arguments that have waited.
    pub(crate) fn open_next(&mut self, now: Instant) -> Option<(&StartedCall, String)> {
        if self.open.is_some() {
            return None;
        }
        let at = self.waiting.iter().position(|call| call.is_at(self.items))?;
        let WaitingCall { started, arguments } = self.waiting.swap_remove(at);
        self.waiting_bytes -= arguments.len();
        let mut streamed = Streamed::new();
        streamed.stream(&arguments);
        let open = self.open.insert(OpenCall { started, arguments: streamed, since: now });
        Some((&open.started, arguments))
    }

    /// An item that is no call has come whole.
    pub(crate) fn on_item(&mut self) {
        self.items += 1;
        let Self { items, waiting, waiting_bytes, earlier, .. } = self;
        waiting.retain(|call| {
            let started = &call.started;
            let stays = started.output_index >= *items && !earlier.contains(&started.call_id);
            if !stays {
                *waiting_bytes -= call.arguments.len();
            }
            stays
        });
    }

    /// A call has come whole, under its name towards Codex. Returns when it started, if it was streamed.
    pub(crate) fn on_call(&mut self, call: &ToolCall) -> Result<Option<Instant>, Contradiction> {
        let open = self.open.take();
        // Not every item is counted, so that its index may still be to come.
        if self.wanted {
            self.earlier.insert(call.call_id.clone());
        }
        self.on_item();
        let Some(OpenCall { started, arguments, since }) = open else {
            return Ok(None);
        };
        let item_id = call.item_id.as_deref();
        let is_same = item_id.is_none_or(|id| id == &*started.item_id)
            && call.call_id == started.call_id
            && call.name == started.name;
        if !is_same {
            return Err(Contradiction);
        }
        arguments.rest(&call.arguments)?;
        Ok(Some(since))
    }

    /// Codex asks for the response once more, and nothing of the first one was streamed. Lines of both
    /// look the same, and those of the first may still come: every call comes whole from now on.
    pub(crate) fn stop(&mut self) {
        *self = Self::new(false);
    }

    /// The calls of an earlier response of the same turn, and of those before it.
    pub(crate) fn ignore<'a>(&mut self, before: &Self, calls: impl Iterator<Item = &'a str>) {
        if self.wanted {
            self.earlier.extend(before.earlier.iter().cloned());
            self.earlier.extend(calls.map(str::to_owned));
        }
    }
}

// === impl WaitingCall ===

impl WaitingCall {
    fn is_at(&self, output_index: u64) -> bool {
        self.started.output_index == output_index
    }
}

#[cfg(test)]
mod tests;
