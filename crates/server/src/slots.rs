//! How many turns run at once.

use std::sync::Arc;
use std::time::Duration;

use openai_wire::{ApiError, ErrorType};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The places that turns run in, given first come, first served.
#[derive(Debug, Clone)]
pub(crate) struct TurnSlots {
    free: Arc<Semaphore>,
    slots: u32,
    longest_wait: Duration,
}

/// Places for turns, free again when dropped.
#[derive(Debug)]
pub(crate) struct TakenSlots(
    #[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit,
);

// === impl TurnSlots ===

impl TurnSlots {
    /// At most `slots` turns at once; who waits longer than `longest_wait` is turned away.
    pub(crate) fn new(slots: u32, longest_wait: Duration) -> Self {
        let free = Arc::new(Semaphore::new(usize::try_from(slots).unwrap_or(usize::MAX)));
        Self { free, slots, longest_wait }
    }

    /// Places for all turns of a request at once.
    ///
    /// # Errors
    /// If there will never be so many (400), or not in time (429).
    pub(crate) async fn take(&self, turns: u32) -> Result<TakenSlots, ApiError> {
        if turns > self.slots {
            return Err(self.too_few(turns));
        }
        let permits = Arc::clone(&self.free).acquire_many_owned(turns);
        match tokio::time::timeout(self.longest_wait, permits).await {
            Ok(Ok(permit)) => Ok(TakenSlots(permit)),
            Ok(Err(_)) | Err(_) => Err(self.busy()),
        }
    }

    fn too_few(&self, turns: u32) -> ApiError {
        let message = format!(
            "Invalid 'n': integer above maximum value. Expected a value <= {} \
             (PROXY_MAX_CONCURRENT_TURNS), but got {turns} instead.",
            self.slots
        );
        ApiError::invalid("n", message).with_code("integer_above_max_value")
    }

    fn busy(&self) -> ApiError {
        let message = format!(
            "All {} turns that may run at once are taken, and none was free within {:?}. \
             See PROXY_MAX_CONCURRENT_TURNS and PROXY_QUEUE_WAIT_MS.",
            self.slots, self.longest_wait
        );
        ApiError {
            retry_after: Some(Duration::from_secs(1)),
            ..ApiError::new(429, ErrorType::RateLimitError, message).with_code("too_many_turns")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_finds_no_place_in_time_is_told_when_to_come_back() {
        let slots = TurnSlots::new(2, Duration::from_secs(30));
        let both = slots.take(2).await.unwrap();
        let refused = slots.take(1).await.unwrap_err();
        assert_eq!((refused.status, refused.retry_after), (429, Some(Duration::from_secs(1))));
        drop(both);
        assert!(slots.take(1).await.is_ok());
    }

    #[tokio::test]
    async fn more_turns_than_places_are_never_run() {
        let slots = TurnSlots::new(2, Duration::ZERO);
        let refused = slots.take(3).await.unwrap_err();
        assert_eq!(
            refused,
            ApiError::invalid(
                "n",
                "Invalid 'n': integer above maximum value. Expected a value <= 2 \
                 (PROXY_MAX_CONCURRENT_TURNS), but got 3 instead.",
            )
            .with_code("integer_above_max_value")
        );
        assert!(slots.take(2).await.is_ok());
    }
}
