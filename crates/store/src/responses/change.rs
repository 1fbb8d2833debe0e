//! Keeping and deleting one response.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{StoredItem, StoredResponse};
use crate::time::millis_since_1970;
use crate::writer::Effect;

/// What stands before what was said: as long as a page.
const PADDING: i64 = 4096;

/// What a response and an item take beside their text, roughly.
const RESPONSE_BYTES: usize = 4096 + 100;
const ITEM_BYTES: usize = 100;

/// On which side of a response an item stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Side {
    Input = 0,
    Output = 1,
}

/// Nothing happens if its conversation would then be larger than everything may be.
pub(super) fn keep(
    database: &Connection,
    response: &StoredResponse,
    most: i64,
) -> rusqlite::Result<Effect> {
    let created_at = millis_since_1970(response.created_at);
    let bytes = bytes_of(response);
    let previous = conversation_of_previous(database, response)?;
    let before = previous.map_or(0, |(_, bytes)| bytes);
    if before.saturating_add(bytes) > most {
        return Ok(Effect::Nothing);
    }
    let conversation = match previous {
        Some((conversation, _)) => conversation,
        None => begin_conversation(database, &response.key, created_at)?,
    };
    let sides = [(Side::Input, &response.input), (Side::Output, &response.output)];
    let items: String =
        sides.iter().flat_map(|(_, items)| *items).map(|item| item.json.as_str()).collect();
    database
        .prepare_cached(
            "INSERT INTO responses (
                 id, key_id, created_at, previous_id, conversation, bytes, padding, body, items
             ) VALUES (?1, ?2, ?3, ?4, ?5, ?6, zeroblob(?7), ?8, ?9)",
        )?
        .execute(params![
            response.id,
            response.key,
            created_at,
            response.previous,
            conversation,
            bytes,
            PADDING,
            response.body,
            items,
        ])?;
    let number = database.last_insert_rowid();
    let mut start = 0;
    for (side, items) in sides {
        insert_items(database, number, side, items, &mut start)?;
    }
    database
        .prepare_cached(
            "UPDATE conversations
             SET used_at = MAX(used_at, ?2), responses = responses + 1, bytes = bytes + ?3
             WHERE number = ?1",
        )?
        .execute(params![conversation, created_at, bytes])?;
    add_to_held(database, 1, bytes)?;
    Ok(Effect::Added)
}

pub(super) fn delete(database: &Connection, key: &str, id: &str) -> rusqlite::Result<Effect> {
    let found = database
        .prepare_cached(
            "SELECT number, conversation, bytes FROM found_responses
             WHERE key_id = ?1 AND id = ?2",
        )?
        .query_row(params![key, id], |row| <(i64, i64, i64)>::try_from(row))
        .optional()?;
    let Some((number, conversation, bytes)) = found else { return Ok(Effect::Nothing) };
    database.prepare_cached("DELETE FROM response_items WHERE response = ?1")?.execute([number])?;
    database.prepare_cached("DELETE FROM responses WHERE number = ?1")?.execute([number])?;
    database
        .prepare_cached(
            "UPDATE conversations SET responses = responses - 1, bytes = bytes - ?2
             WHERE number = ?1",
        )?
        .execute([conversation, bytes])?;
    database
        .prepare_cached("DELETE FROM conversations WHERE number = ?1 AND responses = 0")?
        .execute([conversation])?;
    add_to_held(database, -1, -bytes)?;
    Ok(Effect::Deleted)
}

pub(super) fn add_to_held(
    database: &Connection,
    responses: i64,
    bytes: i64,
) -> rusqlite::Result<()> {
    database
        .prepare_cached("UPDATE responses_held SET responses = responses + ?1, bytes = bytes + ?2")?
        .execute([responses, bytes])?;
    Ok(())
}

/// The conversation that it goes on with, and what that takes.
fn conversation_of_previous(
    database: &Connection,
    response: &StoredResponse,
) -> rusqlite::Result<Option<(i64, i64)>> {
    let Some(previous) = &response.previous else { return Ok(None) };
    database
        .prepare_cached(
            "SELECT conversations.number, conversations.bytes FROM found_responses
             JOIN conversations ON conversations.number = conversation
             WHERE found_responses.key_id = ?1 AND found_responses.id = ?2",
        )?
        .query_row(params![response.key, previous], |row| row.try_into())
        .optional()
}

fn begin_conversation(database: &Connection, key: &str, used_at: i64) -> rusqlite::Result<i64> {
    database
        .prepare_cached(
            "INSERT INTO conversations (key_id, used_at, responses, bytes, expired)
             VALUES (?1, ?2, 0, 0, 0)",
        )?
        .execute(params![key, used_at])?;
    Ok(database.last_insert_rowid())
}

fn insert_items(
    database: &Connection,
    response: i64,
    side: Side,
    items: &[StoredItem],
    start: &mut usize,
) -> rusqlite::Result<()> {
    let mut insert = database.prepare_cached(
        "INSERT INTO response_items (response, side, position, id, start, bytes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for (position, item) in items.iter().enumerate() {
        insert.execute(params![
            response,
            side as i64,
            position.cast_signed(),
            item.id,
            start.cast_signed(),
            item.json.len().cast_signed(),
        ])?;
        *start += item.json.len();
    }
    Ok(())
}

fn bytes_of(response: &StoredResponse) -> i64 {
    let items = response.input.iter().chain(&response.output);
    let items: usize = items.map(|item| item.id.len() + item.json.len() + ITEM_BYTES).sum();
    let response = response.id.len() + response.body.len() + RESPONSE_BYTES;
    i64::try_from(response + items).unwrap_or(i64::MAX)
}
