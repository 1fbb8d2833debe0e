//! What can be asked about responses. Each question is answered from one state of the database.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use rusqlite::types::FromSqlError;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::change::Side;
use super::{Conversation, FoundResponse, Held, Listed, Order, Page, StoredItem};

/// A response and those that it continues.
struct Chain {
    /// Their numbers, from the first on.
    numbers: Vec<i64>,
    /// The one that the first of them continues, which is not there.
    missing: Option<String>,
}

/// An item without its text.
struct ListedItem {
    id: String,
    response: i64,
    place: Place,
}

/// Where an item stands in the text of its response.
struct Place {
    start: i64,
    bytes: i64,
}

pub(super) fn find(
    database: &mut Connection,
    key: &str,
    id: &str,
) -> rusqlite::Result<Option<FoundResponse>> {
    let database = database.transaction()?;
    let found = database
        .prepare_cached("SELECT number, body FROM found_responses WHERE key_id = ?1 AND id = ?2")?
        .query_row([key, id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((number, body)) = found else { return Ok(None) };
    let mut output = Vec::new();
    read_items(&database, number, Side::Output..=Side::Output, &mut output)?;
    Ok(Some(FoundResponse { body, output }))
}

/// Only the texts of the page are read.
pub(super) fn input_of(
    database: &mut Connection,
    key: &str,
    id: &str,
    page: &Page,
) -> rusqlite::Result<Listed> {
    let database = database.transaction()?;
    let chain = Chain::read(&database, key, id)?;
    if let Some(missing) = chain.missing {
        return Ok(Listed::Broken { missing });
    }
    let Some((last, earlier)) = chain.numbers.split_last() else { return Ok(Listed::Unknown) };
    let mut listed = Vec::new();
    for response in earlier {
        list_items(&database, *response, Side::Input..=Side::Output, &mut listed)?;
    }
    list_items(&database, *last, Side::Input..=Side::Input, &mut listed)?;
    if page.order == Order::LastFirst {
        listed.reverse();
    }
    if let Some(after) = &page.after {
        let Some(position) = listed.iter().position(|item| item.id == *after) else {
            return Ok(Listed::NoSuchItem);
        };
        listed.drain(..=position);
    }
    let all = listed.len();
    let mut bytes_left = page.bytes;
    let mut items = Vec::new();
    for item in listed.into_iter().take(page.items) {
        let bytes = usize::try_from(item.place.bytes).unwrap_or(usize::MAX);
        if !items.is_empty() && bytes > bytes_left {
            break;
        }
        bytes_left = bytes_left.saturating_sub(bytes);
        let json = with_text(&database, item.response, |text| item.place.in_text(text))?;
        items.push(StoredItem { id: item.id, json });
    }
    let has_more = items.len() < all;
    Ok(Listed::Page { items, has_more })
}

pub(super) fn measure(
    database: &mut Connection,
    key: &str,
    previous: Option<String>,
    ids: Vec<String>,
) -> rusqlite::Result<u64> {
    let database = database.transaction()?;
    let mut bytes = 0_i64;
    if let Some(previous) = previous {
        let mut select = database.prepare_cached(
            "SELECT COALESCE(SUM(bytes), 0) FROM response_items WHERE response = ?1",
        )?;
        for number in Chain::read(&database, key, &previous)?.numbers {
            bytes += select.query_row([number], |row| row.get::<_, i64>(0))?;
        }
    }
    let mut known = HashMap::new();
    for id in ids {
        let one = if let Some(bytes) = known.get(&id) {
            *bytes
        } else {
            let found = find_item(&database, key, &id)?.map_or(0, |(_, place)| place.bytes);
            known.insert(id, found);
            found
        };
        bytes = bytes.saturating_add(one);
    }
    Ok(bytes.max(0).cast_unsigned())
}

pub(super) fn items(
    database: &mut Connection,
    key: &str,
    ids: Vec<String>,
) -> rusqlite::Result<HashMap<String, String>> {
    let database = database.transaction()?;
    let mut places = BTreeMap::<i64, Vec<(String, Place)>>::new();
    for id in ids.into_iter().collect::<BTreeSet<_>>() {
        if let Some((response, place)) = find_item(&database, key, &id)? {
            places.entry(response).or_default().push((id, place));
        }
    }
    let mut found = HashMap::new();
    for (response, places) in places {
        with_text(&database, response, |text| {
            for (id, place) in places {
                found.insert(id, place.in_text(text)?);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

pub(super) fn held(database: &Connection) -> rusqlite::Result<Held> {
    database.prepare_cached("SELECT responses, bytes FROM responses_held")?.query_row((), |row| {
        let sum = |column| row.get(column).map(|sum: i64| sum.max(0).cast_unsigned());
        Ok(Held { responses: sum(0)?, bytes: sum(1)? })
    })
}

/// The response that an item stands in, and where.
fn find_item(database: &Connection, key: &str, id: &str) -> rusqlite::Result<Option<(i64, Place)>> {
    let mut select = database.prepare_cached(
        "SELECT response, start, response_items.bytes FROM response_items
         JOIN found_responses ON found_responses.number = response
         WHERE response_items.id = ?1 AND key_id = ?2
         ORDER BY response_items.number DESC LIMIT 1",
    )?;
    let read = |row: &Row<'_>| Ok((row.get(0)?, Place { start: row.get(1)?, bytes: row.get(2)? }));
    select.query_row([id, key], read).optional()
}

pub(super) fn conversation(
    database: &mut Connection,
    key: &str,
    id: &str,
) -> rusqlite::Result<Conversation> {
    let database = database.transaction()?;
    let chain = Chain::read(&database, key, id)?;
    if let Some(missing) = chain.missing {
        return Ok(Conversation::Broken { missing });
    }
    if chain.numbers.is_empty() {
        return Ok(Conversation::Unknown);
    }
    let mut items = Vec::new();
    for response in chain.numbers {
        read_items(&database, response, Side::Input..=Side::Output, &mut items)?;
    }
    Ok(Conversation::Whole(items))
}

fn read_items(
    database: &Connection,
    response: i64,
    sides: RangeInclusive<Side>,
    items: &mut Vec<StoredItem>,
) -> rusqlite::Result<()> {
    let mut listed = Vec::new();
    list_items(database, response, sides, &mut listed)?;
    with_text(database, response, |text| {
        for item in listed {
            items.push(StoredItem { id: item.id, json: item.place.in_text(text)? });
        }
        Ok(())
    })
}

/// The items of a response without their texts.
fn list_items(
    database: &Connection,
    response: i64,
    sides: RangeInclusive<Side>,
    items: &mut Vec<ListedItem>,
) -> rusqlite::Result<()> {
    let mut select = database.prepare_cached(
        "SELECT id, start, bytes FROM response_items
         WHERE response = ?1 AND side BETWEEN ?2 AND ?3 ORDER BY side, position",
    )?;
    let mut rows = select.query([response, *sides.start() as i64, *sides.end() as i64])?;
    while let Some(row) = rows.next()? {
        let place = Place { start: row.get(1)?, bytes: row.get(2)? };
        items.push(ListedItem { id: row.get(0)?, response, place });
    }
    Ok(())
}

/// Reads in the text of all items of a response, without a copy of it.
fn with_text<T>(
    database: &Connection,
    response: i64,
    read: impl FnOnce(&str) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    database
        .prepare_cached("SELECT items FROM responses WHERE number = ?1")?
        .query_row([response], |row| read(row.get_ref(0)?.as_str()?))
}

// === impl Place ===

impl Place {
    /// Only a damaged database has one that is not there.
    fn in_text(&self, text: &str) -> rusqlite::Result<String> {
        let start = usize::try_from(self.start).ok();
        let end = usize::try_from(self.start.saturating_add(self.bytes)).ok();
        let json = start.zip(end).and_then(|(start, end)| text.get(start..end));
        Ok(json.ok_or(FromSqlError::OutOfRange(self.start))?.to_owned())
    }
}

// === impl Chain ===

impl Chain {
    /// What a response continues was there before it and has a smaller number, so that this comes to an
    /// end whatever the ids say.
    fn read(database: &Connection, key: &str, id: &str) -> rusqlite::Result<Self> {
        let mut select = database.prepare_cached(
            "WITH RECURSIVE chain (number, previous_id, conversation) AS (
                 SELECT number, previous_id, conversation FROM found_responses
                 WHERE key_id = ?1 AND id = ?2
                 UNION ALL
                 SELECT earlier.number, earlier.previous_id, earlier.conversation
                 FROM chain JOIN responses AS earlier
                     ON earlier.key_id = ?1 AND earlier.id = chain.previous_id
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
