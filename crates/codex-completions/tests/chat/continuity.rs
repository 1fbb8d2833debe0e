//! The same Codex thread for the same conversation: what the model receives is what a fresh thread
//! would have sent.

mod agent_loop;
mod conversation;
mod examples;
mod law;
mod received;

use crate::http::Answer;

/// How a turn came to its thread.
const CONTINUITY: &str = "x-proxy-continuity";

const FRESH: &str = "fresh";
const REUSED: &str = "reused";
const RESUMED: &str = "resumed";

/// What an answer says of the thread of its turn.
fn thread_of(answer: &Answer) -> &str {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header(CONTINUITY).unwrap_or_else(|| panic!("no {CONTINUITY} in {answer:?}"))
}
