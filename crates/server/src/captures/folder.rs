//! The folder of records: files that nobody else can read, and no more of them than wanted.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// A record.
const WHOLE: &str = ".jsonl";

/// One that is being written.
const PART: &str = ".jsonl.part";

const WRITABLE_BY_ALL: u32 = 0o002;

const ROOT: u32 = 0;

/// A folder, and the records in it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Bytes by name; the first is the oldest.
    records: BTreeMap<String, u64>,
    bytes: u64,
}

// === impl Folder ===

impl Folder {
    /// Makes the folder if it is not there, and looks what is in it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        check(path)?;
        let mut records = BTreeMap::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            if !is_ours(&name) {
                continue;
            }
            if name.ends_with(PART) {
                // Nobody but us writes here, so whoever wrote it is gone.
                fs::remove_file(entry.path())?;
            } else {
                records.insert(name, entry.metadata()?.len());
            }
        }
        let bytes = records.values().sum();
        Ok(Self { path: path.to_owned(), records, bytes })
    }

    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.path == path
    }

    /// Adds a record; the oldest ones go where there would be too much.
    pub(super) fn add(&mut self, name: &str, text: &[u8], most: u64) -> io::Result<()> {
        check(&self.path)?;
        let bytes = text.len() as u64;
        if bytes > most {
            let words = format!("it has {bytes} bytes, more than PROXY_CAPTURE_MAX_BYTES");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
        }
        while self.bytes + bytes > most
            && let Some((oldest, freed)) = self.records.pop_first()
        {
            self.bytes -= freed;
            match fs::remove_file(self.path.join(oldest)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                // Somebody has taken it away.
                Err(_) | Ok(()) => {}
            }
        }
        let part = self.path.join(format!("{name}{PART}"));
        let name = format!("{name}{WHOLE}");
        let written =
            write_new(&part, text).and_then(|()| fs::rename(&part, self.path.join(&name)));
        if written.is_err() {
            // There may be none.
            let _ = fs::remove_file(&part);
        }
        written?;
        self.records.insert(name, bytes);
        self.bytes += bytes;
        Ok(())
    }
}

/// Whether it is still a folder that nobody but us and root can change. That is looked at when settings
/// are loaded, and may have changed since.
fn check(path: &Path) -> io::Result<()> {
    let metadata = fs::metadata(path)?;
    let us = rustix::process::geteuid().as_raw();
    let words = if !metadata.is_dir() {
        "it is not a folder"
    } else if ![us, ROOT].contains(&metadata.uid()) {
        "it belongs to another user"
    } else if metadata.mode() & WRITABLE_BY_ALL != 0 {
        "every user can write to it"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
}

fn write_new(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text)
}

/// Whether a file has a name that we give: `20250131T235959.123456Z-req_1.jsonl`.
fn is_ours(name: &str) -> bool {
    let (time, rest) = name.split_once('-').unwrap_or_default();
    let pattern = |(at, byte): (usize, u8)| match at {
        8 => byte == b'T',
        15 => byte == b'.',
        22 => byte == b'Z',
        _ => byte.is_ascii_digit(),
    };
    time.len() == 23
        && time.bytes().enumerate().all(pattern)
        && (rest.ends_with(WHOLE) || rest.ends_with(PART))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn name(second: u32) -> String {
        format!("20250131T2359{second:02}.123456Z-req_1")
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_oldest_of_ours_make_room_and_nothing_else_does() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b");
        let mut records = Folder::open(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        fs::write(path.join("0.jsonl"), [0; 1_000]).unwrap();
        for second in 0..3 {
            records.add(&name(second), &[0; 40], 100).unwrap();
        }
        let kept = ["0.jsonl".to_owned(), name(1) + WHOLE, name(2) + WHOLE];
        assert_eq!(names(&path), kept);
        assert_eq!(mode(&path.join(&kept[1])), 0o600);

        // The same after a start, which also clears up behind somebody who was killed.
        fs::write(path.join(name(3) + PART), [0; 10]).unwrap();
        fs::remove_file(path.join(&kept[1])).unwrap();
        let mut records = Folder::open(&path).unwrap();
        records.add(&name(4), &[0; 60], 100).unwrap();
        assert_eq!(names(&path), ["0.jsonl".to_owned(), name(2) + WHOLE, name(4) + WHOLE]);
        records.add(&name(5), &[0; 100], 100).unwrap();
        assert_eq!(names(&path), ["0.jsonl".to_owned(), name(5) + WHOLE]);
    }

    #[test]
    fn nothing_is_written_where_everybody_can_write() {
        let folder = tempfile::tempdir().unwrap();
        let mut records = Folder::open(folder.path()).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        for refused in [records.add(&name(0), &[0], 100), Folder::open(folder.path()).map(drop)] {
            assert_eq!(refused.unwrap_err().to_string(), "every user can write to it");
        }
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn a_record_that_cannot_be_kept_leaves_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut records = Folder::open(folder.path()).unwrap();
        records.add(&name(0), &[0; 40], 100).unwrap();
        let error = records.add(&name(1), &[0; 101], 100).unwrap_err();
        assert!(error.to_string().contains("PROXY_CAPTURE_MAX_BYTES"), "{error}");
        assert_eq!(names(folder.path()), [name(0) + WHOLE]);
    }
}
