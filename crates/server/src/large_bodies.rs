//! Room for requests that are large, which few may be at once.

use std::sync::Arc;
use std::time::Duration;

use openai_wire::{ApiError, ErrorType};

use crate::gate::Caller;
use crate::metrics::{Metrics, Refused};
use crate::turn_queue::{QueueLimits, Refusal, TakenPlaces, TurnQueue};

/// A body from here on is large.
pub(crate) const LARGE: usize = 256 * 1024;

/// How many of them are read, or wait for their turns, at once.
const AT_ONCE: u32 = 8;

/// When it is worth a try again.
const SOON: Duration = Duration::from_secs(1);

/// Keeps the memory for requests whose turns do not run yet within bounds: a small body needs no
/// room, and of a large one no more is read until there is some. Clones share it, and so do keys,
/// as they share the turns.
#[derive(Debug, Clone)]
pub struct LargeBodies {
    queue: TurnQueue,
    metrics: Arc<Metrics>,
}

/// Room for a large body, free again when dropped.
#[derive(Debug)]
pub struct BodyRoom(#[expect(dead_code, reason = "held for its drop")] TakenPlaces);

// === impl LargeBodies ===

impl LargeBodies {
    /// Who needs room waits for it that long.
    pub fn new(longest_wait: Duration) -> Self {
        Self::counted(longest_wait, Arc::default())
    }

    /// The same, where it is counted who finds none.
    pub(crate) fn counted(longest_wait: Duration, metrics: Arc<Metrics>) -> Self {
        Self { queue: TurnQueue::new(limits(longest_wait)), metrics }
    }

    pub(crate) fn change(&self, longest_wait: Duration) {
        self.queue.change(limits(longest_wait));
    }

    pub(crate) fn close(&self) {
        self.queue.close();
    }

    /// Waits for room.
    ///
    /// # Errors
    /// If there is none in time (429).
    pub(crate) async fn room(&self, caller: &Caller) -> Result<BodyRoom, ApiError> {
        match self.queue.take(caller, 1).await {
            Ok(taken) => Ok(BodyRoom(taken)),
            Err(Refusal::ShuttingDown) => Err(Refusal::ShuttingDown.into()),
            Err(
                Refusal::QueueFull(_) | Refusal::WaitedTooLong { .. } | Refusal::NeverFits { .. },
            ) => {
                self.metrics.request_refused(Refused::TooManyLargeRequests);
                Err(no_room())
            }
        }
    }
}

/// Whoever waits has a connection, of which there are not too many.
fn limits(longest_wait: Duration) -> QueueLimits {
    QueueLimits { turns: AT_ONCE, waiting: usize::MAX, longest_wait }
}

fn no_room() -> ApiError {
    let message = format!(
        "The server is busy: {AT_ONCE} requests of more than {LARGE} bytes, or with images to fetch, \
         wait for their turns already, and none made room in time (PROXY_QUEUE_WAIT_MS). Try again in \
         a second."
    );
    ApiError {
        retry_after: Some(SOON),
        ..ApiError::new(429, ErrorType::RateLimitError, message)
            .with_code("too_many_large_requests")
    }
}
