//! Opening the database file.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt,
};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::migrations;

/// How long a connection waits for another one, of ours or of another server.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// SQLite does not wait in every case where another one makes the database at the same time.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// SQLite's number for a file from which free pages are cut off when we say so.
const INCREMENTAL: i64 = 2;

/// A file without that, of at most so many pages (64 MiB), is written anew.
const MOST_PAGES_TO_REWRITE: i64 = 16 * 1024;

/// So many free pages (4 MiB) stay in the file, because they will soon be needed again, and so many are
/// cut off at once.
const SPARE_PAGES: i64 = 1024;
const PAGES_AT_ONCE: i64 = 512;

/// How the log is folded into the file if somebody reads at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fold {
    /// He is waited for.
    Waiting,
    /// Not this time.
    AtOnce,
}

const OTHERS: u32 = 0o077;

/// The file that was opened. SQLite goes on writing to it when nobody can find it any more.
#[derive(Debug)]
pub(crate) struct DatabaseFile {
    path: PathBuf,
    /// Device and number; `None` if it could not be seen.
    opened: Option<(u64, u64)>,
}

/// Opens the database for writing, and makes it if need be. What is there and is not ours, or not
/// understood, stays as it is.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    make_private(path)?;
    let begun = Instant::now();
    loop {
        match try_open(path) {
            Err(error) if error.is_busy() && begun.elapsed() < BUSY_TIMEOUT => {
                thread::sleep(BUSY_PAUSE);
            }
            outcome => return outcome,
        }
    }
}

/// Opens it for reading alone.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let reader = Connection::open_with_flags(path, flags)?;
    reader.busy_timeout(BUSY_TIMEOUT)?;
    reader.pragma_update(None, "temp_store", "memory")?;
    Ok(reader)
}

/// Folds the log into the file, and says whether that was possible.
pub(crate) fn fold_log(database: &Connection, fold: Fold) -> rusqlite::Result<bool> {
    if fold == Fold::AtOnce {
        database.busy_timeout(Duration::ZERO)?;
    }
    let is_hindered =
        database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get::<_, bool>(0));
    database.busy_timeout(BUSY_TIMEOUT)?;
    Ok(!is_hindered?)
}

/// Cuts some free pages off the file; breaks when there is no more to gain.
pub(crate) fn shrink_some(database: &Connection) -> rusqlite::Result<ControlFlow<()>> {
    let free: i64 = database.pragma_query_value(None, "freelist_count", |row| row.get(0))?;
    let surplus = free - SPARE_PAGES;
    if surplus <= 0 || auto_vacuum(database)? != INCREMENTAL {
        return Ok(ControlFlow::Break(()));
    }
    // A page goes with each row that is asked for.
    let pages = surplus.min(PAGES_AT_ONCE);
    let mut cut = database.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    let mut rows = cut.query(())?;
    while rows.next()?.is_some() {}
    Ok(if pages == surplus { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
}

fn try_open(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(BUSY_TIMEOUT)?;
    // In one look: another server may make it meanwhile.
    let snapshot = database.transaction()?;
    migrations::check(&snapshot)?;
    drop(snapshot);
    // What SQLite notes in order to undo a part of a transaction is copies of pages: not for any disk.
    database.pragma_update(None, "temp_store", "memory")?;
    // What is deleted is overwritten: who deletes a response wants nobody to read it in the file.
    database.pragma_update(None, "secure_delete", "on")?;
    make_shrinkable(&database)?;
    // Readers and a writer at the same time. Written is what the system has: that survives our own
    // death. The disk is waited for only when the log is folded into the file, so that after a power
    // cut the last moments may be missing, and everything before them is whole.
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", "normal")?;
    migrations::migrate(&mut database)?;
    Ok(database)
}

/// Has the file shrink when much was deleted. That is decided before a database has its first page. One
/// that was made without it is written anew if that takes but a moment, and if nobody else is in the
/// way; otherwise it only grows, and its free pages are used again.
fn make_shrinkable(database: &Connection) -> rusqlite::Result<()> {
    if auto_vacuum(database)? == INCREMENTAL {
        return Ok(());
    }
    let pages: i64 = database.pragma_query_value(None, "page_count", |row| row.get(0))?;
    database.pragma_update(None, "auto_vacuum", INCREMENTAL)?;
    if (1..=MOST_PAGES_TO_REWRITE).contains(&pages)
        && let Err(error) = database.execute_batch("VACUUM")
    {
        tracing::debug!(%error, "the database does not shrink");
    }
    Ok(())
}

fn auto_vacuum(database: &Connection) -> rusqlite::Result<i64> {
    database.pragma_query_value(None, "auto_vacuum", |row| row.get(0))
}

/// SQLite gives its other files the mode of this one.
fn make_private(path: &Path) -> Result<(), StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let owner = std::fs::metadata(folder)?.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(StoreError::NotOurs);
    }
    close_to_others(folder, 0o700)?;
    File::options().create(true).append(true).mode(0o600).open(path)?;
    Ok(close_to_others(path, 0o600)?)
}

fn close_to_others(path: &Path, mode: u32) -> io::Result<()> {
    if std::fs::metadata(path)?.mode() & OTHERS == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode))
}

// === impl DatabaseFile ===

impl DatabaseFile {
    pub(crate) fn of(database: &Connection) -> Self {
        let path = PathBuf::from(database.path().unwrap_or_default());
        Self { opened: identity(&path), path }
    }

    /// Whether it is not at its place any more.
    pub(crate) fn is_gone(&self) -> bool {
        self.opened.is_some() && identity(&self.path) != self.opened
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}
