//! The reasoning that led to calls, kept for the requests that bring their results.
//!
//! In memory alone: a client that does not want its response stored finds nothing of it on any disk.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bridge::{CallReasoning, Question, ReasoningBefore};
use parking_lot::Mutex;

use crate::gate::Caller;

/// How long a result may take.
const LONGEST: Duration = Duration::from_hours(24);

/// What an entry costs beside its texts.
const ENTRY_BYTES: usize = 256;

/// Reasoning by its call. When there is too much, the oldest goes.
#[derive(Debug, Default)]
pub(crate) struct KeptReasoning(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by_call: HashMap<Arc<Key>, Entry>,
    /// The oldest first.
    order: VecDeque<Arc<Key>>,
    bytes: usize,
}

/// Whose call it was, where the reasoning is understood, what it was about, and the call.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    caller: Caller,
    origin: Origin,
    question: Question,
    call_id: String,
}

#[derive(Debug)]
struct Entry {
    items: Arc<[ReasoningBefore]>,
    bytes: usize,
    kept_at: Instant,
}

/// What can decrypt encrypted reasoning: one model of one account of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Origin(pub(crate) u64);

/// The reasoning of one caller at one upstream.
#[derive(Debug, Clone)]
pub(crate) struct ReasoningScope {
    pub(crate) kept: Arc<KeptReasoning>,
    pub(crate) most_bytes: usize,
    pub(crate) caller: Caller,
    pub(crate) origin: Origin,
}

// === impl KeptReasoning ===

impl KeptReasoning {
    /// What is more than that goes.
    pub(crate) fn keep_within(&self, most_bytes: usize) {
        self.0.lock().shrink(most_bytes, ambient::now());
    }
}

// === impl ReasoningScope ===

impl ReasoningScope {
    /// Keeps what led to calls.
    pub(crate) fn keep(&self, calls: &[CallReasoning], question: Question) {
        if calls.is_empty() {
            return;
        }
        let now = ambient::now();
        let mut kept = self.kept.0.lock();
        for call in calls {
            let key = Arc::new(self.key(&call.call_id, question));
            kept.put(key, Arc::clone(&call.items), now);
        }
        kept.shrink(self.most_bytes, now);
    }

    /// What led to a call. It stays: a client may ask more than once.
    pub(crate) fn recall(
        &self,
        call_id: &str,
        question: Question,
    ) -> Option<Arc<[ReasoningBefore]>> {
        let kept = self.kept.0.lock();
        if kept.by_call.is_empty() {
            return None;
        }
        let entry = kept.by_call.get(&self.key(call_id, question))?;
        (ambient::since(entry.kept_at) <= LONGEST).then(|| Arc::clone(&entry.items))
    }

    fn key(&self, call_id: &str, question: Question) -> Key {
        let (caller, origin) = (self.caller.clone(), self.origin);
        Key { caller, origin, question, call_id: call_id.to_owned() }
    }
}

// === impl Kept ===

impl Kept {
    /// Of two calls with the same id the later one counts.
    fn put(&mut self, key: Arc<Key>, items: Arc<[ReasoningBefore]>, now: Instant) {
        let texts =
            items.iter().flat_map(|item| item.summary.iter().chain([&item.encrypted_content]));
        let bytes = ENTRY_BYTES + key.call_id.len() + texts.map(String::len).sum::<usize>();
        self.bytes += bytes;
        let entry = Entry { items, bytes, kept_at: now };
        match self.by_call.insert(Arc::clone(&key), entry) {
            Some(before) => self.bytes -= before.bytes,
            None => self.order.push_back(key),
        }
    }

    fn shrink(&mut self, most_bytes: usize, now: Instant) {
        while let Some(oldest) = self.order.front() {
            let is_old = |entry: &Entry| now.duration_since(entry.kept_at) > LONGEST;
            if self.bytes <= most_bytes && !self.by_call.get(oldest).is_some_and(is_old) {
                return;
            }
            if let Some(key) = self.order.pop_front()
                && let Some(entry) = self.by_call.remove(&key)
            {
                self.bytes -= entry.bytes;
            }
        }
    }
}

// === impl Origin ===

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(kept: &Arc<KeptReasoning>, caller: &str, origin: u64) -> ReasoningScope {
        ReasoningScope {
            kept: Arc::clone(kept),
            most_bytes: 2_000,
            caller: Caller::named(caller),
            origin: Origin(origin),
        }
    }

    fn call(call_id: &str, bytes: usize) -> CallReasoning {
        let encrypted_content = "x".repeat(bytes);
        let item = ReasoningBefore { encrypted_content, summary: vec![], before_text: false };
        CallReasoning { call_id: call_id.to_owned(), items: [item].into() }
    }

    #[test]
    fn only_the_same_caller_at_the_same_upstream_finds_it() {
        let kept = Arc::default();
        let mine = scope(&kept, "me", 1);
        mine.keep(&[call("a", 10)], Question::default());
        let found = |scope: ReasoningScope| scope.recall("a", Question::default()).is_some();
        assert!(found(mine) && found(scope(&kept, "me", 1)));
        assert!(!found(scope(&kept, "you", 1)) && !found(scope(&kept, "me", 2)));
        assert!(scope(&kept, "me", 1).recall("b", Question::default()).is_none());
    }

    #[test]
    fn row_22_reasoning_belongs_to_the_id_of_a_key() {
        let kept = Arc::default();
        let of = |id| ReasoningScope {
            caller: Caller::with_id(id, "phone"),
            ..scope(&kept, "phone", 1)
        };
        of("key_1").keep(&[call("a", 10)], Question::default());
        let finds = |id| of(id).recall("a", Question::default()).is_some();
        assert!(finds("key_1") && !finds("key_2") && !finds("phone"));
    }

    #[test]
    fn the_oldest_goes_when_there_is_too_much() {
        let kept = Arc::default();
        let scope = scope(&kept, "me", 1);
        for name in ["a", "b", "c"] {
            scope.keep(&[call(name, 500)], Question::default());
        }
        let left = |name: &str| scope.recall(name, Question::default()).is_some();
        assert_eq!(["a", "b", "c"].map(left), [false, true, true]);
        scope.keep(&[call("b", 400), call("d", 10)], Question::default());
        assert_eq!(["b", "c", "d"].map(left), [true, true, true]);
        scope.keep(&[call("huge", 5_000)], Question::default());
        assert_eq!(["b", "c", "d", "huge"].map(left), [false; 4]);
        assert_eq!(kept.0.lock().bytes, 0);
    }
}
