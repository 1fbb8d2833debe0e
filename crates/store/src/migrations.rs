//! The schema, as steps from an empty file to what this version knows.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::StoreError;

/// Marks a database as ours: `CxCp`.
const APPLICATION_ID: i32 = 0x4378_4370;

/// The step at `n` leads from schema `n` to `n + 1`. A step that was released never changes.
const STEPS: &[&str] = &[
    include_str!("migrations/1_usage.sql"),
    include_str!("migrations/2_responses.sql"),
    include_str!("migrations/3_key_ids.sql"),
];

/// Says whether a database may be used, before anything in it is touched.
pub(crate) fn check(database: &Connection) -> Result<(), StoreError> {
    let application_id: i32 = pragma(database, "application_id")?;
    let version = version(database)?;
    let is_empty = || -> rusqlite::Result<bool> {
        database.query_row("SELECT COUNT(*) = 0 FROM sqlite_schema", (), |row| row.get(0))
    };
    if application_id != APPLICATION_ID && !(application_id == 0 && version == 0 && is_empty()?) {
        return Err(StoreError::Foreign);
    }
    if version > STEPS.len() {
        return Err(StoreError::Newer { found: version, known: STEPS.len() });
    }
    Ok(())
}

/// Brings a database to the schema that this version knows, whole or not at all.
pub(crate) fn migrate(database: &mut Connection) -> Result<(), StoreError> {
    if version(database)? == STEPS.len() {
        return Ok(());
    }
    let transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another server may have been faster, and may be a newer one.
    check(&transaction)?;
    for step in &STEPS[version(&transaction)?..] {
        transaction.execute_batch(step)?;
    }
    transaction.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};",
        STEPS.len()
    ))?;
    Ok(transaction.commit()?)
}

fn version(database: &Connection) -> Result<usize, StoreError> {
    let version: i64 = pragma(database, "user_version")?;
    // A negative one is nobody's, and certainly not known here.
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

fn pragma<T: rusqlite::types::FromSql>(database: &Connection, name: &str) -> rusqlite::Result<T> {
    database.pragma_query_value(None, name, |row| row.get(0))
}
