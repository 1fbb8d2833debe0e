//! Why a request got no places.

use std::fmt;
use std::time::Duration;

use openai_wire::{ApiError, ErrorType};

use crate::time_words::how_long;

/// When it is worth a try again: turns end at any moment.
const SOON: Duration = Duration::from_secs(1);

/// When a server that is started anew may be there.
const AFTER_RESTART: Duration = Duration::from_secs(5);

/// Why a request got no places.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    /// It asks for more turns than ever run.
    #[error(
        "Invalid 'n': integer above maximum value. Expected a value <= {limit} \
         (PROXY_MAX_CONCURRENT_TURNS), but got {turns} instead."
    )]
    NeverFits { turns: u32, limit: u32 },
    /// It waits, or wants to, and there are others with a better right.
    #[error(
        "The server is busy: {0}, and no more may wait (PROXY_QUEUE_MAX). Try again in a second; \
         PROXY_MAX_CONCURRENT_TURNS allows more turns at once."
    )]
    QueueFull(Load),
    /// It has waited for as long as one may.
    #[error(
        "The server is busy: {load}, and no turn could be started within {} \
         (PROXY_QUEUE_WAIT_MS). Try again in a second; PROXY_MAX_CONCURRENT_TURNS allows more turns \
         at once.",
        how_long(*longest_wait)
    )]
    WaitedTooLong { longest_wait: Duration, load: Load },
    /// The server is about to end.
    #[error("The server is stopping. Try again once it has started.")]
    ShuttingDown,
}

/// How full it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) running: u32,
    pub(crate) limit: u32,
    pub(crate) waiting: usize,
}

// === impl Refusal ===

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        let busy = |message| Self::new(429, ErrorType::RateLimitError, message);
        let (error, retry_after) = match refusal {
            Refusal::NeverFits { .. } => {
                return Self::invalid("n", message).with_code("integer_above_max_value");
            }
            Refusal::QueueFull(_) => (busy(message).with_code("queue_full"), SOON),
            Refusal::WaitedTooLong { .. } => (busy(message).with_code("too_many_turns"), SOON),
            Refusal::ShuttingDown => {
                let error = Self::new(503, ErrorType::ServerError, message);
                (error.with_code("shutting_down"), AFTER_RESTART)
            }
        };
        Self { retry_after: Some(retry_after), ..error }
    }
}

// === impl Load ===

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { running, limit, waiting } = self;
        write!(f, "{running} of {limit} turns run, {waiting} wait")
    }
}
