//! Looking at what a test has left on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files under `folder`, at any depth, that hold `secret`.
///
/// # Panics
/// If one of them cannot be read.
#[allow(clippy::expect_used, reason = "an unread file could hold it")]
pub fn files_with(secret: &str, folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let entry = entry.expect("a readable folder");
        let kind = entry.file_type().expect("a kind of file");
        if kind.is_dir() {
            found.extend(files_with(secret, &entry.path()));
        } else if kind.is_file() {
            let content = std::fs::read(entry.path()).expect("a readable file");
            let mut windows = content.windows(secret.len());
            if windows.any(|window| window == secret.as_bytes()) {
                found.insert(entry.path());
            }
        }
    }
    found
}

/// Every file under `folder`, at any depth, with its size.
///
/// # Panics
/// If a folder cannot be read.
#[allow(clippy::expect_used, reason = "an unread folder could hold anything")]
pub fn file_sizes(folder: &Path) -> BTreeMap<PathBuf, u64> {
    let mut sizes = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        // A file that has gone meanwhile takes no room.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_dir() {
            sizes.extend(file_sizes(&path));
        } else {
            sizes.insert(path, metadata.len());
        }
    }
    sizes
}
