//! What a canary has shown.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

/// What the canary of a child has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CanaryState {
    /// None is played: every turn is taken.
    NotNeeded,
    /// It is being played; turns of real models wait for it, unless they are allowed anyway.
    Checking {
        /// Turns are taken all the same, because the operator wants it.
        allowed: bool,
    },
    /// Every promise is kept.
    Passed {
        /// The account has Codex add a message about commits to each prompt.
        git_attribution: bool,
    },
    /// A promise is broken, or could not be checked.
    Failed {
        /// Which one, and how.
        broken: BrokenPromise,
        /// Turns are taken all the same, because the operator wants it.
        allowed: bool,
    },
}

/// What an untested Codex could break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// The model has the client's tools, and no other.
    Tools,
    /// The model sees the client's messages, and no other text.
    Text,
    /// A turn is one request.
    Requests,
    /// Nothing of a turn is on disk.
    Disk,
    /// A canary could be played to its end.
    Checked,
}

/// A promise that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BrokenPromise {
    /// Which one.
    pub promise: Promise,
    /// In what way.
    pub reason: Arc<str>,
}

// === impl CanaryState ===

impl CanaryState {
    /// Whether the child takes turns of real models.
    pub fn permits(&self) -> bool {
        match self {
            Self::NotNeeded | Self::Passed { .. } => true,
            Self::Checking { allowed } | Self::Failed { allowed, .. } => *allowed,
        }
    }

    /// Its name in health answers.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotNeeded => "not_needed",
            Self::Checking { .. } => "checking",
            Self::Passed { .. } => "passed",
            Self::Failed { .. } => "failed",
        }
    }

    /// The promise that is broken, if one is.
    pub fn broken(&self) -> Option<&BrokenPromise> {
        match self {
            Self::Failed { broken, .. } => Some(broken),
            Self::NotNeeded | Self::Checking { .. } | Self::Passed { .. } => None,
        }
    }

    pub(super) fn log(&self, took: Duration) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        match self {
            Self::Passed { git_attribution } => {
                tracing::info!(took_ms, git_attribution, "this Codex has passed its canary");
            }
            Self::Failed { broken, allowed } => {
                let promise = broken.promise.as_str();
                let message = "this Codex has failed its canary";
                if *allowed {
                    tracing::warn!(took_ms, promise, reason = %broken, "{message}");
                } else {
                    tracing::error!(took_ms, promise, reason = %broken, "{message}");
                }
            }
            Self::NotNeeded | Self::Checking { .. } => {}
        }
    }

    /// Whether the next canary may have another outcome.
    pub(super) fn is_unsettled(&self) -> bool {
        match self {
            Self::Checking { .. } => true,
            Self::Failed { broken, allowed } => broken.promise == Promise::Checked && !allowed,
            Self::NotNeeded | Self::Passed { .. } => false,
        }
    }
}

// === impl Promise ===

impl Promise {
    /// Its name in health answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "no_own_tools",
            Self::Text => "no_own_text",
            Self::Requests => "one_request",
            Self::Disk => "nothing_on_disk",
            Self::Checked => "checked",
        }
    }
}

// === impl BrokenPromise ===

impl BrokenPromise {
    pub(super) fn new(promise: Promise, reason: impl Into<Arc<str>>) -> Self {
        Self { promise, reason: reason.into() }
    }

    pub(super) fn unchecked(reason: impl Display) -> Self {
        Self::new(Promise::Checked, format!("its canary turn could not be played: {reason}"))
    }
}
