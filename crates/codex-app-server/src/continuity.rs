//! The same thread for the same conversation.
//!
//! A client sends its whole conversation each time. A thread that has just had all of it but the newest
//! items can go on with those alone: the upstream's prompt cache knows it, and the model still has its
//! reasoning. Where anything that the model would see differs, the turn gets a thread of its own.

pub(crate) mod answers;
pub(crate) mod kept_thread;
pub(crate) mod kept_threads;
mod raw_item;
pub(crate) mod shelf;
pub(crate) mod trail;
pub(crate) mod transcript;

use std::time::Duration;

/// How much is kept for conversations that may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContinuityLimits {
    /// How many threads, those with unanswered calls included.
    pub max_threads: usize,
    /// For how long after its last turn.
    pub max_age: Duration,
    /// How many bytes of conversations they may have in all.
    pub max_bytes: usize,
}

/// How a turn got its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continued {
    /// It has one of its own, with the whole history.
    Fresh(FreshReason),
    /// It went on in the thread of an earlier turn.
    Reused,
    /// It went on with a turn whose calls were unanswered, by answering them.
    Resumed,
}

/// Why a turn did not go on in an earlier one's thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FreshReason {
    /// It was not to.
    Off,
    /// The model has not said anything yet.
    First,
    /// No thread has had exactly what comes before the newest items.
    Unknown,
    /// Another request has gone on with the thread.
    Taken,
    /// The thread was kept for its time, and is gone.
    Expired,
    /// The thread had to make room.
    Evicted,
    /// The child that had the thread is gone.
    ChildGone,
    /// The thread waits for the outputs of its calls: for all of them, in their order, and for nothing
    /// else.
    Outputs,
    /// There is nothing new to go on with.
    NothingNew,
    /// The history has reasoning that the thread has not.
    Reasoning,
    /// The turn before did not end as it should have.
    NotReady,
    /// Going on in the thread failed before the model had said anything.
    Failed,
}

/// What is kept at the moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeptCounts {
    /// Threads whose turns have ended.
    pub idle: usize,
    /// Threads whose turns wait for the outputs of their calls.
    pub held: usize,
    /// Bytes of their conversations.
    pub bytes: usize,
}

// === impl ContinuityLimits ===

impl Default for ContinuityLimits {
    fn default() -> Self {
        Self { max_threads: 64, max_age: Duration::from_mins(10), max_bytes: 64 * 1024 * 1024 }
    }
}

// === impl Continued ===

impl Continued {
    /// Its name in headers, logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh(_) => "fresh",
            Self::Reused => "reused",
            Self::Resumed => "resumed",
        }
    }

    /// Why it is fresh, if it is.
    pub fn fresh_reason(self) -> Option<FreshReason> {
        match self {
            Self::Fresh(reason) => Some(reason),
            Self::Reused | Self::Resumed => None,
        }
    }
}

// === impl FreshReason ===

impl FreshReason {
    /// Every one of them.
    pub const ALL: [Self; 12] = [
        Self::Off,
        Self::First,
        Self::Unknown,
        Self::Taken,
        Self::Expired,
        Self::Evicted,
        Self::ChildGone,
        Self::Outputs,
        Self::NothingNew,
        Self::Reasoning,
        Self::NotReady,
        Self::Failed,
    ];

    /// Its name in logs and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::First => "first",
            Self::Unknown => "unknown",
            Self::Taken => "taken",
            Self::Expired => "expired",
            Self::Evicted => "evicted",
            Self::ChildGone => "child_gone",
            Self::Outputs => "outputs",
            Self::NothingNew => "nothing_new",
            Self::Reasoning => "reasoning",
            Self::NotReady => "not_ready",
            Self::Failed => "failed",
        }
    }
}
