//! What a turn leaves on disk.

use std::collections::{BTreeMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memchr::memmem;

/// Files are searched in pieces of this size.
const PIECE: usize = 1 << 20;

/// The files of a folder before a turn.
pub(super) struct Files {
    folder: PathBuf,
    stamps: BTreeMap<PathBuf, Stamp>,
}

/// Differs if a file was written in between.
type Stamp = (Option<SystemTime>, u64);

// === impl Files ===

impl Files {
    pub(super) fn of(folder: PathBuf) -> io::Result<Self> {
        let mut stamps = BTreeMap::new();
        collect(&folder, &mut HashSet::new(), &mut stamps)?;
        Ok(Self { folder, stamps })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A file that was written since and has one of these texts, as it is called in the folder.
    pub(super) fn written_with(&self, texts: &[&str]) -> io::Result<Option<String>> {
        let now = Self::of(self.folder.clone())?;
        let is_new = |(path, stamp): &(&PathBuf, &Stamp)| self.stamps.get(*path) != Some(*stamp);
        for (path, _) in now.stamps.iter().filter(is_new) {
            if unless_gone(has_one_of(path, texts))? == Some(true) {
                let name = path.strip_prefix(&self.folder).unwrap_or(path);
                return Ok(Some(name.display().to_string()));
            }
        }
        Ok(None)
    }
}

/// Links are followed. They may form a circle, so that each folder is looked into once.
fn collect(
    folder: &Path,
    seen: &mut HashSet<PathBuf>,
    stamps: &mut BTreeMap<PathBuf, Stamp>,
) -> io::Result<()> {
    let Some(real) = unless_gone(fs::canonicalize(folder))? else { return Ok(()) };
    if !seen.insert(real) {
        return Ok(());
    }
    let Some(entries) = unless_gone(fs::read_dir(folder))? else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        let Some(metadata) = unless_gone(fs::metadata(&path))? else { continue };
        if metadata.is_file() {
            stamps.insert(path, (metadata.modified().ok(), metadata.len()));
        } else if metadata.is_dir() {
            collect(&path, seen, stamps)?;
        }
    }
    Ok(())
}

fn has_one_of(path: &Path, texts: &[&str]) -> io::Result<bool> {
    // A text may lie across two pieces.
    let overlap = texts.iter().map(|text| text.len()).max().unwrap_or(0);
    let mut file = File::open(path)?;
    let mut buffer = vec![0; overlap + PIECE];
    let mut kept = 0;
    loop {
        let end = kept + file.read(&mut buffer[kept..])?;
        if end == kept {
            return Ok(false);
        }
        let found = |text: &&str| memmem::find(&buffer[..end], text.as_bytes()).is_some();
        if texts.iter().any(found) {
            return Ok(true);
        }
        kept = overlap.min(end);
        buffer.copy_within(end - kept..end, 0);
    }
}

/// What is removed while we look is not on disk.
fn unless_gone<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn row_24_a_text_is_found_in_whatever_file_was_written() {
        let (home, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let [old, large] = ["a/old", "a/large"].map(|name| home.path().join(name));
        fs::create_dir(home.path().join("a")).unwrap();
        fs::write(&old, "mark-1").unwrap();
        fs::write(&large, vec![b'x'; PIECE - 3]).unwrap();
        symlink(elsewhere.path(), home.path().join("link")).unwrap();
        symlink(home.path(), home.path().join("circle")).unwrap();
        let found = |files: &Files| files.written_with(&["call-1", "mark-1"]).unwrap();

        let before = Files::of(home.path().to_owned()).unwrap();
        assert_eq!(found(&before), None);
        fs::write(home.path().join("a/new"), "mark-2").unwrap();
        assert_eq!(found(&before), None);
        let text = fs::read_to_string(&large).unwrap() + "mark-1";
        fs::write(&large, text).unwrap();
        assert!(found(&before).unwrap().ends_with("a/large"));

        let before = Files::of(home.path().to_owned()).unwrap();
        fs::write(elsewhere.path().join("rollout.jsonl"), "{\"id\": \"call-1\"}").unwrap();
        assert!(found(&before).unwrap().ends_with("link/rollout.jsonl"));
    }
}
