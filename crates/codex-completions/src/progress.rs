//! A line that moves while somebody waits at a terminal.

use std::pin::pin;
use std::time::Duration;

use tokio::time::Instant;

use crate::console;

/// What is sooner there needs no line.
const PATIENCE: Duration = Duration::from_millis(500);

const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

const FRAME_TIME: Duration = Duration::from_millis(100);

const ERASE_LINE: &str = "\r\u{1b}[K";

/// A line on standard error, erased when it is dropped.
struct Line;

/// Does some work. If it takes long, somebody at a terminal sees what is waited for.
pub(crate) async fn during<T>(words: &str, work: impl Future<Output = T>) -> T {
    if !is_wanted() {
        return work.await;
    }
    let mut work = pin!(work);
    let mut frames = tokio::time::interval_at(Instant::now() + PATIENCE, FRAME_TIME);
    let mut line = None;
    for frame in FRAMES.iter().cycle() {
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            _ = frames.tick() => line.get_or_insert(Line).show(frame, words),
        }
    }
    work.await
}

/// A dumb terminal cannot go back to the beginning of a line.
fn is_wanted() -> bool {
    console::stderr().is_terminal() && std::env::var_os("TERM").is_some_and(|name| name != "dumb")
}

// === impl Line ===

impl Line {
    #[expect(clippy::unused_self, reason = "only a line that is erased again is shown")]
    fn show(&mut self, frame: &str, words: &str) {
        let _ = console::stderr().control(ERASE_LINE);
        let _ = write!(console::stderr(), "{frame} {words} …");
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let _ = console::stderr().control(ERASE_LINE);
    }
}
