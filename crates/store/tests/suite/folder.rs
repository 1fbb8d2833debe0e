//! A database of its own, and turns for it.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::civil::{Date, date};
use model_turn::TokenUsage;
use rusqlite::Connection;
use store::{Store, Usage, UsageKey, UsageQuery, UsageReport, UsageRow};
use tempfile::TempDir;

/// A folder that goes with it.
pub(crate) struct Folder(TempDir);

// === impl Folder ===

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("store/codex-completions.sqlite3")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path()).unwrap()
    }

    /// Somebody else's connection to the same file.
    pub(crate) fn other(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }
}

/// A moment of 2026-03-01 and so many milliseconds later.
pub(crate) fn moment(millis: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_772_323_200_000 + millis)
}

pub(crate) const DAY: Date = date(2026, 3, 1);

/// A turn that ended well.
pub(crate) fn turn(request_id: &str) -> UsageRow {
    UsageRow {
        ended_at: moment(0),
        request_id: request_id.to_owned(),
        choice: 0,
        key_id: "default".to_owned(),
        key_name: "default".to_owned(),
        model: "chat".to_owned(),
        backend_model: "gpt-5.5".to_owned(),
        endpoint: "chat",
        streamed: true,
        output_mode: "openai-json",
        stop_mode: "burst",
        stop_reason: "tool_calls",
        failed: false,
        tool_call_count: 2,
        truncated: false,
        tokens: Some(TokenUsage {
            input_tokens: 123,
            cached_input_tokens: 100,
            output_tokens: 45,
            reasoning_output_tokens: 7,
            total_tokens: 168,
        }),
        queued: Duration::from_micros(90),
        to_first_token: Some(Duration::from_millis(12)),
        duration: Duration::from_millis(34),
    }
}

/// Everything that there can be.
pub(crate) fn everything() -> UsageQuery {
    UsageQuery { from: date(1970, 1, 1), to: Date::MAX, key: UsageKey::Any, model: None }
}

/// The sums over all rows that were recorded by now.
pub(crate) async fn report(usage: &Usage) -> UsageReport {
    usage.flush().await;
    usage.report(everything()).await.unwrap()
}
