//! Sums over rows.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use rusqlite::{Connection, Row, params};
use serde::Serialize;

/// Most groups that a report lists: those with the most turns.
const MOST_GROUPS: i64 = 1_000;

/// Which turns are summed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageQuery {
    /// The first day, in UTC.
    pub from: Date,
    /// The last one, which counts too.
    pub to: Date,
    /// Whose.
    pub key: UsageKey,
    /// Only those of this model, as clients name it or as it is.
    pub model: Option<String>,
}

/// The keys whose turns are summed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageKey {
    /// All of them.
    Any,
    /// Those with this name or id: a name can have had several.
    Called(String),
    /// The one with this id.
    Only(String),
}

/// What turns used together, and in groups. A group without any turn is not there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// All of them.
    pub totals: UsageSums,
    /// By the day on which they ended, from the first on.
    pub by_day: Vec<(String, UsageSums)>,
    /// By the model, as clients name it; those with the most turns first, as in all that follow.
    pub by_model: Vec<(String, UsageSums)>,
    /// By the real model.
    pub by_backend_model: Vec<(String, UsageSums)>,
    /// By the key.
    pub by_key: Vec<KeyUsage>,
    /// By why they ended.
    pub by_stop_reason: Vec<(String, UsageSums)>,
}

/// What the turns of a key used together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyUsage {
    /// The id of the key.
    pub id: String,
    /// What it was called when its last turn ended.
    pub name: String,
    /// The sums.
    pub sums: UsageSums,
}

/// What some turns used together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UsageSums {
    /// The turns.
    pub turns: u64,
    /// The requests that they belong to: one has a turn for each of its choices.
    pub requests: u64,
    /// Turns that failed.
    pub failed: u64,
    /// Turns of which a call was dropped, or that were cut.
    pub truncated: u64,
    /// Calls that were forwarded.
    pub tool_calls: u64,
    /// Tokens of what was asked.
    pub prompt_tokens: u64,
    /// Those of them that the upstream had seen before.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub completion_tokens: u64,
    /// Those of them that nobody sees.
    pub reasoning_tokens: u64,
    /// Turns of which the upstream told no tokens, which are in none of these sums.
    pub turns_without_tokens: u64,
}

/// What turns are grouped by.
#[derive(Debug, Clone, Copy)]
enum Group {
    Nothing,
    Day,
    Model,
    BackendModel,
    Key,
    StopReason,
}

// === impl UsageReport ===

impl UsageReport {
    /// Everything is read from the same state of the database.
    pub(super) fn read(database: &mut Connection, query: &UsageQuery) -> rusqlite::Result<Self> {
        let transaction = database.transaction()?;
        let by = |group| {
            sums(&transaction, query, group, |row| Ok((row.get(0)?, UsageSums::read(row)?)))
        };
        Ok(Self {
            totals: by(Group::Nothing)?
                .pop()
                .map(|(_, sums): (String, _)| sums)
                .unwrap_or_default(),
            by_day: by(Group::Day)?,
            by_model: by(Group::Model)?,
            by_backend_model: by(Group::BackendModel)?,
            by_key: sums(&transaction, query, Group::Key, KeyUsage::read)?,
            by_stop_reason: by(Group::StopReason)?,
        })
    }
}

fn sums<T>(
    database: &Connection,
    query: &UsageQuery,
    group: Group,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let select = format!(
        "SELECT {}, COUNT(*), SUM(choice = 0), SUM(failed), SUM(truncated), SUM(tool_call_count),
                SUM(prompt_tokens), SUM(cached_tokens), SUM(completion_tokens), SUM(reasoning_tokens),
                SUM(prompt_tokens IS NULL){}
         FROM usage
         WHERE ended_at >= ?1 AND ended_at < ?2
           AND (?3 IS NULL OR ?3 IN (key_name, key_id))
           AND (?4 IS NULL OR key_id = ?4)
           AND (?5 IS NULL OR ?5 IN (model, backend_model))
         GROUP BY 1 ORDER BY {} LIMIT {}",
        group.expression(),
        group.more(),
        group.order(),
        group.most(),
    );
    let mut select = database.prepare_cached(&select)?;
    let (from, until) = (begin_of(query.from), end_of(query.to));
    let (called, only) = match &query.key {
        UsageKey::Any => (None, None),
        UsageKey::Called(name) => (Some(name), None),
        UsageKey::Only(id) => (None, Some(id)),
    };
    select.query_map(params![from, until, called, only, query.model], read)?.collect()
}

// === impl KeyUsage ===

impl KeyUsage {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { id: row.get(0)?, name: row.get(11)?, sums: UsageSums::read(row)? })
    }
}

// === impl UsageSums ===

impl UsageSums {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        // A sum over nothing but unknown tokens is NULL.
        let sum = |column| -> rusqlite::Result<u64> {
            let sum: Option<i64> = row.get(column)?;
            Ok(sum.and_then(|sum| sum.try_into().ok()).unwrap_or(0))
        };
        Ok(Self {
            turns: sum(1)?,
            requests: sum(2)?,
            failed: sum(3)?,
            truncated: sum(4)?,
            tool_calls: sum(5)?,
            prompt_tokens: sum(6)?,
            cached_tokens: sum(7)?,
            completion_tokens: sum(8)?,
            reasoning_tokens: sum(9)?,
            turns_without_tokens: sum(10)?,
        })
    }
}

// === impl Group ===

impl Group {
    fn expression(self) -> &'static str {
        match self {
            Self::Nothing => "''",
            Self::Day => "date(ended_at / 1000, 'unixepoch')",
            Self::Model => "model",
            Self::BackendModel => "backend_model",
            Self::Key => "key_id",
            Self::StopReason => "stop_reason",
        }
    }

    /// What is read besides. Next to a maximum SQLite takes plain columns from the row that has it.
    fn more(self) -> &'static str {
        match self {
            Self::Key => ", key_name, MAX(id)",
            Self::Nothing | Self::Day | Self::Model | Self::BackendModel | Self::StopReason => "",
        }
    }

    fn order(self) -> &'static str {
        match self {
            Self::Day => "1",
            Self::Nothing | Self::Model | Self::BackendModel | Self::Key | Self::StopReason => {
                "2 DESC, 1"
            }
        }
    }

    /// Days are as many as were asked for; names can be anything.
    fn most(self) -> i64 {
        match self {
            Self::Day => -1,
            Self::Nothing | Self::Model | Self::BackendModel | Self::Key | Self::StopReason => {
                MOST_GROUPS
            }
        }
    }
}

/// Milliseconds from 1970 to a day's first moment in UTC.
fn begin_of(day: Date) -> i64 {
    let midnight = TimeZone::UTC.to_timestamp(day.at(0, 0, 0, 0));
    midnight.map_or(i64::MAX, Timestamp::as_millisecond)
}

/// To the first moment that is no longer part of it; after the last day there is that is never.
fn end_of(day: Date) -> i64 {
    day.tomorrow().map_or(i64::MAX, begin_of)
}
