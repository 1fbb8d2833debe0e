//! Texts that are said slowly, many at once and no two deltas at the same time.

use std::io::{self, Write as _};
use std::thread;
use std::time::{Duration, Instant};

use crate::play::words;
use crate::server::Server;

/// Between two deltas of a text.
const PAUSE: Duration = Duration::from_millis(16);

/// Texts that take turns within a pause.
const STREAMS: u32 = 64;

/// Lines that are written one after the other, with pauses in between.
pub(crate) struct PacedLines {
    /// Before the first one.
    delay: Duration,
    lines: Vec<Vec<u8>>,
}

// === impl PacedLines ===

impl PacedLines {
    /// Starts a thread that writes them; it goes with the process.
    pub(crate) fn write_in_time(self) {
        let first = Instant::now() + self.delay;
        thread::spawn(move || {
            let times = (0..).map(|number| first + PAUSE * number);
            for (line, at) in self.lines.iter().zip(times) {
                thread::sleep(at.saturating_duration_since(Instant::now()));
                let mut output = io::stdout();
                if output.write_all(line).and_then(|()| output.flush()).is_err() {
                    // The client has gone, which the main thread notices too.
                    return;
                }
            }
        });
    }
}

// === impl Server ===

impl Server {
    pub(crate) fn play_paced(&mut self, thread: &str, turn: &str, deltas: usize) {
        let mut text = self.begin_text(thread, turn);
        let from = self.out.len();
        let mut lines = Vec::new();
        for word in words(deltas) {
            self.say(&mut text, &word);
            lines.push(self.out.split_off(from));
        }
        self.finish_text(&text);
        lines.push(self.out.split_off(from));
        let place = self.paced_turns % STREAMS;
        self.paced_turns += 1;
        self.paced.push(PacedLines { delay: PAUSE * place / STREAMS, lines });
    }
}
