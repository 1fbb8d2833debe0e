//! Keeping Codex's log database from growing.
//!
//! Codex writes trace logs, with tool arguments in them, into an SQLite file: 30 to 75 kB a turn,
//! whatever its log level. Nothing reads them here. A trigger that ignores every insert keeps the
//! file at its first size; Codex notices nothing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// How long another writer of a database is waited for.
const BUSY: Duration = Duration::from_secs(5);

/// Mutes every log database in `home`, and returns how many there are.
///
/// The databases exist once the handshake is over. Run it off the async threads.
pub(crate) fn mute(home: &Path) -> Result<usize, String> {
    let databases = log_databases(home);
    // All of them are muted, also if one cannot be.
    let muted: Vec<_> = databases.iter().map(|path| named(path, mute_one(path))).collect();
    muted.into_iter().collect::<Result<(), _>>()?;
    Ok(databases.len())
}

/// Why a log database in `home` is not muted, if one is not.
pub(crate) fn unmuted(home: &Path) -> Result<Option<String>, String> {
    let databases = log_databases(home);
    if databases.is_empty() {
        return Ok(Some("its log database is not where it was, and cannot be muted".to_owned()));
    }
    for path in databases {
        if !named(&path, is_muted(&path))? {
            let name = path.file_name().unwrap_or_default().display();
            return Ok(Some(format!("its log {name} is not muted, and holds what it logs")));
        }
    }
    Ok(None)
}

fn named<T>(path: &Path, result: rusqlite::Result<T>) -> Result<T, String> {
    result.map_err(|error| format!("{}: {error}", path.display()))
}

/// Whether it has no rows, and ignores new ones.
fn is_muted(path: &Path) -> rusqlite::Result<bool> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
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
