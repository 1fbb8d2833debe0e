//! Several changes in one transaction.

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::Change;
use super::asked::{Asked, Effect};

/// What has become of changes that were committed together.
pub(super) struct Written {
    /// In the order in which they were asked for; `None` if the caller had given it up.
    pub(super) asked: Vec<Option<rusqlite::Result<Effect>>>,
    /// All of the rows, or none.
    pub(super) rows: rusqlite::Result<()>,
}

/// Writes all of it together, so that many who wait share one commit. A change that cannot be made
/// leaves nothing, and harms no other; an error is that of all of them.
pub(super) fn write(
    database: &mut Connection,
    asked: &[Asked],
    rows: &[Box<dyn Change>],
) -> rusqlite::Result<Written> {
    let mut transaction = database.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Only now, because another one may hold the database for longer than a caller waits.
    let asked = asked
        .iter()
        .map(|asked| asked.claim().map(|change| apart(&mut transaction, change)).transpose())
        .collect::<rusqlite::Result<_>>()?;
    let rows = if rows.is_empty() {
        Ok(())
    } else {
        apart(&mut transaction, |database| rows.iter().try_for_each(|row| row.apply(database)))?
    };
    transaction.commit()?;
    Ok(Written { asked, rows })
}

/// Whether the same could succeed later: a lock, a full disk, one that is not there at the moment.
pub(super) fn may_pass(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
        )
    )
}

/// Makes a change whole or not at all. The outer error is one of the whole transaction, which SQLite
/// may have rolled back already.
fn apart<T>(
    transaction: &mut Transaction<'_>,
    change: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<rusqlite::Result<T>> {
    let savepoint = transaction.savepoint()?;
    match change(&savepoint) {
        Ok(effect) => {
            savepoint.commit()?;
            Ok(Ok(effect))
        }
        Err(error) if may_pass(&error) || savepoint.is_autocommit() => Err(error),
        Err(error) => {
            savepoint.finish()?;
            Ok(Err(error))
        }
    }
}
