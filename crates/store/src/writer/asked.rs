//! Changes that somebody waits for.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::StoreError;

/// How long a change may wait for its turn, and that for the database.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What a change has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Added,
    Deleted,
    Nothing,
}

/// Tried once.
pub(crate) type AskedChange = Box<dyn FnOnce(&Connection) -> rusqlite::Result<Effect> + Send>;

/// The change, until somebody takes it: the thread to write it, or the caller to give it up. So a caller
/// who was told that it is too late can rely on that.
type Slot = Arc<Mutex<Option<AskedChange>>>;

/// The thread's side.
pub(super) struct Asked {
    change: Slot,
    answer: oneshot::Sender<Result<Effect, StoreError>>,
}

/// The caller's side. Who drops it gives the change up.
pub(super) struct Asking {
    change: Slot,
    answer: oneshot::Receiver<Result<Effect, StoreError>>,
}

/// Both sides of a change.
pub(super) fn ask(change: AskedChange) -> (Asked, Asking) {
    let change = Arc::new(Mutex::new(Some(change)));
    let (sender, receiver) = oneshot::channel();
    (Asked { change: Arc::clone(&change), answer: sender }, Asking { change, answer: receiver })
}

fn take(slot: &Slot) -> Option<AskedChange> {
    slot.lock().take()
}

// === impl Asked ===

impl Asked {
    /// The change, unless the caller has given it up. From here on he waits for the answer.
    pub(super) fn claim(&self) -> Option<AskedChange> {
        take(&self.change)
    }

    pub(super) fn answer(self, outcome: Result<Effect, StoreError>) {
        // Nobody may be there any more.
        let _ = self.answer.send(outcome);
    }
}

// === impl Asking ===

impl Asking {
    pub(super) async fn answer(mut self) -> Result<Effect, StoreError> {
        let answer = match tokio::time::timeout(LONGEST_WAIT, &mut self.answer).await {
            Ok(answer) => answer,
            Err(_) if take(&self.change).is_some() => return Err(StoreError::TooLate),
            // It is being written at this very moment.
            Err(_) => (&mut self.answer).await,
        };
        answer.unwrap_or(Err(StoreError::Unanswered))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        take(&self.change);
    }
}
