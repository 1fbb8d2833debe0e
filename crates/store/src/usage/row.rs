//! One turn.

use std::time::{Duration, SystemTime};

use model_turn::TokenUsage;
use rusqlite::{Connection, params};

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
    /// The id of the key.
    pub key_id: String,
    /// What it is called.
    pub key_name: String,
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
    pub tokens: Option<TokenUsage>,
    /// From the request's head to its place among the turns.
    pub queued: Duration,
    /// From there to the first token for the client.
    pub to_first_token: Option<Duration>,
    /// From the request's head to its end.
    pub duration: Duration,
}

// === impl UsageRow ===

impl Change for UsageRow {
    fn apply(&self, database: &Connection) -> rusqlite::Result<()> {
        let mut insert = database.prepare_cached(
            "INSERT INTO usage (
                 ended_at, request_id, choice, key_id, key_name, model, backend_model, endpoint, stream,
                 output_mode, stop_mode, stop_reason, failed, tool_call_count, truncated,
                 prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens,
                 queue_ms, first_token_ms, duration_ms
             ) VALUES (
                 ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
                 ?19, ?20, ?21, ?22
             )",
        )?;
        let tokens = |kind: fn(TokenUsage) -> u64| self.tokens.map(|all| number(kind(all)));
        // In the order of the columns: a name would be looked up for each.
        insert.execute(params![
            millis_since_1970(self.ended_at),
            self.request_id,
            number(self.choice as u64),
            self.key_id,
            self.key_name,
            self.model,
            self.backend_model,
            self.endpoint,
            self.streamed,
            self.output_mode,
            self.stop_mode,
            self.stop_reason,
            self.failed,
            number(self.tool_call_count as u64),
            self.truncated,
            tokens(|tokens| tokens.input_tokens),
            tokens(|tokens| tokens.cached_input_tokens),
            tokens(|tokens| tokens.output_tokens),
            tokens(|tokens| tokens.reasoning_output_tokens),
            millis(self.queued),
            self.to_first_token.map(millis),
            millis(self.duration),
        ])?;
        Ok(())
    }
}

fn number(number: u64) -> i64 {
    number.min(MOST).cast_signed()
}
