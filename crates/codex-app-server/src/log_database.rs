//! Keeping Codex's log database from growing.
//!
//! Codex writes trace logs, with tool arguments in them, into an SQLite file: 30 to 75 kB a turn,
//! whatever its log level. Nothing reads them here. A trigger that ignores every insert keeps the
//! file at its first size; Codex notices nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

/// How long another writer of a database is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// Mutes every log database in `home`, and returns how many there are.
///
/// The databases exist once the handshake is over. Run it off the async threads.
pub(crate) fn mute(home: &Path) -> rusqlite::Result<usize> {
    let databases = log_databases(home);
    for database in &databases {
        mute_one(database)?;
    }
    Ok(databases.len())
}

/// Checks that every log database in `home` is muted, and says why not.
pub(crate) fn check_muted(home: &Path) -> Result<(), String> {
    let databases = log_databases(home);
    if databases.is_empty() {
        return Err("its log database is not where it was, and cannot be muted".to_owned());
    }
    for path in databases {
        let name = path.file_name().unwrap_or_default().display().to_string();
        match is_muted(&path) {
            Ok(true) => {}
            Ok(false) => return Err(format!("its log {name} is not muted, and holds prompts")),
            Err(error) => return Err(format!("its log {name} cannot be read: {error}")),
        }
    }
    Ok(())
}

/// Whether it has no rows, and ignores new ones.
fn is_muted(path: &Path) -> rusqlite::Result<bool> {
    let database = Connection::open(path)?;
    database.busy_timeout(BUSY)?;
    database.query_row(
        "SELECT NOT EXISTS (SELECT 1 FROM logs) AND EXISTS (
             SELECT 1 FROM sqlite_master
             WHERE type = 'trigger' AND tbl_name = 'logs' AND name = 'codex_completions_mute')",
        [],
        |row| row.get(0),
    )
}

fn log_databases(home: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(home) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            name.starts_with("logs_") && name.ends_with(".sqlite")
        })
        .collect()
}

fn mute_one(path: &Path) -> rusqlite::Result<()> {
    let database = Connection::open(path)?;
    database.busy_timeout(BUSY)?;
    database.execute_batch(
        "PRAGMA secure_delete = ON;
         CREATE TRIGGER IF NOT EXISTS codex_completions_mute BEFORE INSERT ON logs
         BEGIN SELECT RAISE(IGNORE); END;
         DELETE FROM logs;",
    )
}
