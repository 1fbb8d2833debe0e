//! From a request that is understood to its answer: the turns, their events, and what is told of them.
//! The same for every endpoint; what differs is how an answer is written.

mod failure_context;
mod incoming;
mod random_text;
mod running;
mod session;
mod stream;
mod summary;
mod turn_log;
mod usage;

pub(crate) use incoming::{AnswerHeaders, Incoming, aside};
pub(crate) use random_text::random_text;
pub(crate) use running::{Asked, Endpoint, Running, unwritable};
pub(crate) use session::Outcome;
pub(crate) use stream::{AnswerStream, Keeping, StreamedAnswer, event_stream};
pub(crate) use summary::{ESTIMATED, sum_up};
pub(crate) use usage::Prompt;

pub(crate) fn seconds_since_1970() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}
