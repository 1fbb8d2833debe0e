//! What code takes from its surroundings without being given it: time and randomness.

use std::time::{Duration, Instant, SystemTime};

/// The present: the runtime's, which a test can pause.
pub fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The time since then.
pub fn since(then: Instant) -> Duration {
    now().saturating_duration_since(then)
}

/// The present by the clock on the wall, which can jump.
pub fn wall_time() -> SystemTime {
    SystemTime::now()
}

/// Fills it with bytes that cannot be guessed.
///
/// # Errors
/// If the system has none.
pub fn fill_random(bytes: &mut [u8]) -> Result<(), getrandom::Error> {
    getrandom::fill(bytes)
}
