//! A thread after its turn: who has it, and what may be done with it.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::sync::watch;

use super::FreshReason;
use super::transcript::Transcript;
use crate::connection::Connection;
use crate::ids::ThreadId;
use crate::login_watch::LoginWatch;

/// How long the end of a turn may take whose answer is whole. It is a matter of a few milliseconds,
/// and a thread of one's own costs little more.
const SETTLED_WITHIN: Duration = Duration::from_secs(1);

/// A thread whose turn has ended, or is about to. It is let go when this is dropped.
pub(crate) struct KeptThread {
    connection: Arc<Connection>,
    thread: ThreadId,
    fate: Arc<ThreadFate>,
    login: Arc<LoginWatch>,
    asked_as: AskedAs,
}

/// Who the upstream was asked as.
#[derive(Debug, PartialEq, Eq)]
enum AskedAs {
    /// Whoever was signed in.
    Account(Option<u128>),
    /// The login has nothing to do with it.
    Stranger,
}

/// What becomes of a thread, told by whoever reads the child.
#[derive(Debug)]
pub(crate) struct ThreadFate {
    said: OnceLock<Said>,
    state: watch::Sender<ThreadState>,
}

/// What there was in a thread when the model's last response had ended.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) transcript: Transcript,
    /// Ids of the calls that wait for their outputs.
    pub(crate) calls: Vec<String>,
}

/// Where a thread stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadState {
    /// Its turn has not ended yet, or not all of its calls have been asked for.
    Busy,
    /// Its turn has ended, and another can begin.
    Idle,
    /// Its turn waits for the outputs of its calls.
    Held,
    /// It cannot be gone on with.
    Gone,
}

// === impl ThreadFate ===

impl Default for ThreadFate {
    fn default() -> Self {
        Self { said: OnceLock::new(), state: watch::Sender::new(ThreadState::Busy) }
    }
}

impl ThreadFate {
    /// The model's response has ended, and can be gone on from.
    pub(crate) fn say(&self, said: Said) {
        let _ = self.said.set(said);
    }

    /// Says where the thread stands from now on, and gives back where it stood.
    pub(crate) fn settle(&self, state: ThreadState) -> ThreadState {
        self.state.send_replace(state)
    }
}

// === impl KeptThread ===

impl KeptThread {
    pub(crate) fn new(
        connection: &Arc<Connection>,
        thread: ThreadId,
        login: &Arc<LoginWatch>,
        needs_login: bool,
    ) -> Self {
        Self {
            connection: Arc::clone(connection),
            thread,
            fate: Arc::default(),
            login: Arc::clone(login),
            asked_as: if needs_login {
                AskedAs::Account(login.account())
            } else {
                AskedAs::Stranger
            },
        }
    }

    pub(crate) fn thread(&self) -> &ThreadId {
        &self.thread
    }

    pub(crate) fn fate(&self) -> &Arc<ThreadFate> {
        &self.fate
    }

    /// What was said in it, if it can be gone on from.
    pub(crate) fn said(&self) -> Option<&Said> {
        self.fate.said.get()
    }

    pub(crate) fn is_of(&self, connection: &Arc<Connection>) -> bool {
        Arc::ptr_eq(&self.connection, connection)
    }

    pub(crate) fn is_held(&self) -> bool {
        self.said().is_some_and(|said| !said.calls.is_empty())
    }

    /// Whether its turn has ended as it should, or still may.
    pub(crate) fn is_well(&self) -> bool {
        *self.fate.state.borrow() != ThreadState::Gone
    }

    /// Whether its child is still there, and signed in as the same.
    pub(crate) fn has_its_child(&self) -> bool {
        let is_same = match self.asked_as {
            AskedAs::Account(account) => account == self.login.account(),
            AskedAs::Stranger => true,
        };
        is_same && !self.connection.is_closed()
    }

    /// Waits for the end of its turn.
    pub(crate) async fn settled(&self) -> Result<ThreadState, FreshReason> {
        let mut state = self.fate.state.subscribe();
        let settled = state.wait_for(|state| *state != ThreadState::Busy);
        match tokio::time::timeout(SETTLED_WITHIN, settled).await {
            Ok(Ok(state)) => Ok(*state),
            Ok(Err(_)) | Err(_) => Err(FreshReason::NotReady),
        }
    }

    /// Somebody else has the thread from now on.
    pub(crate) fn hand_over(self) {
        // It stays what it is, but for whoever held it.
        self.fate.settle(ThreadState::Gone);
    }
}

impl Drop for KeptThread {
    fn drop(&mut self) {
        let connection = &*self.connection;
        connection.router.let_go(&self.thread, &self.fate, connection);
    }
}

impl std::fmt::Debug for KeptThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptThread").field("thread", &self.thread).finish_non_exhaustive()
    }
}
