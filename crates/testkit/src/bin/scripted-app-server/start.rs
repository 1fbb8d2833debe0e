//! Faults at a start, chosen by the environment.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A start that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartFault {
    /// Exits without a word.
    Exit,
    /// Says why on standard error, and exits.
    Complain,
    /// Never answers `initialize`, and ignores SIGTERM.
    Mute,
    /// The same, but talks all the time.
    Babble,
    /// Answers four times `thread/start`, and never reads again.
    Deaf,
}

/// The fault of this start: `SCRIPTED_FAULTS` names one for each start, with commas in between;
/// `none` and all later ones go well. `SCRIPTED_STATE` is the folder in which starts are counted, each
/// with its process id and its time in milliseconds.
pub(crate) fn fault_of_this_start() -> io::Result<Option<StartFault>> {
    let (Ok(faults), Some(state)) =
        (std::env::var("SCRIPTED_FAULTS"), std::env::var_os("SCRIPTED_STATE"))
    else {
        return Ok(None);
    };
    let starts_before = count_start(Path::new(&state))?;
    match faults.split(',').nth(starts_before) {
        None | Some("none") => Ok(None),
        Some(name) => StartFault::named(name).map(Some),
    }
}

/// Adds this start to the list, and says how many there were before.
fn count_start(state: &Path) -> io::Result<usize> {
    let list = state.join("starts");
    let before = fs::read_to_string(&list).unwrap_or_default().lines().count();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(io::Error::other)?;
    let line = format!("{} {}\n", std::process::id(), now.as_millis());
    File::options().create(true).append(true).open(&list)?.write_all(line.as_bytes())?;
    Ok(before)
}

// === impl StartFault ===

impl StartFault {
    fn named(name: &str) -> io::Result<Self> {
        match name {
            "exit" => Ok(Self::Exit),
            "complain" => Ok(Self::Complain),
            "mute" => Ok(Self::Mute),
            "babble" => Ok(Self::Babble),
            "deaf" => Ok(Self::Deaf),
            _ => Err(io::Error::other(format!("no fault is named {name:?}"))),
        }
    }
}
