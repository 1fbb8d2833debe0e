//! Texts that are said slowly, many at once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use crate::play::words;
use crate::server::Server;

/// Between two deltas of a text.
const PAUSE: Duration = Duration::from_millis(20);

/// Lines that are written one after the other, with pauses in between.
pub(crate) struct PacedLines {
    /// Before the first one.
    pub(crate) delay: Duration,
    pub(crate) pause: Duration,
    pub(crate) lines: VecDeque<Vec<u8>>,
    /// Set when nobody wants the rest.
    pub(crate) unwanted: Arc<AtomicBool>,
}

/// A thread that writes every line in its time, and goes with the process. One is enough for all: a
/// thousand that sleep would wake each other up.
pub(crate) struct Pacer(Sender<PacedLines>);

/// The next of some lines; the earliest is the smallest.
struct Due {
    at: Instant,
    lines: PacedLines,
}

// === impl Pacer ===

impl Pacer {
    pub(crate) fn start() -> Self {
        let (sender, new) = mpsc::channel();
        thread::spawn(move || write_in_time(&new));
        Self(sender)
    }

    pub(crate) fn write(&self, lines: PacedLines) {
        // Without the thread the output is closed, which the main thread notices too.
        let _ = self.0.send(lines);
    }
}

/// Writes lines until the output is closed.
#[expect(clippy::disallowed_methods, reason = "its reader is a program")]
fn write_in_time(new: &Receiver<PacedLines>) {
    let mut due = BinaryHeap::<Reverse<Due>>::new();
    loop {
        let wait =
            due.peek().map(|Reverse(next)| next.at.saturating_duration_since(Instant::now()));
        let taken = match wait {
            None => new.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(wait) => new.recv_timeout(wait),
        };
        match taken {
            Ok(lines) => due.push(Reverse(Due { at: Instant::now() + lines.delay, lines })),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let Some(Reverse(Due { at, mut lines })) = due.pop() else { continue };
                let line = lines.lines.pop_front();
                let Some(line) = line.filter(|_| !lines.unwanted.load(Ordering::Relaxed)) else {
                    continue;
                };
                let mut output = io::stdout();
                if output.write_all(&line).and_then(|()| output.flush()).is_err() {
                    return;
                }
                due.push(Reverse(Due { at: at + lines.pause, lines }));
            }
        }
    }
}

// === impl Due ===

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

// === impl Server ===

impl Server {
    /// The first delta comes at once: who wants many texts that take turns begins them in turn.
    pub(crate) fn play_paced(&mut self, thread: &str, turn: &str, deltas: usize) {
        let mut text = self.begin_text(thread, turn);
        let from = self.out.len();
        let mut lines = VecDeque::new();
        for word in words(deltas) {
            self.say(&mut text, &word);
            lines.push_back(self.out.split_off(from));
        }
        self.finish_text(&text);
        lines.push_back(self.out.split_off(from));
        self.write_paced(thread, Duration::ZERO, PAUSE, lines);
    }

    /// Writes these lines slowly, once those before them are written.
    pub(crate) fn write_paced(
        &mut self,
        thread: &str,
        delay: Duration,
        pause: Duration,
        lines: VecDeque<Vec<u8>>,
    ) {
        let unwanted = Arc::<AtomicBool>::default();
        self.unwanted.insert(thread.to_owned(), Arc::clone(&unwanted));
        self.paced.push(PacedLines { delay, pause, lines, unwanted });
    }

    /// What a thread still has to say is not said.
    pub(crate) fn fall_silent(&mut self, thread: &str) {
        if let Some(unwanted) = self.unwanted.remove(thread) {
            unwanted.store(true, Ordering::Relaxed);
        }
    }
}
