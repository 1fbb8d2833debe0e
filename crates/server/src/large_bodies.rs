//! Room for requests that are large, which few may be at once.

use std::sync::Arc;
use std::time::Duration;

use openai_wire::{ApiError, ErrorType};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// A body from here on is large.
pub(crate) const LARGE: usize = 256 * 1024;

/// How many of them are read, or wait for their turns, at once.
const AT_ONCE: usize = 8;

/// When it is worth a try again.
const SOON: Duration = Duration::from_secs(1);

/// Keeps the memory for requests whose turns do not run yet within bounds: a small body needs no
/// room, and of a large one no more is read until there is some. Clones share it.
#[derive(Debug, Clone)]
pub struct LargeBodies(Arc<Semaphore>);

/// Room for a large body, free again when dropped.
#[derive(Debug)]
pub struct BodyRoom(#[expect(dead_code, reason = "held for its drop")] OwnedSemaphorePermit);

// === impl LargeBodies ===

impl Default for LargeBodies {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_ONCE)))
    }
}

impl LargeBodies {
    /// Waits for room, first come, first served.
    ///
    /// # Errors
    /// If there is none within that time (429).
    pub(crate) async fn room(&self, within: Duration) -> Result<BodyRoom, ApiError> {
        match timeout(within, Arc::clone(&self.0).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(BodyRoom(permit)),
            Ok(Err(_)) | Err(_) => Err(no_room(within)),
        }
    }
}

fn no_room(within: Duration) -> ApiError {
    let message = format!(
        "{AT_ONCE} requests of more than {LARGE} bytes are read or wait for their turns already, and \
         none made room within {} ms (PROXY_QUEUE_WAIT_MS).",
        within.as_millis()
    );
    ApiError {
        retry_after: Some(SOON),
        ..ApiError::new(429, ErrorType::RateLimitError, message)
            .with_code("too_many_large_requests")
    }
}
