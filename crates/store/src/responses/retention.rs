//! Conversations that are too old, or too many.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior, params};

use super::change::add_to_held;
use super::question;
use crate::time::{millis, millis_since_1970};

/// Most rows that are changed at once, and about so many bytes, so that those who write never wait for
/// long.
const MOST_AT_ONCE: u32 = 500;
const MOST_BYTES_AT_ONCE: i64 = 4 << 20;

/// How long conversations are kept, and how much of them, which can change; until it is told, everything.
#[derive(Debug)]
pub(crate) struct ResponsesRetention {
    age_ms: AtomicI64,
    bytes: AtomicI64,
}

/// A conversation that is to go.
struct Unused {
    number: i64,
    responses: i64,
    bytes: i64,
}

/// What may still be deleted at once.
struct Room {
    rows: u32,
    bytes: i64,
}

// === impl ResponsesRetention ===

impl Default for ResponsesRetention {
    fn default() -> Self {
        Self { age_ms: AtomicI64::new(i64::MAX), bytes: AtomicI64::new(i64::MAX) }
    }
}

impl ResponsesRetention {
    /// Says whether these are other limits than before.
    pub(crate) fn keep_within(&self, age: Duration, bytes: u64) -> bool {
        let age = millis(age);
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        let is_other_age = self.age_ms.swap(age, Ordering::Relaxed) != age;
        let is_other_size = self.bytes.swap(bytes, Ordering::Relaxed) != bytes;
        is_other_age || is_other_size
    }

    /// Most bytes of all conversations together.
    pub(crate) fn most_bytes(&self) -> i64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether there is more than there may be. If that cannot be read now, the next one asks again.
    pub(crate) fn is_exceeded(&self, database: &Connection) -> bool {
        let most = self.bytes.load(Ordering::Relaxed).cast_unsigned();
        question::held(database).is_ok_and(|held| held.bytes > most)
    }

    /// Has some conversations expire, which takes them away whole, and deletes some of what has expired;
    /// breaks when there is no more of either.
    pub(crate) fn delete_some(
        &self,
        database: &mut Connection,
    ) -> rusqlite::Result<ControlFlow<()>> {
        let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let expired = self.expire_some(&transaction)?;
        let deleted = delete_some_expired(&transaction)?;
        transaction.commit()?;
        Ok(if expired.is_break() { deleted } else { expired })
    }

    fn expire_some(&self, database: &Connection) -> rusqlite::Result<ControlFlow<()>> {
        let too_old = self.expire_old(database)?;
        if too_old.is_continue() {
            return Ok(too_old);
        }
        self.expire_too_many(database)
    }

    fn expire_old(&self, database: &Connection) -> rusqlite::Result<ControlFlow<()>> {
        let age = self.age_ms.load(Ordering::Relaxed);
        let oldest = millis_since_1970(SystemTime::now()).saturating_sub(age);
        let mut select = database.prepare_cached(
            "SELECT number, responses, bytes FROM conversations
             WHERE expired = 0 AND used_at < ?1 ORDER BY used_at, number LIMIT ?2",
        )?;
        let old = select
            .query_map(params![oldest, MOST_AT_ONCE], Unused::read)?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        for conversation in &old {
            conversation.expire(database)?;
        }
        let is_last = old.len() < MOST_AT_ONCE as usize;
        Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    /// The key that has most gives first, so that none can push out what others have.
    fn expire_too_many(&self, database: &Connection) -> rusqlite::Result<ControlFlow<()>> {
        let most = self.bytes.load(Ordering::Relaxed);
        let mut left = question::held(database)?.bytes.cast_signed();
        if left <= most {
            return Ok(ControlFlow::Break(()));
        }
        let mut held_by_key = database
            .prepare_cached(
                "SELECT key_id, SUM(bytes) FROM conversations WHERE expired = 0 GROUP BY key_id",
            )?
            .query_map((), |row| <(String, i64)>::try_from(row))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let mut longest_unused = database.prepare_cached(
            "SELECT number, responses, bytes FROM conversations
             WHERE expired = 0 AND key_id = ?1 ORDER BY used_at, number LIMIT 1",
        )?;
        for _ in 0..MOST_AT_ONCE {
            if left <= most {
                return Ok(ControlFlow::Break(()));
            }
            let Some((key, held)) = held_by_key.iter_mut().max_by_key(|(_, held)| *held) else {
                return Ok(ControlFlow::Break(()));
            };
            let unused = longest_unused.query_row([&*key], Unused::read).optional()?;
            let Some(unused) = unused else { return Ok(ControlFlow::Break(())) };
            unused.expire(database)?;
            left -= unused.bytes;
            *held -= unused.bytes;
        }
        Ok(ControlFlow::Continue(()))
    }
}

// === impl Unused ===

impl Unused {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { number: row.get(0)?, responses: row.get(1)?, bytes: row.get(2)? })
    }

    /// From now on nobody finds it.
    fn expire(&self, database: &Connection) -> rusqlite::Result<()> {
        database
            .prepare_cached("UPDATE conversations SET expired = 1 WHERE number = ?1")?
            .execute([self.number])?;
        add_to_held(database, -self.responses, -self.bytes)
    }
}

/// First the items, then the responses, at last the conversation itself: who is killed in between finds
/// the rest again.
fn delete_some_expired(database: &Connection) -> rusqlite::Result<ControlFlow<()>> {
    let mut any_expired =
        database.prepare_cached("SELECT number FROM conversations WHERE expired = 1 LIMIT 1")?;
    let mut room = Room { rows: MOST_AT_ONCE, bytes: MOST_BYTES_AT_ONCE };
    while let Some(conversation) = any_expired.query_row((), |row| row.get(0)).optional()? {
        let is_gone = room.delete(
            database,
            conversation,
            "SELECT response_items.number, 0 FROM responses
             JOIN response_items ON response = responses.number WHERE conversation = ?1 LIMIT ?2",
            "DELETE FROM response_items WHERE number = ?1",
        )? && room.delete(
            database,
            conversation,
            "SELECT number, bytes FROM responses WHERE conversation = ?1 LIMIT ?2",
            "DELETE FROM responses WHERE number = ?1",
        )? && room.delete(
            database,
            conversation,
            "SELECT number, 0 FROM conversations WHERE number = ?1 LIMIT ?2",
            "DELETE FROM conversations WHERE number = ?1",
        )?;
        if !is_gone {
            return Ok(ControlFlow::Continue(()));
        }
    }
    Ok(ControlFlow::Break(()))
}

// === impl Room ===

impl Room {
    /// Deletes rows of a conversation, and says whether they are all gone.
    fn delete(
        &mut self,
        database: &Connection,
        conversation: i64,
        select: &str,
        delete: &str,
    ) -> rusqlite::Result<bool> {
        let rows = database
            .prepare_cached(select)?
            .query_map(params![conversation, self.rows], |row| <(i64, i64)>::try_from(row))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let mut delete = database.prepare_cached(delete)?;
        for (number, bytes) in rows {
            if self.bytes <= 0 {
                break;
            }
            delete.execute([number])?;
            self.rows -= 1;
            self.bytes -= bytes;
        }
        Ok(self.rows > 0 && self.bytes > 0)
    }
}
