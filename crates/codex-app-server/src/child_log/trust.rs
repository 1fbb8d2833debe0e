//! Whether what the log reports is used.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use super::LogEvent;

/// What is kept while the log is checked: calls, and bytes of each.
const MOST_CALLS: usize = 256;
const MOST_WITNESSED: usize = 64 * 1024;

/// Whether arguments are streamed as the model writes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlyArguments {
    /// Switched off.
    Off,
    /// It is being checked whether this Codex's log has them.
    Checking,
    /// They are.
    On,
    /// Not with this child: its log lacks them, or has contradicted its output.
    Lost(Arc<str>),
}

/// Calls seen while the log is checked, by thread and item: their ids and arguments.
type Seen = HashMap<(Box<str>, Box<str>), (String, String)>;

/// How far the log of one child is trusted.
#[derive(Debug)]
pub(crate) struct LogTrust {
    state: watch::Sender<EarlyArguments>,
    seen: Mutex<Seen>,
    witnessed: Notify,
}

// === impl EarlyArguments ===

impl EarlyArguments {
    /// Its name in health, metrics and logs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Checking => "checking",
            Self::On => "on",
            Self::Lost(_) => "lost",
        }
    }
}

// === impl LogTrust ===

impl LogTrust {
    pub(crate) fn new(state: EarlyArguments) -> Self {
        Self { state: watch::Sender::new(state), seen: Mutex::default(), witnessed: Notify::new() }
    }

    /// How far it is trusted, now and later.
    pub(crate) fn states(&self) -> watch::Receiver<EarlyArguments> {
        self.state.subscribe()
    }

    pub(crate) fn state(&self) -> EarlyArguments {
        self.state.borrow().clone()
    }

    pub(crate) fn is_on(&self) -> bool {
        *self.state.borrow() == EarlyArguments::On
    }

    pub(crate) fn is_checked(&self) -> bool {
        *self.state.borrow() == EarlyArguments::Checking
    }

    pub(crate) fn is_lost(&self) -> bool {
        matches!(*self.state.borrow(), EarlyArguments::Lost(_))
    }

    /// Begins a check, which keeps the log from being used until it has passed.
    pub(crate) fn begin_check(&self) {
        self.move_to(EarlyArguments::Checking);
    }

    /// The check has passed.
    pub(crate) fn gain(&self) {
        self.move_to(EarlyArguments::On);
    }

    /// Nothing of the log is used any more.
    pub(crate) fn lose(&self, reason: &str) {
        self.move_to(EarlyArguments::Lost(reason.into()));
    }

    /// What was lost is not gained again by the same child.
    fn move_to(&self, next: EarlyArguments) {
        self.state.send_if_modified(|state| {
            let moves = matches!(state, EarlyArguments::Checking | EarlyArguments::On);
            if moves {
                *state = next;
            }
            moves
        });
        self.seen.lock().clear();
    }

    /// Keeps what the log reports, for as long as it is checked.
    pub(super) fn witness(&self, thread_id: &str, event: &LogEvent) {
        let mut seen = self.seen.lock();
        match event {
            LogEvent::CallStarted(call) if seen.len() < MOST_CALLS => {
                let call_id = call.call_id.clone();
                let item = (thread_id.into(), call.item_id.clone());
                seen.insert(item, (call_id, String::new()));
            }
            LogEvent::Arguments { item_id, text, .. } => {
                if let Some((_, arguments)) = seen.get_mut(&(thread_id.into(), item_id.clone()))
                    && arguments.len() + text.len() <= MOST_WITNESSED
                {
                    arguments.push_str(text);
                    self.witnessed.notify_waiters();
                }
            }
            LogEvent::CallStarted(_) | LogEvent::Refusal(_) => {}
        }
    }

    /// Waits until the log has shown a call with exactly these arguments.
    pub(crate) async fn until_witnessed(&self, call_id: &str, arguments: &str) {
        loop {
            let mut witnessed = std::pin::pin!(self.witnessed.notified());
            witnessed.as_mut().enable();
            if self.seen.lock().values().any(|(id, seen)| id == call_id && seen == arguments) {
                return;
            }
            witnessed.await;
        }
    }
}
