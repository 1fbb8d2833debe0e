//! Growing pauses between tries.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

/// Pauses that double up to a maximum, each shortened at random by up to a half, so that those
/// who failed together do not come back together.
#[derive(Debug)]
pub(crate) struct Backoff {
    next: Duration,
    max: Duration,
}

// === impl Backoff ===

impl Backoff {
    pub(crate) fn new(initial: Duration, max: Duration) -> Self {
        Self { next: initial.min(max), max }
    }

    pub(crate) fn next_pause(&mut self) -> Duration {
        let whole = self.next;
        self.next = (whole * 2).min(self.max);
        whole.mul_f64(random_between(0.5, 1.0))
    }
}

/// The standard library seeds its hash maps at random: enough for spreading pauses.
fn random_between(low: f64, high: f64) -> f64 {
    let random = u32::try_from(RandomState::new().hash_one(0) >> 32).unwrap_or(0);
    low + (high - low) * f64::from(random) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_the_maximum() {
        let mut backoff = Backoff::new(Duration::from_millis(100), Duration::from_millis(350));
        for whole in [100, 200, 350, 350] {
            let pause = backoff.next_pause();
            let whole = Duration::from_millis(whole);
            assert!(pause >= whole / 2 && pause <= whole, "{pause:?} of {whole:?}");
        }
    }
}
