//! One turn.

use std::time::{Duration, SystemTime};

use rusqlite::{Connection, named_params};

use crate::time::{millis, millis_since_1970};
use crate::writer::Change;

/// An upstream can tell any number. With this limit no sum of them overflows.
const MOST: u64 = 1 << 40;

/// One turn that has ended: names, numbers and ids, and nothing of what was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// When it ended.
    pub ended_at: SystemTime,
    /// The request that it belongs to, and which of its choices it was.
    pub request_id: String,
    /// As above.
    pub choice: usize,
    /// The name of the key.
    pub key: String,
    /// The model, as the client names it.
    pub model: String,
    /// The real one.
    pub backend_model: String,
    /// What was asked: `chat`.
    pub endpoint: &'static str,
    /// Whether the answer was streamed.
    pub streamed: bool,
    /// How calls were shown.
    pub output_mode: &'static str,
    /// When the turn was to end after calls.
    pub stop_mode: &'static str,
    /// Why it ended.
    pub stop_reason: &'static str,
    /// Whether that is a failure.
    pub failed: bool,
    /// Calls that were forwarded.
    pub tool_call_count: usize,
    /// Whether a call was dropped, or the turn was cut.
    pub truncated: bool,
    /// What the upstream told; `None` if nothing.
    pub tokens: Option<Tokens>,
    /// From the request's head to its place among the turns.
    pub queued: Duration,
    /// From there to the first token for the client.
    pub to_first_token: Option<Duration>,
    /// From the request's head to its end.
    pub duration: Duration,
}

/// Tokens of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tokens {
    /// Of what was asked.
    pub prompt: u64,
    /// Those of them that the upstream had seen before.
    pub cached: u64,
    /// Of the answer.
    pub completion: u64,
    /// Those of them that nobody sees.
    pub reasoning: u64,
}

// === impl UsageRow ===

impl Change for UsageRow {
    fn apply(&self, database: &Connection) -> rusqlite::Result<()> {
        let mut insert = database.prepare_cached(
            "INSERT INTO usage (
                 ended_at, request_id, choice, key_name, model, backend_model, endpoint, stream,
                 output_mode, stop_mode, stop_reason, failed, tool_call_count, truncated,
                 prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens,
                 queue_ms, first_token_ms, duration_ms
             ) VALUES (
                 :ended_at, :request_id, :choice, :key_name, :model, :backend_model, :endpoint, :stream,
                 :output_mode, :stop_mode, :stop_reason, :failed, :tool_call_count, :truncated,
                 :prompt_tokens, :cached_tokens, :completion_tokens, :reasoning_tokens,
                 :queue_ms, :first_token_ms, :duration_ms
             )",
        )?;
        let tokens = |kind: fn(&Tokens) -> u64| self.tokens.as_ref().map(|all| number(kind(all)));
        insert.execute(named_params! {
            ":ended_at": millis_since_1970(self.ended_at),
            ":request_id": self.request_id,
            ":choice": number(self.choice as u64),
            ":key_name": self.key,
            ":model": self.model,
            ":backend_model": self.backend_model,
            ":endpoint": self.endpoint,
            ":stream": self.streamed,
            ":output_mode": self.output_mode,
            ":stop_mode": self.stop_mode,
            ":stop_reason": self.stop_reason,
            ":failed": self.failed,
            ":tool_call_count": number(self.tool_call_count as u64),
            ":truncated": self.truncated,
            ":prompt_tokens": tokens(|tokens| tokens.prompt),
            ":cached_tokens": tokens(|tokens| tokens.cached),
            ":completion_tokens": tokens(|tokens| tokens.completion),
            ":reasoning_tokens": tokens(|tokens| tokens.reasoning),
            ":queue_ms": millis(self.queued),
            ":first_token_ms": self.to_first_token.map(millis),
            ":duration_ms": millis(self.duration),
        })?;
        Ok(())
    }
}

fn number(number: u64) -> i64 {
    number.min(MOST).cast_signed()
}
