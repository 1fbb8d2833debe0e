//! What the thread does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::Change;
use super::asked::{Asked, Effect};
use super::batch::{self, may_pass};
use super::complaints::{COMPLAINT_EVERY, Complaints};
use super::queue::{Destination, Flush, GATHERING, Queue, Wait};
use crate::database::{self, DatabaseFile, Fold};
use crate::error::StoreError;
use crate::retention::Retention;

/// Pauses before rows that could not be written are tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often old rows are looked for.
const SWEEP_EVERY: Duration = Duration::from_hours(24);

/// What was deleted is in the log still. So long after, that is folded into the file.
const FOLD_AFTER: Duration = Duration::from_secs(1);

/// The thread's own.
pub(super) struct Thread {
    database: Connection,
    file: DatabaseFile,
    queue: Arc<Queue>,
    lost: Arc<AtomicU64>,
    retention: Arc<Retention>,
    complaints: Complaints,
    /// Rows that are not written yet.
    rows: Vec<Box<dyn Change>>,
    /// How many were taken before them.
    rows_done: u64,
    /// Set while they cannot be written.
    retry: Option<Retry>,
    flushes: Vec<Flush>,
    next_sweep: Instant,
    next_fold: Option<Instant>,
}

/// When rows are tried again, and after which pause.
#[derive(Debug, Clone, Copy)]
struct Retry {
    at: Instant,
    pause: Duration,
}

// === impl Thread ===

impl Thread {
    pub(super) fn new(
        database: Connection,
        queue: Arc<Queue>,
        lost: Arc<AtomicU64>,
        retention: Arc<Retention>,
    ) -> Self {
        Self {
            file: DatabaseFile::of(&database),
            database,
            queue,
            complaints: Complaints::about(Arc::clone(&lost)),
            lost,
            retention,
            rows: Vec::new(),
            rows_done: 0,
            retry: None,
            flushes: Vec::new(),
            next_sweep: Instant::now() + SWEEP_EVERY,
            next_fold: None,
        }
    }

    /// Until nobody can say anything more, and everything is written.
    pub(super) fn run(mut self) {
        loop {
            let work = self.queue.take(self.wait());
            // There are none if some are left, because then none were taken.
            self.rows.extend(work.rows);
            self.flushes.extend(work.flushes);
            self.write(work.asked);
            if work.is_last && self.rows.is_empty() {
                return;
            }
            if work.wants_sweep {
                self.next_sweep = Instant::now();
            }
            self.tidy();
            self.answer_flushes();
        }
    }

    fn wait(&self) -> Wait {
        let tidy_at = self.next_fold.map_or(self.next_sweep, |fold| fold.min(self.next_sweep));
        match self.retry {
            Some(retry) => Wait::ForAnythingButRows(retry.at.min(tidy_at)),
            None if self.flushes.is_empty() => Wait::ForAnything(tidy_at),
            None => Wait::Not,
        }
    }

    /// What somebody waits for is tried once. Rows that something outside keeps from being written are
    /// tried again, and nothing else waits for them: meanwhile others gather, up to their limit.
    fn write(&mut self, mut asked: Vec<Asked>) {
        if !asked.is_empty() && self.file.is_gone() {
            for asked in asked.drain(..) {
                asked.answer(Err(StoreError::Gone));
            }
        }
        let are_rows_due = self.retry.is_none_or(|retry| retry.at <= Instant::now());
        let rows = if are_rows_due { &self.rows[..] } else { &[] };
        if asked.is_empty() && rows.is_empty() {
            return;
        }
        match batch::write(&mut self.database, &asked, rows) {
            Ok(written) => {
                if are_rows_due {
                    self.finish_rows(written.rows.as_ref().err());
                }
                self.answer(asked, written.asked);
            }
            Err(error) => {
                if are_rows_due && may_pass(&error) {
                    self.put_off_rows();
                } else if are_rows_due {
                    self.finish_rows(Some(&error));
                }
                self.complaints.of(&error);
                let error = Arc::new(error);
                for asked in asked {
                    asked.answer(Err(StoreError::NotWritten(Arc::clone(&error))));
                }
            }
        }
    }

    fn answer(&mut self, asked: Vec<Asked>, outcomes: Vec<Option<rusqlite::Result<Effect>>>) {
        let mut was_added = false;
        for (asked, outcome) in asked.into_iter().zip(outcomes) {
            let Some(outcome) = outcome else { continue };
            match outcome {
                Ok(Effect::Added) => was_added = true,
                Ok(Effect::Deleted) => self.fold_soon(),
                Ok(Effect::Nothing) | Err(_) => {}
            }
            asked.answer(outcome.map_err(StoreError::from));
        }
        if was_added && self.retention.responses.is_exceeded(&self.database) {
            self.next_sweep = Instant::now();
        }
    }

    /// They are written, or will never be.
    fn finish_rows(&mut self, error: Option<&rusqlite::Error>) {
        let rows = self.rows.len() as u64;
        self.rows.clear();
        self.rows_done += rows;
        self.retry = None;
        if let Some(error) = error {
            self.lost.fetch_add(rows, Ordering::Relaxed);
            self.complaints.of(error);
        } else {
            self.complaints.of_lost();
        }
    }

    fn put_off_rows(&mut self) {
        if !self.rows.is_empty() {
            let pause =
                self.retry.map_or(FIRST_PAUSE, |retry| (retry.pause * 2).min(LONGEST_PAUSE));
            self.retry = Some(Retry { at: Instant::now() + pause, pause });
        }
    }

    fn answer_flushes(&mut self) {
        let rows_done = self.rows_done;
        let is_done = |flush: &Flush| flush.rows <= rows_done;
        if self.flushes.iter().any(|flush| is_done(flush) && flush.destination == Destination::File)
        {
            self.fold(Fold::Waiting);
        }
        for flush in self.flushes.extract_if(.., |flush| is_done(flush)) {
            let _ = flush.done.send(());
        }
    }

    fn tidy(&mut self) {
        let now = Instant::now();
        if self.next_sweep <= now {
            self.sweep();
        }
        if self.next_fold.is_some_and(|at| at <= now) {
            self.fold(Fold::AtOnce);
        }
    }

    /// Deletes some of what is too old or too much; if there is more, the next step does that.
    fn sweep(&mut self) {
        self.next_sweep = match self.retention.sweep_some(&mut self.database) {
            Ok(swept) if swept.is_break() => {
                self.fold_soon();
                Instant::now() + SWEEP_EVERY
            }
            Ok(_) => Instant::now() + GATHERING,
            Err(error) => {
                self.complaints.of(&error);
                Instant::now() + COMPLAINT_EVERY
            }
        };
    }

    fn fold_soon(&mut self) {
        self.next_fold.get_or_insert_with(|| Instant::now() + FOLD_AFTER);
    }

    /// Another one that reads may keep us from it, which does no harm: it is done later.
    fn fold(&mut self, fold: Fold) {
        self.next_fold = None;
        match database::fold_log(&self.database, fold) {
            Ok(true) => {}
            Ok(false) => self.fold_soon(),
            Err(error) => tracing::debug!(%error, "the database's log stays beside it"),
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.queue.abandon();
    }
}
