//! A terminal, and what stands on it.

use std::fs::File;
use std::io::Read as _;
use std::process::Command;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// One of 100 columns and 30 lines.
pub(crate) struct Terminal {
    screen: File,
    /// Everything that was ever written to it.
    bytes: Vec<u8>,
    /// The same as text, with plain line ends.
    seen: String,
}

impl Terminal {
    /// Gives a terminal to a command: as its input and both its outputs.
    pub(crate) fn of(command: &mut Command) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let size = Winsize { ws_row: 30, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&screen, size).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let end = || {
            let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
            rustix::fs::open(&name, flags, Mode::empty()).unwrap()
        };
        command
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .env("TERM", "xterm")
            .env_remove("NO_COLOR");
        Self { screen: File::from(screen), bytes: Vec::new(), seen: String::new() }
    }

    /// Reads until this stands there, and gives everything so far.
    pub(crate) fn until(&mut self, wanted: &str) -> &str {
        while !self.seen.contains(wanted) {
            assert!(self.read_more(), "{wanted:?} never came: {}", self.seen);
        }
        &self.seen
    }

    /// Everything, once nobody has the terminal any more. The command that has it must be gone.
    pub(crate) fn read_to_end(mut self) -> String {
        while self.read_more() {}
        self.seen
    }

    fn read_more(&mut self) -> bool {
        let mut bytes = [0; 4096];
        // A terminal that nobody has is an error, and not an end.
        let Ok(length @ 1..) = self.screen.read(&mut bytes) else { return false };
        // Whole, because a read may end within a character.
        self.bytes.extend_from_slice(&bytes[..length]);
        self.seen = String::from_utf8_lossy(&self.bytes).replace("\r\n", "\n");
        true
    }
}
