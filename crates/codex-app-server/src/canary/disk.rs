//! Whether something of a turn is on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{BrokenPromise, Promise};
use crate::log_database;

/// No file that Codex writes during one turn is nearly as large.
const LARGEST_FILE: u64 = 64 * 1024 * 1024;

/// The clock of a file system may be behind.
const CLOCK_MARGIN: Duration = Duration::from_secs(60);

/// Looks into every log database in `home`, and for `trace` in every file that was written since.
pub(super) fn check(home: &Path, trace: &str, since: SystemTime) -> Result<(), BrokenPromise> {
    let broken = |reason: String| BrokenPromise::new(Promise::Disk, reason);
    log_database::check_muted(home).map_err(broken)?;
    match file_with(home, trace.as_bytes(), since - CLOCK_MARGIN) {
        Ok(None) => Ok(()),
        Ok(Some(file)) => {
            let name = file.strip_prefix(home).unwrap_or(&file).display();
            Err(broken(format!("it writes prompts to its file {name}")))
        }
        Err(error) => Err(broken(format!("its home cannot be searched: {error}"))),
    }
}

fn file_with(folder: &Path, trace: &[u8], since: SystemTime) -> io::Result<Option<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        // What is removed while we look is not on disk.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(metadata) = entry.metadata() else { continue };
        let path = entry.path();
        let found = if metadata.is_dir() {
            file_with(&path, trace, since)?
        } else {
            let is_new = metadata.is_file()
                && metadata.len() <= LARGEST_FILE
                && metadata.modified().is_ok_and(|at| at >= since);
            let has_trace = is_new && fs::read(&path).is_ok_and(|bytes| contains(&bytes, trace));
            has_trace.then_some(path)
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn contains(bytes: &[u8], trace: &[u8]) -> bool {
    memchr::memmem::find(bytes, trace).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_24_a_prompt_is_found_in_whatever_file_of_the_home_it_is() {
        let home = tempfile::tempdir().unwrap();
        let since = SystemTime::UNIX_EPOCH;
        fs::create_dir_all(home.path().join("a/b")).unwrap();
        fs::write(home.path().join("a/other"), "canary-2").unwrap();
        assert_eq!(file_with(home.path(), b"canary-1", since).unwrap(), None);
        let file = home.path().join("a/b/rollout.jsonl");
        fs::write(&file, "{\"text\": \"canary-1\"}").unwrap();
        assert_eq!(file_with(home.path(), b"canary-1", since).unwrap(), Some(file));
    }
}
