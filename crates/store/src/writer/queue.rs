//! What waits for the thread that writes.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use super::Change;
use super::asked::Asked;

/// How long rows are gathered that are then written together.
pub(super) const GATHERING: Duration = Duration::from_millis(100);

/// Most rows that are written together, and most changes that somebody waits for.
const MOST_TOGETHER: usize = 256;

/// Most of either that wait for the thread.
const MOST_WAITING: usize = 4096;

/// Between those who hand something over and the thread. To wake it costs more than everything else
/// here, so that a row does so only if it is the first of its batch or the last.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    work: Condvar,
}

/// What was handed over and not taken yet.
#[derive(Default)]
struct Waiting {
    rows: VecDeque<Box<dyn Change>>,
    /// How many rows there ever were.
    rows_so_far: u64,
    asked: VecDeque<Asked>,
    flushes: Vec<Flush>,
    wants_sweep: bool,
    /// Nobody can hand over anything more, or nobody would take it.
    is_closed: bool,
}

/// Somebody waits until rows are written.
pub(super) struct Flush {
    /// So many of all that there ever were.
    pub(super) rows: u64,
    pub(super) destination: Destination,
    pub(super) done: oneshot::Sender<()>,
}

/// Where they are to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// The log, which is as good.
    Log,
    /// The file, without any log.
    File,
}

/// What the thread waits for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wait {
    /// Nothing: it takes what is there.
    Not,
    /// Anything, but not for longer than this. Rows are gathered for a while.
    ForAnything(Instant),
    /// The same, but rows stay where they are.
    ForAnythingButRows(Instant),
}

/// What the thread has to do.
#[derive(Default)]
pub(super) struct Work {
    pub(super) rows: Vec<Box<dyn Change>>,
    pub(super) asked: Vec<Asked>,
    pub(super) flushes: Vec<Flush>,
    pub(super) wants_sweep: bool,
    /// Nothing comes after this.
    pub(super) is_last: bool,
}

// === impl Queue ===

impl Queue {
    /// Gives the row back if there is no room for it.
    pub(super) fn push_row(&self, row: Box<dyn Change>) -> Result<(), Box<dyn Change>> {
        let mut waiting = self.waiting.lock();
        if waiting.is_closed || waiting.rows.len() == MOST_WAITING {
            return Err(row);
        }
        waiting.rows.push_back(row);
        waiting.rows_so_far += 1;
        let is_first_or_last = [1, MOST_TOGETHER].contains(&waiting.rows.len());
        drop(waiting);
        if is_first_or_last {
            self.work.notify_one();
        }
        Ok(())
    }

    /// The same for a change that somebody waits for.
    pub(super) fn push_asked(&self, asked: Asked) -> Result<(), Asked> {
        let mut waiting = self.waiting.lock();
        if waiting.is_closed || waiting.asked.len() == MOST_WAITING {
            return Err(asked);
        }
        waiting.asked.push_back(asked);
        drop(waiting);
        self.work.notify_one();
        Ok(())
    }

    /// Is told when every row so far is written. If nobody would do that, it is told at once.
    pub(super) fn push_flush(&self, destination: Destination) -> oneshot::Receiver<()> {
        let (done, written) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        if !waiting.is_closed {
            let rows = waiting.rows_so_far;
            waiting.flushes.push(Flush { rows, destination, done });
        }
        drop(waiting);
        self.work.notify_one();
        written
    }

    pub(super) fn push_sweep(&self) {
        self.waiting.lock().wants_sweep = true;
        self.work.notify_one();
    }

    /// Nothing is taken in any more; what is here can still be taken.
    pub(super) fn close(&self) {
        self.waiting.lock().is_closed = true;
        self.work.notify_one();
    }

    /// Drops what is here: whoever waits for something learns that it will not come.
    pub(super) fn abandon(&self) {
        let mut waiting = self.waiting.lock();
        *waiting = Waiting { is_closed: true, ..Waiting::default() };
    }

    /// Waits, and takes what there is then.
    pub(super) fn take(&self, wait: Wait) -> Work {
        let mut waiting = self.waiting.lock();
        let mut gathered_at = None;
        while !waiting.is_urgent(wait) {
            let now = Instant::now();
            let until = match wait {
                Wait::Not => break,
                Wait::ForAnything(_) if !waiting.rows.is_empty() => {
                    *gathered_at.get_or_insert(now + GATHERING)
                }
                Wait::ForAnything(until) | Wait::ForAnythingButRows(until) => until,
            };
            if until <= now {
                break;
            }
            self.work.wait_until(&mut waiting, until);
        }
        waiting.hand_over(wait)
    }
}

// === impl Waiting ===

impl Waiting {
    fn is_urgent(&self, wait: Wait) -> bool {
        let has_batch = self.rows.len() >= MOST_TOGETHER || self.is_closed;
        !self.asked.is_empty()
            || !self.flushes.is_empty()
            || self.wants_sweep
            || (has_batch && !matches!(wait, Wait::ForAnythingButRows(_)))
    }

    fn hand_over(&mut self, wait: Wait) -> Work {
        let rows = match wait {
            Wait::Not | Wait::ForAnything(_) => self.rows.len().min(MOST_TOGETHER),
            Wait::ForAnythingButRows(_) => 0,
        };
        let asked = self.asked.len().min(MOST_TOGETHER);
        Work {
            rows: self.rows.drain(..rows).collect(),
            asked: self.asked.drain(..asked).collect(),
            flushes: std::mem::take(&mut self.flushes),
            wants_sweep: std::mem::take(&mut self.wants_sweep),
            is_last: self.is_closed && self.rows.is_empty() && self.asked.is_empty(),
        }
    }
}
