//! Records of requests, for whoever has to find out what became of one.
//!
//! They are made in memory, within limits, and written when their request is over, by one thread that
//! serves nobody.

mod folder;
mod recording;
mod writing;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

pub(crate) use recording::{Draft, RecordedApi, Recording};
use writing::{Finished, Writer};

/// Most that all records hold in memory, those that wait to be written included.
const MOST_HELD_BYTES: usize = 32 * 1024 * 1024;

/// What is chosen about records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaptureSettings {
    /// Where they are kept.
    pub folder: PathBuf,
    /// How much is kept; the oldest make room.
    pub max_bytes: u64,
    /// Whether they can be read.
    pub content: CapturedContent,
}

/// What a record has of what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapturedContent {
    /// Other words of the same length.
    Masked,
    /// Everything.
    Verbatim,
}

/// Every record that is not written yet.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    held_bytes: AtomicUsize,
    pending: Mutex<Pending>,
    writer: Mutex<Writer>,
    tasks: TaskTracker,
}

#[derive(Debug, Default)]
struct Pending {
    records: VecDeque<Finished>,
    /// Whether somebody writes them.
    writing: bool,
}

/// Somebody writes records; if that panics, the next one can.
struct Writing<'c>(&'c Captures);

// === impl Captures ===

impl Captures {
    /// Waits until what is over is written.
    pub(crate) async fn written(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Takes memory for a record, if there is any.
    fn hold(&self, bytes: usize) -> bool {
        let more = |held: usize| Some(held + bytes).filter(|held| *held <= MOST_HELD_BYTES);
        self.held_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    fn release(&self, bytes: usize) {
        self.held_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Has a record written, after those that came before it.
    fn finish(self: &Arc<Self>, record: Finished, runtime: &Handle) {
        let mut pending = self.pending.lock();
        pending.records.push_back(record);
        if !std::mem::replace(&mut pending.writing, true) {
            let captures = Arc::clone(self);
            self.tasks.spawn_blocking_on(move || captures.write(), runtime);
        }
    }

    fn write(&self) {
        let _writing = Writing(self);
        let mut writer = self.writer.lock();
        while let Some(record) = self.next() {
            writer.write(record);
        }
    }

    fn next(&self) -> Option<Finished> {
        let mut pending = self.pending.lock();
        let next = pending.records.pop_front();
        pending.writing = next.is_some();
        next
    }
}

// === impl Writing ===

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.pending.lock().writing = false;
        }
    }
}

#[cfg(test)]
mod tests;
