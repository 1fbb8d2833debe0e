//! Files that nobody else can read, in a folder that nobody else can enter.

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;

use tempfile::NamedTempFile;

use super::KeyError;
use crate::problem::Warning;
use crate::trusted;

/// A folder that is shared, as the one for temporary files is.
const STICKY: u32 = 0o1000;

const OTHERS: u32 = 0o077;

/// What became of a file that was to be new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    New,
    /// There is one already, which is as it was.
    Exists,
}

pub(super) fn make_folder(path: &Path, warnings: &mut Vec<Warning>) -> Result<(), KeyError> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(KeyError::at(path))?;
    close_folder(path, warnings)
}

/// The text of a file, if it is there. It is closed to others, and so is its folder.
///
/// A file of somebody else is not taken: what we can read of theirs is open, and they alone can close
/// it.
pub(super) fn read(path: &Path, warnings: &mut Vec<Warning>) -> Result<Option<Vec<u8>>, KeyError> {
    let content = match trusted::read(path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(KeyError::at(path)(error)),
    };
    close_folder(folder_of(path), warnings)?;
    tighten(path, 0o600, warnings).map_err(KeyError::at(path))?;
    Ok(Some(content))
}

/// Whole or not at all.
pub(super) fn write_new(path: &Path, text: &str) -> Result<Written, KeyError> {
    match prepared(path, text)?.persist_noclobber(path) {
        Ok(_) => sync_folder_of(path).map(|()| Written::New),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(Written::Exists),
        Err(error) => Err(KeyError::at(path)(error.error)),
    }
}

/// The same in the place of what is there.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), KeyError> {
    prepared(path, text)?.persist(path).map_err(|error| KeyError::at(path)(error.error))?;
    sync_folder_of(path)
}

/// Waits until nobody else holds the lock, which ends with the file.
pub(super) fn lock(path: &Path) -> Result<File, KeyError> {
    let mut options = File::options();
    let file = options.create(true).append(true).mode(0o600).open(path);
    let locked = file.and_then(|file| file.lock().map(|()| file));
    locked.map_err(KeyError::at(path))
}

/// Only we may read it, from the beginning.
fn prepared(path: &Path, text: &str) -> Result<NamedTempFile, KeyError> {
    let prepare = || {
        let mut file = NamedTempFile::new_in(folder_of(path))?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file)
    };
    prepare().map_err(KeyError::at(path))
}

/// Without it a key that was revoked could be back after a power cut.
fn sync_folder_of(path: &Path) -> Result<(), KeyError> {
    let folder = File::open(folder_of(path));
    folder.and_then(|folder| folder.sync_all()).map_err(KeyError::at(path))
}

fn close_folder(path: &Path, warnings: &mut Vec<Warning>) -> Result<(), KeyError> {
    if mode_of(path).map_err(KeyError::at(path))? & STICKY != 0 {
        return Err(KeyError::SharedFolder(path.to_owned()));
    }
    tighten(path, 0o700, warnings).map_err(KeyError::at(path))
}

fn tighten(path: &Path, mode: u32, warnings: &mut Vec<Warning>) -> io::Result<()> {
    if mode_of(path)? & OTHERS == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(mode))?;
    warnings.push(Warning::Tightened { path: path.to_owned() });
    Ok(())
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("."))
}

pub(super) fn mode_of(path: &Path) -> io::Result<u32> {
    Ok(std::fs::metadata(path)?.permissions().mode())
}
