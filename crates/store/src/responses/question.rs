//! What can be asked about responses. Each question is answered from one state of the database.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::change::Side;
use super::{Conversation, FoundResponse, Held, StoredItem};

/// A response and those that it continues.
struct Chain {
    /// Their numbers, from the first on.
    numbers: Vec<i64>,
    /// The one that the first of them continues, which is not there.
    missing: Option<String>,
}

pub(super) fn find(
    database: &mut Connection,
    key: &str,
    id: &str,
) -> rusqlite::Result<Option<FoundResponse>> {
    let database = database.transaction()?;
    let found = database
        .prepare_cached("SELECT number, body FROM found_responses WHERE key_name = ?1 AND id = ?2")?
        .query_row([key, id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, body)) = found else { return Ok(None) };
    let mut output = Vec::new();
    read_items(&database, number, Side::Output, &mut output)?;
    Ok(Some(FoundResponse { body, output }))
}

pub(super) fn conversation(
    database: &mut Connection,
    key: &str,
    id: &str,
) -> rusqlite::Result<Conversation> {
    said(database, key, id, Side::Output)
}

pub(super) fn input_of(
    database: &mut Connection,
    key: &str,
    id: &str,
) -> rusqlite::Result<Conversation> {
    said(database, key, id, Side::Input)
}

pub(super) fn items(
    database: &mut Connection,
    key: &str,
    ids: Vec<String>,
) -> rusqlite::Result<HashMap<String, String>> {
    let database = database.transaction()?;
    let mut select = database.prepare_cached(
        "SELECT json FROM response_items
         JOIN found_responses ON found_responses.number = response
         WHERE response_items.id = ?1 AND key_name = ?2
         ORDER BY response_items.number DESC LIMIT 1",
    )?;
    let mut found = HashMap::with_capacity(ids.len());
    for id in ids {
        let json = select.query_row([id.as_str(), key], |row| row.get(0)).optional()?;
        if let Some(json) = json {
            found.insert(id, json);
        }
    }
    Ok(found)
}

pub(super) fn held(database: &Connection) -> rusqlite::Result<Held> {
    database.prepare_cached("SELECT responses, bytes FROM responses_held")?.query_row((), |row| {
        let sum = |column| row.get(column).map(|sum: i64| sum.max(0).cast_unsigned());
        Ok(Held { responses: sum(0)?, bytes: sum(1)? })
    })
}

/// Everything up to this side of a response.
fn said(
    database: &mut Connection,
    key: &str,
    id: &str,
    until: Side,
) -> rusqlite::Result<Conversation> {
    let database = database.transaction()?;
    let chain = Chain::read(&database, key, id)?;
    if let Some(missing) = chain.missing {
        return Ok(Conversation::Broken { missing });
    }
    let Some((last, earlier)) = chain.numbers.split_last() else {
        return Ok(Conversation::Unknown);
    };
    let mut items = Vec::new();
    for response in earlier {
        read_items(&database, *response, Side::Input, &mut items)?;
        read_items(&database, *response, Side::Output, &mut items)?;
    }
    read_items(&database, *last, Side::Input, &mut items)?;
    if matches!(until, Side::Output) {
        read_items(&database, *last, Side::Output, &mut items)?;
    }
    Ok(Conversation::Whole(items))
}

fn read_items(
    database: &Connection,
    response: i64,
    side: Side,
    items: &mut Vec<StoredItem>,
) -> rusqlite::Result<()> {
    let mut select = database.prepare_cached(
        "SELECT id, json FROM response_items WHERE response = ?1 AND side = ?2 ORDER BY position",
    )?;
    let read = select.query_map(params![response, side as i64], |row| {
        Ok(StoredItem { id: row.get(0)?, json: row.get(1)? })
    })?;
    for item in read {
        items.push(item?);
    }
    Ok(())
}

// === impl Chain ===

impl Chain {
    /// What a response continues was there before it and has a smaller number, so that this comes to an
    /// end whatever the ids say.
    fn read(database: &Connection, key: &str, id: &str) -> rusqlite::Result<Self> {
        let mut select = database.prepare_cached(
            "WITH RECURSIVE chain (number, previous_id, conversation) AS (
                 SELECT number, previous_id, conversation FROM found_responses
                 WHERE key_name = ?1 AND id = ?2
                 UNION ALL
                 SELECT earlier.number, earlier.previous_id, earlier.conversation
                 FROM chain JOIN responses AS earlier
                     ON earlier.key_name = ?1 AND earlier.id = chain.previous_id
                     AND earlier.number < chain.number
                     AND earlier.conversation = chain.conversation
             )
             SELECT number, previous_id FROM chain ORDER BY number",
        )?;
        let mut rows = select.query([key, id])?;
        let mut chain = Self { numbers: Vec::new(), missing: None };
        while let Some(row) = rows.next()? {
            if chain.numbers.is_empty() {
                chain.missing = row.get(1)?;
            }
            chain.numbers.push(row.get(0)?);
        }
        Ok(chain)
    }
}
