//! Files that decide what we do, and therefore must not be somebody else's.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use rustix::fs::OFlags;

/// Far more than any settings need.
const MOST_BYTES: u64 = 1024 * 1024;

const WRITABLE_BY_ALL: u32 = 0o002;

const ROOT: u32 = 0;

/// Reads a file that nobody but us and root can have written.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let (file, metadata) = open(path)?;
    check(&metadata)?;
    read_all(file)
}

/// Reads a file of anybody's.
pub(crate) fn read_of_anybody(path: &Path) -> io::Result<Vec<u8>> {
    let (file, _) = open(path)?;
    read_all(file)
}

/// Whether nobody but us and root can have put files into a folder. One that is not there is fine.
pub(crate) fn check_folder(path: &Path) -> io::Result<()> {
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_dir() => {
            Err(io::Error::new(io::ErrorKind::NotADirectory, "it is not a folder"))
        }
        Ok(metadata) => check(&metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// A pipe or a device could keep us waiting, or never end.
fn open(path: &Path) -> io::Result<(File, Metadata)> {
    // A pipe is opened without waiting for whoever writes it.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata))
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
    }
}

fn read_all(file: File) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut content)?;
    if content.len() as u64 > MOST_BYTES {
        let words = format!("it is larger than {MOST_BYTES} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, words));
    }
    Ok(content)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    let us = rustix::process::geteuid().as_raw();
    let words = if ![us, ROOT].contains(&metadata.uid()) {
        "it belongs to another user"
    } else if metadata.mode() & WRITABLE_BY_ALL != 0 {
        "every user can write to it"
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, words))
}

#[cfg(test)]
mod tests;
