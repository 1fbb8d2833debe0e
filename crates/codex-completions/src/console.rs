//! Standard output and standard error, and what a terminal gets of foreign text.
//!
//! A terminal acts on some characters instead of showing them: they write to the clipboard, move the cursor or reverse
//! a line. Text of models, upstreams, servers and files has them as `\u001b`. One character at a time, so that a
//! sequence split over two writes is none, and in the form of JSON, so that JSON remains JSON. Pipes and files get
//! text as it is.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};

use anstream::{AutoStream, ColorChoice};
use anstyle::Style;
use rustix::termios::tcgetwinsize;

/// One of the two streams. It takes text and no bytes, so that no character is ever split.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    stream: Stream,
    is_terminal: bool,
    has_colours: bool,
}

#[derive(Debug, Clone, Copy)]
enum Stream {
    Output,
    Error,
}

#[expect(clippy::disallowed_methods, reason = "the one place")]
pub(crate) fn stdout() -> Console {
    Console::new(Stream::Output, &io::stdout())
}

#[expect(clippy::disallowed_methods, reason = "the one place")]
pub(crate) fn stderr() -> Console {
    Console::new(Stream::Error, &io::stderr())
}

/// Columns and lines of the terminal that is standard output.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub(crate) fn size() -> Option<(usize, usize)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| (size.ws_col.into(), size.ws_row.into()))
}

// === impl Console ===

impl Console {
    fn new(stream: Stream, raw: &impl anstream::stream::RawStream) -> Self {
        // Not where the operator wants none, or the terminal has none.
        let has_colours = AutoStream::choice(raw) != ColorChoice::Never;
        Self { stream, is_terminal: raw.is_terminal(), has_colours }
    }

    pub(crate) fn is_terminal(self) -> bool {
        self.is_terminal
    }

    pub(crate) fn has_colours(self) -> bool {
        self.has_colours
    }

    /// What `write!` calls.
    pub(crate) fn write_fmt(self, text: fmt::Arguments<'_>) -> io::Result<()> {
        self.write_raw(&self.visible(&text.to_string()))
    }

    /// Text with our own style, if there are colours.
    pub(crate) fn write_styled(self, style: Style, text: &str) -> io::Result<()> {
        let text = self.visible(text);
        if self.has_colours {
            self.write_raw(&format!("{style}{text}{style:#}"))
        } else {
            self.write_raw(&text)
        }
    }

    /// A sequence of our own: no foreign text is static.
    pub(crate) fn control(self, sequence: &'static str) -> io::Result<()> {
        self.write_raw(sequence)
    }

    #[expect(clippy::disallowed_methods, reason = "the one place")]
    pub(crate) fn flush(self) -> io::Result<()> {
        match self.stream {
            Stream::Output => io::stdout().flush(),
            Stream::Error => io::stderr().flush(),
        }
    }

    /// Text as this stream gets it.
    pub(crate) fn visible(self, text: &str) -> Cow<'_, str> {
        if self.is_terminal { visible(text) } else { Cow::Borrowed(text) }
    }

    #[expect(clippy::disallowed_methods, reason = "the one place")]
    fn write_raw(self, text: &str) -> io::Result<()> {
        match self.stream {
            Stream::Output => io::stdout().write_all(text.as_bytes()),
            Stream::Error => io::stderr().write_all(text.as_bytes()),
        }
    }
}

/// Text for a terminal: line ends and tabs stay.
fn visible(text: &str) -> Cow<'_, str> {
    let is_escaped = |character| is_obeyed(character) && !matches!(character, '\n' | '\t');
    escaped(text, is_escaped)
}

/// The same for what has to stay in its line.
pub(crate) fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_obeyed)
}

/// Whether a terminal acts on it: controls, line ends, and what changes the direction of text. Tags and variation
/// selectors are invisible letters, which hide text from a reader.
pub(crate) fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}')
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{206f}')
        || matches!(character, '\u{e0000}'..='\u{e0fff}')
}

fn escaped(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // A string takes everything.
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests;
