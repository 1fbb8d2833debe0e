//! A home for one sign-in, inside the home of the login that it may replace.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::home::HomeError;

/// How the name of each such folder begins.
const PREFIX: &str = "sign-in-";

/// A folder of its own for each sign-in: servers may share a home. It is removed when this is
/// dropped.
#[derive(Debug)]
pub(crate) struct LoginHome {
    path: PathBuf,
    /// The folder itself, locked while its owner lives: what is not locked was left by a crash.
    _lock: File,
}

// === impl LoginHome ===

impl LoginHome {
    pub(crate) fn make_in(home: &Path) -> Result<Self, HomeError> {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = home.join(format!("{PREFIX}{}-{number}", std::process::id()));
        Self::make(&path).map_err(|source| HomeError::Write { path, source })
    }

    fn make(path: &Path) -> io::Result<Self> {
        // Only a leftover of an earlier process with this id can be there.
        remove_unless_locked(path)?;
        DirBuilder::new().mode(0o700).create(path)?;
        let lock = File::open(path)?;
        lock.try_lock()?;
        Ok(Self { path: path.to_owned(), _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what crashed servers have left in `home`: it holds tokens. Gives how many there were.
    pub(crate) fn remove_leftovers(home: &Path) -> io::Result<usize> {
        let mut removed = 0;
        for entry in std::fs::read_dir(home)? {
            let entry = entry?;
            let is_one = entry.file_name().to_string_lossy().starts_with(PREFIX);
            if is_one && entry.file_type()?.is_dir() && remove_unless_locked(&entry.path())? {
                removed += 1;
            }
        }
        Ok(removed)
    }
}

impl Drop for LoginHome {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            let path = self.path.display();
            tracing::warn!(%path, %error, "cannot remove the home of a sign-in; it holds tokens");
        }
    }
}

/// Whether there was something to remove.
fn remove_unless_locked(path: &Path) -> io::Result<bool> {
    let folder = match File::open(path) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    match folder.try_lock() {
        Ok(()) => std::fs::remove_dir_all(path).map(|()| true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn row_21_the_home_of_a_sign_in_is_private_and_gone_at_its_end() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (LoginHome::make_in(home.path()), LoginHome::make_in(home.path()));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert_ne!(one.path(), other.path());
        let mode = std::fs::metadata(one.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        std::fs::write(one.path().join("auth.json"), "tokens").unwrap();
        drop(one);
        drop(other);
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn row_21_leftovers_are_removed_and_a_sign_in_under_way_is_not() {
        let home = tempfile::tempdir().unwrap();
        let under_way = LoginHome::make_in(home.path()).unwrap();
        let left = home.path().join("sign-in-1-0");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("auth.json"), "tokens").unwrap();
        let login = home.path().join("auth.json");
        std::fs::write(&login, "tokens").unwrap();
        assert_eq!(LoginHome::remove_leftovers(home.path()).unwrap(), 1);
        assert!(!left.exists() && login.exists() && under_way.path().exists());
    }
}
