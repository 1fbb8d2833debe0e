//! The thread that writes.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use tokio::sync::oneshot;

use crate::usage::Retention;

/// How long changes are gathered that are then written together.
const GATHERING: Duration = Duration::from_millis(100);

/// Most changes that are written together.
const MOST_TOGETHER: usize = 256;

/// Most that wait for the thread. What comes beyond that is lost, and counted.
const MOST_WAITING: usize = 4096;

/// Pauses before something that could not be written is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// How often at most the log tells that something is wrong.
const COMPLAINT_EVERY: Duration = Duration::from_secs(60);

/// How often old rows are looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(24 * 60 * 60);

/// A wait for a caller that has room for nothing more.
const FULL_PAUSE: Duration = Duration::from_millis(10);

/// Hands changes to the thread that writes them. The thread goes with the last clone.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    messages: SyncSender<Message>,
    lost: Arc<AtomicU64>,
    pub(crate) retention: Arc<Retention>,
}

/// Something to be written. It may be tried more than once, and then takes effect once.
pub(crate) trait Change: Send {
    fn apply(&self, database: &Connection) -> rusqlite::Result<()>;
}

/// What the thread is told.
pub(crate) enum Message {
    Write(Box<dyn Change>),
    /// Everything before this is to be written now.
    Flush(oneshot::Sender<()>),
    /// The same, and the log is to be folded into the file.
    Settle(oneshot::Sender<()>),
    /// Old rows are to be looked for now.
    Sweep,
}

/// The thread's own.
struct Thread {
    database: Connection,
    messages: Receiver<Message>,
    lost: Arc<AtomicU64>,
    retention: Arc<Retention>,
    next_sweep: Instant,
    /// When something was last told to be wrong, and how many changes were lost by then.
    complained: Option<Instant>,
    told_lost: u64,
}

// === impl Writer ===

impl Writer {
    pub(crate) fn start(database: Connection) -> io::Result<Self> {
        let (sender, messages) = sync_channel(MOST_WAITING);
        let lost = Arc::<AtomicU64>::default();
        let retention = Arc::<Retention>::default();
        let thread = Thread {
            database,
            messages,
            lost: Arc::clone(&lost),
            retention: Arc::clone(&retention),
            next_sweep: Instant::now() + SWEEP_EVERY,
            complained: None,
            told_lost: 0,
        };
        thread::Builder::new().name("store".to_owned()).spawn(move || thread.run())?;
        Ok(Self { messages: sender, lost, retention })
    }

    /// Has it written soon. Never waits.
    pub(crate) fn write(&self, change: impl Change + 'static) {
        if self.messages.try_send(Message::Write(Box::new(change))).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Has old rows looked for. If there is no room for that, it is done in its time.
    pub(crate) fn sweep(&self) {
        let _ = self.messages.try_send(Message::Sweep);
    }

    /// Changes that could not be written.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Tells the thread something, and waits until it has done so.
    pub(crate) async fn ask(&self, message: impl FnOnce(oneshot::Sender<()>) -> Message) {
        let (done, answer) = oneshot::channel();
        let mut message = message(done);
        while let Err(TrySendError::Full(back)) = self.messages.try_send(message) {
            message = back;
            tokio::time::sleep(FULL_PAUSE).await;
        }
        // An error is a thread that has gone: there is nothing to wait for.
        let _ = answer.await;
    }
}

// === impl Thread ===

impl Thread {
    fn run(mut self) {
        loop {
            let until_sweep = self.next_sweep.saturating_duration_since(Instant::now());
            if until_sweep.is_zero() {
                self.sweep();
            }
            let goes_on = match self.messages.recv_timeout(until_sweep) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => ControlFlow::Continue(()),
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if goes_on.is_break() {
                return;
            }
        }
    }

    /// Breaks when nobody can say anything more.
    fn take(&mut self, message: Message) -> ControlFlow<()> {
        let mut changes = Vec::new();
        let until = Instant::now() + GATHERING;
        let mut next = Ok(message);
        loop {
            match next {
                Ok(Message::Write(change)) => changes.push(change),
                Ok(Message::Sweep) => self.next_sweep = Instant::now(),
                Ok(Message::Flush(done)) => {
                    self.write(&changes);
                    let _ = done.send(());
                    return ControlFlow::Continue(());
                }
                Ok(Message::Settle(done)) => {
                    self.write(&changes);
                    self.fold_log();
                    let _ = done.send(());
                    return ControlFlow::Continue(());
                }
                Err(end) => {
                    self.write(&changes);
                    return match end {
                        RecvTimeoutError::Timeout => ControlFlow::Continue(()),
                        RecvTimeoutError::Disconnected => ControlFlow::Break(()),
                    };
                }
            }
            next = if changes.len() < MOST_TOGETHER {
                self.messages.recv_timeout(until.saturating_duration_since(Instant::now()))
            } else {
                Err(RecvTimeoutError::Timeout)
            };
        }
    }

    /// Writes all of it. What may be mended from outside is waited for: meanwhile changes gather, up to
    /// their limit.
    fn write(&mut self, changes: &[Box<dyn Change>]) {
        let mut pause = FIRST_PAUSE;
        while let Err(error) = self.try_write(changes) {
            if !may_pass(&error) {
                self.lost.fetch_add(changes.len() as u64, Ordering::Relaxed);
                self.complain(&error);
                return;
            }
            self.complain(&error);
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.tell_lost();
    }

    fn try_write(&mut self, changes: &[Box<dyn Change>]) -> rusqlite::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let transaction =
            self.database.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for change in changes {
            change.apply(&transaction)?;
        }
        transaction.commit()
    }

    /// Deletes some of what is too old; if there is more, the next step does that.
    fn sweep(&mut self) {
        self.next_sweep = match self.retention.delete_some(&self.database) {
            Ok(deleted) if deleted.is_break() => Instant::now() + SWEEP_EVERY,
            Ok(_) => Instant::now() + GATHERING,
            Err(error) => {
                self.complain(&error);
                Instant::now() + COMPLAINT_EVERY
            }
        };
    }

    /// Another server that reads may keep us from it, which does no harm.
    fn fold_log(&self) {
        if let Err(error) =
            self.database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        {
            tracing::debug!(%error, "the database's log stays beside it");
        }
    }

    fn complain(&mut self, error: &rusqlite::Error) {
        if self.may_complain() {
            let lost = self.note_lost();
            tracing::warn!(%error, lost, "the database cannot be written");
        }
    }

    /// Of what was lost before it could be written again.
    fn tell_lost(&mut self) {
        if self.lost.load(Ordering::Relaxed) > self.told_lost && self.may_complain() {
            let lost = self.note_lost();
            tracing::warn!(lost, "the database did not keep up");
        }
    }

    fn may_complain(&self) -> bool {
        self.complained.is_none_or(|at| at.elapsed() >= COMPLAINT_EVERY)
    }

    fn note_lost(&mut self) -> u64 {
        self.complained = Some(Instant::now());
        self.told_lost = self.lost.load(Ordering::Relaxed);
        self.told_lost
    }
}

/// Whether the same could succeed later: a lock, a full disk, one that is not there at the moment.
fn may_pass(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::ReadOnly
                | ErrorCode::CannotOpen
                | ErrorCode::OutOfMemory
                | ErrorCode::PermissionDenied
        )
    )
}
