//! The requests of one key in the last window of time; pure, the time is passed in.
//!
//! Written here because the crates of the field (such as `governor`) spread a rate evenly over time:
//! they let through more than the maximum in some windows or keep a burst apart that the setting
//! allows, and cannot tell exactly how many requests are left. With one time for each request, which
//! the maximum bounds, the figures that clients are told are exact, and a change of the limit counts
//! what has already been used.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::RateLimit;

/// When the requests were let in, the oldest first.
#[derive(Debug, Default)]
pub(super) struct SlidingWindow(VecDeque<Instant>);

/// What a key has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Allowance {
    /// Requests that are possible at once.
    pub(super) remaining: u32,
    /// When all of them are possible again.
    pub(super) reset: Duration,
    /// When the next one is possible, if this one was not.
    pub(super) refused: Option<Duration>,
}

// === impl SlidingWindow ===

impl SlidingWindow {
    /// Counts a request, unless the window is full: what was refused costs nothing.
    pub(super) fn take(&mut self, limit: RateLimit, now: Instant) -> Allowance {
        self.forget(limit.window, now);
        let max = usize::try_from(limit.max).unwrap_or(usize::MAX);
        let left_in = |at: Instant| limit.window.saturating_sub(now.duration_since(at));
        // More than the maximum are there if it was lowered.
        let in_the_way = self.0.len().checked_sub(max).and_then(|at| self.0.get(at)).copied();
        if in_the_way.is_none() {
            self.0.push_back(now);
        }
        Allowance {
            remaining: u32::try_from(max.saturating_sub(self.0.len())).unwrap_or(u32::MAX),
            reset: self.0.back().copied().map(left_in).unwrap_or_default(),
            refused: in_the_way.map(left_in),
        }
    }

    /// Whether nothing is left of it.
    pub(super) fn is_over(&mut self, window: Duration, now: Instant) -> bool {
        self.forget(window, now);
        self.0.is_empty()
    }

    fn forget(&mut self, window: Duration, now: Instant) {
        let is_over = |at: &Instant| now.duration_since(*at) >= window;
        while self.0.front().is_some_and(is_over) {
            self.0.pop_front();
        }
    }
}

#[cfg(test)]
mod tests;
