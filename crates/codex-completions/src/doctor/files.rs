//! The folder and the files that are ours.

use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use configuration::{ApiKey, Keys, Settings};
use store::Store;

use super::report::Report;
use crate::cli;

const OTHERS: u32 = 0o077;

pub(super) fn check(settings: &Settings, report: &mut Report) -> io::Result<()> {
    check_folder(&settings.data_folder, report)?;
    check_keys(settings, report)?;
    check_database(&settings.database(), report)
}

/// The start of the server makes it, and closes it to others if it can.
fn check_folder(folder: &Path, report: &mut Report) -> io::Result<()> {
    let path = folder.display();
    match std::fs::metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => report
            .note(&format!("data folder {path} is not there yet: the first start makes it"), None),
        Err(error) => report.bad(
            &format!("data folder {path}: {error}"),
            "make it readable, or choose another with PROXY_DATA_DIR",
        ),
        Ok(metadata) if metadata.uid() != rustix::process::geteuid().as_raw() => report.bad(
            &format!("data folder {path} belongs to another user"),
            "choose one of your own with PROXY_DATA_DIR",
        ),
        Ok(metadata) if metadata.permissions().mode() & OTHERS != 0 => report.note(
            &format!("data folder {path} is open to other users"),
            Some(&format!("chmod 700 '{path}'")),
        ),
        Ok(_) => report.good(&format!("data folder {path} is for you alone")),
    }
}

fn check_keys(settings: &Settings, report: &mut Report) -> io::Result<()> {
    if let Err(error) = Keys::list(settings) {
        let fix = format!("remove that file, then `{} key rotate` makes a new key", cli::program());
        return report.bad(&error.to_string(), &fix);
    }
    if settings.access.api_key.is_some() {
        return report.good("the key is the value of PROXY_API_KEY");
    }
    let file = ApiKey::file(settings);
    if file.exists() {
        report.good(&format!("the key is in {}", file.display()))
    } else {
        report.note("there is no key yet: the first start makes it", None)
    }
}

/// One that is not there yet is not made by looking.
fn check_database(file: &Path, report: &mut Report) -> io::Result<()> {
    if !file.exists() {
        return Ok(());
    }
    let path = file.display();
    match Store::open(file) {
        Ok(_) => report.good(&format!("database {path} can be used")),
        Err(error) => report.bad(
            &format!("database {path} cannot be used: {error}"),
            &format!("make room on the disk, or move it away: mv '{path}' '{path}.old'"),
        ),
    }
}
