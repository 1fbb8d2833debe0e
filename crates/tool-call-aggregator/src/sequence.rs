//! Numbered events: which are new, and of which response.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::wire::Stamp;

/// The responses of one choice, the current one last.
#[derive(Debug, Default)]
pub(crate) struct Responses {
    known: Vec<Response>,
}

#[derive(Debug, Default)]
struct Response {
    /// A digest of its id; `None` until an event names it.
    id: Option<u64>,
    /// The highest number so far.
    sequence: Option<u64>,
}

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// New, of the current response.
    Current,
    /// The first of another response.
    New,
    /// New, but of a response that another one has followed.
    Late,
    /// One that was there before.
    Repeated,
}

/// How many responses are remembered. A turn has one, or one more after each round of tools.
const REMEMBERED: usize = 64;

// === impl Responses ===

impl Responses {
    /// Takes note of an event.
    pub(crate) fn admit(&mut self, stamp: Stamp<'_>) -> Admission {
        let id = stamp.response_id.map(digest);
        let (place, admission) = self.place(id, stamp.sequence);
        let response = &mut self.known[place];
        response.id = response.id.or(id);
        let Some(sequence) = stamp.sequence else {
            return admission;
        };
        if response.sequence.is_some_and(|last| sequence <= last) {
            return Admission::Repeated;
        }
        response.sequence = Some(sequence);
        admission
    }

    /// Where the response of an event stands; one that is not known is added.
    fn place(&mut self, id: Option<u64>, sequence: Option<u64>) -> (usize, Admission) {
        let last = self.known.len().checked_sub(1);
        if let Some(last) = last {
            let current = &self.known[last];
            let is_current = match (id, current.id) {
                (Some(id), Some(current)) => id == current,
                // A response that has not named itself may do so now, but not while it counts anew.
                (Some(_), None) => sequence.is_none() || sequence > current.sequence,
                (None, _) => true,
            };
            if is_current {
                return (last, Admission::Current);
            }
        }
        if let Some(earlier) = self.known.iter().position(|response| response.id == id) {
            return (earlier, Admission::Late);
        }
        if self.known.len() == REMEMBERED {
            self.known.remove(0);
        }
        self.known.push(Response { id, sequence: None });
        let admission = if last.is_some() { Admission::New } else { Admission::Current };
        (self.known.len() - 1, admission)
    }
}

fn digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}
