//! A terminal that is drawn anew, and is as it was afterwards.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use rustix::termios::tcgetwinsize;

/// Another screen than the one with the shell's lines, and no cursor.
const OPEN: &str = "\u{1b}[?1049h\u{1b}[?25l";
const CLOSE: &str = "\u{1b}[?25h\u{1b}[?1049l";

const HOME: &str = "\u{1b}[H";
const REST_OF_LINE: &str = "\u{1b}[K";
const REST_OF_SCREEN: &str = "\u{1b}[J";

/// Where nothing is known of the terminal.
const USUAL_SIZE: (usize, usize) = (80, 24);

/// The screen, until it is dropped.
pub(super) struct Screen {
    /// What stands there.
    shown: String,
}

// === impl Screen ===

impl Screen {
    pub(super) fn open() -> io::Result<Self> {
        let screen = Self { shown: String::new() };
        write_now(OPEN)?;
        Ok(screen)
    }

    /// Draws lines that fit a width and a height. Nothing is erased before it is drawn anew, so that nothing
    /// flickers.
    pub(super) fn draw(
        &mut self,
        lines: impl FnOnce(usize, usize) -> Vec<String>,
    ) -> io::Result<()> {
        let (width, height) = size();
        let mut frame = HOME.to_owned();
        for (number, line) in lines(width, height).iter().take(height).enumerate() {
            let end = if number == 0 { "" } else { "\r\n" };
            let _ = write!(frame, "{end}{line}{REST_OF_LINE}");
        }
        frame += REST_OF_SCREEN;
        if frame == self.shown {
            return Ok(());
        }
        write_now(&frame)?;
        self.shown = frame;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = write_now(CLOSE);
    }
}

fn size() -> (usize, usize) {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => USUAL_SIZE,
    }
}

fn write_now(text: &str) -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(text.as_bytes())?;
    out.flush()
}
