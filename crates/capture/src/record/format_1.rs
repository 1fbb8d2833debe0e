//! Records of format 1, which version 0.1 wrote: other lines have the end of the answer.

use bridge::EndReason;
use openai_wire::Usage;
use serde::Deserialize;

use super::{Entry, FORMAT, Record, What};

/// These lines; the rest of a record is as it is in later ones.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct OldEnd {
    usage: Option<Usage>,
    closed: Option<Closed>,
}

#[derive(Debug, Deserialize)]
struct Closed {
    completed_at: Option<u64>,
    kept: bool,
}

// === impl OldEnd ===

impl OldEnd {
    /// Takes a line; returns whether it was one of these.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let Ok(Self { usage, closed }) = serde_json::from_str(line) else { return false };
        let is_one = usage.is_some() || closed.is_some();
        self.usage = usage.or(self.usage);
        self.closed = closed.or(self.closed.take());
        is_one
    }

    /// Gives the record the inputs that followed once the turns were over.
    pub(super) fn add_to(self, record: &mut Record) {
        let (completed_at, kept) =
            self.closed.map_or((None, false), |closed| (closed.completed_at, closed.kept));
        // Only a report says that it was cancelled.
        let is_cancelled =
            record.reports().iter().any(|report| report.stop_reason == EndReason::Cancelled);
        let settled_at = completed_at.unwrap_or(record.header.created);
        let settle = What::Settle { usage: self.usage, at: settled_at };
        let last = record.entries.last().map_or(0, |entry| entry.at);
        let inputs = is_cancelled.then_some(What::Cancel {}).into_iter();
        let inputs = inputs.chain([settle, What::Stored(kept)]);
        record.entries.extend(inputs.map(|what| Entry { at: last, what }));
        record.header.capture = FORMAT;
    }
}
