//! Why a request got no result.

use std::sync::Arc;
use std::time::Duration;

use model_turn::{Failure, FailureKind};

use crate::message::RpcError;

/// A request that did not get its result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Codex said no.
    #[error("{method}: {error}")]
    Rejected {
        /// The request.
        method: &'static str,
        /// Codex's words.
        error: RpcError,
    },
    /// Codex's queue stayed full.
    #[error("{method}: Codex is overloaded")]
    Overloaded {
        /// The request.
        method: &'static str,
    },
    /// No answer came. Codex does not answer what it cannot read.
    #[error("{method}: no answer within {after:?}")]
    Timeout {
        /// The request.
        method: &'static str,
        /// How long we waited.
        after: Duration,
    },
    /// The answer was longer than a line may be.
    #[error("{method}: the answer of {bytes} bytes is longer than a line may be")]
    TooLarge {
        /// The request.
        method: &'static str,
        /// Its length.
        bytes: usize,
    },
    /// The answer is not what we know.
    #[error("{method}: the answer is not understood: {reason}")]
    Unreadable {
        /// The request.
        method: &'static str,
        /// Why.
        reason: String,
    },
    /// It cannot be written as JSON.
    #[error("{method}: {reason}")]
    Unwritable {
        /// The request.
        method: &'static str,
        /// Why.
        reason: String,
    },
    /// The child has gone.
    #[error("{0}")]
    ChildGone(Arc<str>),
}

// === impl RequestError ===

impl RequestError {
    /// What happened, without the words of the protocol.
    pub fn in_plain_words(&self) -> String {
        match self {
            Self::Rejected { error, .. } => error.message.clone(),
            Self::Overloaded { .. } => "Codex is overloaded".to_owned(),
            Self::Timeout { after, .. } => format!("no answer from Codex within {after:?}"),
            Self::TooLarge { .. } | Self::Unreadable { .. } | Self::Unwritable { .. } => {
                format!("the answer of Codex is not understood ({self})")
            }
            Self::ChildGone(reason) => reason.to_string(),
        }
    }

    /// Whether Codex may be doing what it was asked, although we do not have its answer.
    pub(crate) fn may_have_been_heard(&self) -> bool {
        match self {
            Self::Timeout { .. } | Self::TooLarge { .. } | Self::Unreadable { .. } => true,
            Self::Rejected { .. }
            | Self::Overloaded { .. }
            | Self::Unwritable { .. }
            | Self::ChildGone(_) => false,
        }
    }

    /// What it means for a turn that needed the request.
    pub(crate) fn into_failure(self) -> Failure {
        let kind = match &self {
            // Codex checks what we send it: tools, items, sizes.
            Self::Rejected { .. } | Self::Unwritable { .. } => FailureKind::BadRequest,
            Self::Overloaded { .. } => FailureKind::Overloaded,
            Self::Timeout { .. } => FailureKind::Timeout,
            Self::TooLarge { .. } => FailureKind::OutputTooLarge,
            Self::Unreadable { .. } => FailureKind::Unexpected,
            Self::ChildGone(_) => FailureKind::ChildGone,
        };
        Failure::new(kind, self.to_string())
    }
}
