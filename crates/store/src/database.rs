//! Opening the database file.

use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{
    DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt,
};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::error::StoreError;
use crate::migrations;

/// How long a connection waits for another one, of ours or of another server.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// SQLite does not wait in every case where another one makes the database at the same time.
const BUSY_PAUSE: Duration = Duration::from_millis(20);

const OTHERS: u32 = 0o077;

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
    Ok(reader)
}

fn try_open(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(BUSY_TIMEOUT)?;
    // In one look: another server may make it meanwhile.
    let snapshot = database.transaction()?;
    migrations::check(&snapshot)?;
    drop(snapshot);
    // Readers and a writer at the same time. Written is what the system has: that survives our own
    // death. The disk is waited for only when the log is folded into the file, so that after a power
    // cut the last moments may be missing, and everything before them is whole.
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", "normal")?;
    migrations::migrate(&mut database)?;
    Ok(database)
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
