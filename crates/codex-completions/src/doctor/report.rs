//! What the checks have found; each is told at once.

use std::io;

use anstyle::{AnsiColor, Style};

use crate::console;

const GOOD: Style = AnsiColor::Green.on_default();
const NOTE: Style = AnsiColor::Yellow.on_default();
const BAD: Style = AnsiColor::Red.on_default().bold();

/// The checks so far.
#[derive(Default)]
pub(super) struct Report {
    failures: usize,
}

// === impl Report ===

impl Report {
    /// Something is as it should be.
    #[expect(clippy::unused_self, reason = "like the others")]
    pub(super) fn good(&self, words: &str) -> io::Result<()> {
        write(GOOD, "ok", &format!("    {words}"))
    }

    /// Something may be as it is meant to be.
    #[expect(clippy::unused_self, reason = "like the others")]
    pub(super) fn note(&self, words: &str, fix: Option<&str>) -> io::Result<()> {
        write(NOTE, "note", &format!("  {words}"))?;
        fix.map_or(Ok(()), tell_fix)
    }

    /// Something keeps turns from being served.
    pub(super) fn bad(&mut self, words: &str, fix: &str) -> io::Result<()> {
        self.failures += 1;
        write(BAD, "FAIL", &format!("  {words}"))?;
        tell_fix(fix)
    }

    pub(super) fn is_good(&self) -> bool {
        self.failures == 0
    }
}

fn write(style: Style, mark: &str, words: &str) -> io::Result<()> {
    console::stdout().write_styled(style, mark)?;
    writeln!(console::stdout(), "{words}")
}

fn tell_fix(fix: &str) -> io::Result<()> {
    writeln!(console::stdout(), "      fix: {fix}")
}
