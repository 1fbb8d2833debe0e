//! A terminal that is drawn anew, and is as it was afterwards.

use std::io;

use crate::console;

/// Another screen than the one with the shell's lines, and no cursor.
const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l";
const CLOSE: &str = "\u{1b}[?25h\u{1b}[?1049l";

/// Lines do not wrap while they are drawn: the columns of wide characters are not counted.
const HOME: &str = "\u{1b}[?7l\u{1b}[H";
const REST_OF_LINE: &str = "\u{1b}[K";
const NEXT_LINE: &str = "\r\n";
const REST_OF_SCREEN: &str = "\u{1b}[J\u{1b}[?7h";

/// Where nothing is known of the terminal.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// The screen, until it is dropped.
pub(super) struct Screen {
    /// What stands there.
    shown: Vec<String>,
}

// === impl Screen ===

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        let screen = Self { shown: Vec::new() };
        write_now(OPEN)?;
        Ok(screen)
    }

    /// Draws lines that fit a width and a height. Nothing is erased before it is drawn anew, so that nothing
    /// flickers.
    pub(super) fn draw(
        &mut self,
        lines: impl FnOnce(usize, usize) -> Vec<String>,
    ) -> io::Result<()> {
        let (width, height) = console::size().unwrap_or(USUAL_SIZE);
        let mut lines = lines(width, height);
        lines.truncate(height);
        if lines == self.shown {
            return Ok(());
        }
        let out = console::stdout();
        out.control(HOME)?;
        for (number, line) in lines.iter().enumerate() {
            out.control(if number == 0 { "" } else { NEXT_LINE })?;
            write!(out, "{line}")?;
            out.control(REST_OF_LINE)?;
        }
        out.control(REST_OF_SCREEN)?;
        self.shown = lines;
        out.flush()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = write_now(CLOSE);
    }
}

fn write_now(sequence: &'static str) -> io::Result<()> {
    console::stdout().control(sequence)?;
    console::stdout().flush()
}
