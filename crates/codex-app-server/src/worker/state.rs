//! Where a child stands, for everybody to see.

use std::sync::Arc;
use std::time::Instant;

use semver::Version;
use tokio::sync::watch;

use crate::canary::{BrokenPromise, CanaryState};
use crate::child_log::EarlyArguments;
use crate::client::Client;

/// Where a child stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// It is starting for the first time.
    Starting,
    /// It has finished its handshake and takes turns, of real models if its canary permits it.
    Ready {
        /// Version of Codex.
        version: Version,
        /// Process id of the child.
        process_id: Option<u32>,
        /// Why it was not replaced by a new child, when that was last wanted.
        not_renewed: Option<Arc<str>>,
        /// Whether arguments are streamed as the model writes them.
        early_arguments: EarlyArguments,
        /// Whether it keeps our promises.
        canary: CanaryState,
    },
    /// It was lost, or did not start, and is being brought back.
    Restarting {
        /// Why.
        reason: Arc<str>,
        /// Tries that failed since it was last ready.
        failures: u32,
        /// When it is tried again; in the past while a try is under way.
        next_try: Instant,
    },
    /// It was told to stop, and takes no more turns.
    Stopped,
}

/// What a worker says about itself, at its place among all workers.
#[derive(Debug, Clone)]
pub(crate) struct StateReport {
    pub(crate) states: watch::Sender<Vec<WorkerState>>,
    pub(crate) place: usize,
}

// === impl WorkerState ===

impl WorkerState {
    /// Whether it takes turns of every model.
    pub fn takes_turns(&self) -> bool {
        matches!(self, Self::Ready { canary, .. } if canary.permits())
    }

    /// The promise that keeps it from taking turns of real models, if one does.
    pub fn broken_promise(&self) -> Option<&BrokenPromise> {
        match self {
            Self::Ready { canary, .. } if !canary.permits() => canary.broken(),
            Self::Starting | Self::Ready { .. } | Self::Restarting { .. } | Self::Stopped => None,
        }
    }

    /// When it is tried again, if it was lost; in the past while a try is under way.
    pub fn next_try(&self) -> Option<Instant> {
        match self {
            Self::Restarting { next_try, .. } => Some(*next_try),
            Self::Starting | Self::Ready { .. } | Self::Stopped => None,
        }
    }
}

// === impl StateReport ===

impl StateReport {
    pub(crate) fn say(&self, state: WorkerState) {
        tracing::debug!(worker = self.place, ?state, "a worker's state");
        self.states.send_modify(|states| states[self.place] = state);
    }

    /// Notes what is known of a child by now, if it is still the one of this worker.
    pub(crate) fn note_checks(&self, client: &Client) {
        self.states.send_if_modified(|states| match &mut states[self.place] {
            WorkerState::Ready { process_id, early_arguments, canary, .. }
                if *process_id == client.process_id() =>
            {
                *early_arguments = client.early_arguments();
                *canary = client.canary();
                true
            }
            _ => false,
        });
    }
}
