//! What a test puts on disk, and what it has left there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{Metadata, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Writes a shell script that can be run.
///
/// # Panics
/// If it cannot be written.
#[allow(clippy::expect_used, reason = "a test without its script cannot go on")]
pub fn write_script(path: &Path, lines: &str) {
    std::fs::write(path, format!("#!/bin/sh\n{lines}\n")).expect("a writable folder");
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).expect("a file of our own");
}

/// Writes a program that is Codex, but for its app-server: that is this shell pipeline, in which `CODEX` is the real one.
///
/// # Panics
/// If it cannot be written.
pub fn write_altered_codex(path: &Path, codex: &Path, pipeline: &str) {
    let codex = format!("'{}' \"$@\"", codex.display());
    let pipeline = pipeline.replace("CODEX", &codex);
    write_script(path, &format!("[ \"$1\" = app-server ] || exec {codex}\n{pipeline}"));
}

/// Files under `folder`, at any depth, that hold `secret`.
///
/// # Panics
/// If one of them cannot be read.
#[allow(clippy::expect_used, reason = "an unread file could hold it")]
pub fn files_with(secret: &str, folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for (path, metadata) in entries(folder) {
        if metadata.is_file() {
            let content = std::fs::read(&path).expect("a readable file");
            if memchr::memmem::find(&content, secret.as_bytes()).is_some() {
                found.insert(path);
            }
        }
    }
    found
}

/// Every file under `folder`, at any depth, with its size.
///
/// # Panics
/// If a folder cannot be read.
pub fn file_sizes(folder: &Path) -> BTreeMap<PathBuf, u64> {
    entries(folder).into_iter().map(|(path, metadata)| (path, metadata.len())).collect()
}

/// Everything under `folder`, at any depth, but the folders.
#[allow(clippy::expect_used, reason = "an unread folder could hold anything")]
fn entries(folder: &Path) -> Vec<(PathBuf, Metadata)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("a readable folder").path();
        // A file that has gone meanwhile takes no room, and holds nothing.
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if metadata.is_dir() {
            found.extend(entries(&path));
        } else {
            found.push((path, metadata));
        }
    }
    found
}
