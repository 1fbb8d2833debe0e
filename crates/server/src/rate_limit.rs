//! How many requests of each key are let in, in any window of time.

mod sliding_window;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderValue};
use openai_wire::{ApiError, ErrorType};
use parking_lot::Mutex;

use crate::gate::Caller;
use crate::headers::{
    X_RATELIMIT_LIMIT_REQUESTS, X_RATELIMIT_REMAINING_REQUESTS, X_RATELIMIT_RESET_REQUESTS,
};
use crate::time_words::how_long;
use sliding_window::{Allowance, SlidingWindow};

/// How many requests of a key are let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Most requests in any window.
    pub max: u32,
    /// The length of a window.
    pub window: Duration,
}

/// The requests of every key in the last window.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    keys: Mutex<HashMap<Caller, SlidingWindow>>,
}

/// Where a key stands after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    limit: RateLimit,
    allowance: Allowance,
}

// === impl RateLimiter ===

impl RateLimiter {
    /// Counts a request, if it may be.
    pub(crate) fn take(&self, caller: &Caller, limit: RateLimit, now: Instant) -> Standing {
        let mut keys = self.keys.lock();
        if !keys.contains_key(caller) {
            // Keys come and go: those that are not used any more are forgotten when others come.
            keys.retain(|_, used| !used.is_over(limit.window, now));
        }
        let used = keys.entry(caller.clone()).or_default();
        Standing { limit, allowance: used.take(limit, now) }
    }
}

// === impl Standing ===

impl Standing {
    /// The error for a request that was not counted.
    pub(crate) fn refusal(&self) -> Option<ApiError> {
        let next = self.allowance.refused?;
        let RateLimit { max, window } = self.limit;
        let requests = if max == 1 { "request" } else { "requests" };
        let message = format!(
            "This server's own limit is reached: a key may send {max} {requests} \
             (PROXY_RATE_LIMIT_MAX) in {} (PROXY_RATE_LIMIT_WINDOW_MS). Try again in {}.",
            how_long(window),
            how_long(next),
        );
        let error = ApiError::new(429, ErrorType::RateLimitError, message);
        Some(ApiError { retry_after: Some(next), ..error.with_code("rate_limit_exceeded") })
    }

    /// Tells it as OpenAI does.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let Allowance { remaining, reset, .. } = self.allowance;
        headers.insert(X_RATELIMIT_LIMIT_REQUESTS, HeaderValue::from(self.limit.max));
        headers.insert(X_RATELIMIT_REMAINING_REQUESTS, HeaderValue::from(remaining));
        if let Ok(reset) = HeaderValue::try_from(in_words(reset)) {
            headers.insert(X_RATELIMIT_RESET_REQUESTS, reset);
        }
    }
}

/// As OpenAI writes times: `120ms`, `59.5s`, `6m0s`, `1h0m0s`. Rounded up, to milliseconds.
fn in_words(time: Duration) -> String {
    let millis = time.as_nanos().div_ceil(1_000_000);
    if millis < 1_000 {
        return format!("{millis}ms");
    }
    let (seconds, thousandths) = (millis / 1_000, millis % 1_000);
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let fraction = format!(".{thousandths:03}");
    let fraction = fraction.trim_end_matches(['0', '.']);
    let seconds = format!("{}{fraction}s", seconds % 60);
    match (hours, minutes) {
        (0, 0) => seconds,
        (0, _) => format!("{minutes}m{seconds}"),
        _ => format!("{hours}h{minutes}m{seconds}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: RateLimit = RateLimit { max: 1, window: Duration::from_mins(1) };

    #[test]
    fn every_key_has_a_window_of_its_own() {
        let limiter = RateLimiter::default();
        let now = Instant::now();
        let take = |name, now| limiter.take(&Caller::named(name), LIMIT, now).refusal();
        assert_eq!((take("owner", now), take("phone", now)), (None, None));
        let refusal = take("owner", now + Duration::from_millis(500));
        assert_eq!(
            refusal,
            Some(ApiError {
                retry_after: Some(Duration::from_millis(59_500)),
                ..ApiError::new(
                    429,
                    ErrorType::RateLimitError,
                    "This server's own limit is reached: a key may send 1 request \
                     (PROXY_RATE_LIMIT_MAX) in 60 seconds (PROXY_RATE_LIMIT_WINDOW_MS). Try again \
                     in 60 seconds.",
                )
                .with_code("rate_limit_exceeded")
            })
        );
        assert_eq!(take("owner", now + LIMIT.window), None);
    }

    #[test]
    fn row_22_the_window_belongs_to_the_id_of_a_key() {
        let limiter = RateLimiter::default();
        let now = Instant::now();
        let is_refused =
            |id, name| limiter.take(&Caller::with_id(id, name), LIMIT, now).refusal().is_some();
        assert!(!is_refused("key_1", "phone"));
        // Rotated, and then revoked and added.
        assert!(is_refused("key_1", "phone") && !is_refused("key_2", "phone"));
    }

    #[test]
    fn keys_that_are_not_used_any_more_are_forgotten() {
        let limiter = RateLimiter::default();
        let start = Instant::now();
        for second in 0..1_000 {
            let caller = Caller::named(&format!("key-{second}"));
            limiter.take(&caller, LIMIT, start + Duration::from_secs(second));
        }
        assert_eq!(limiter.keys.lock().len(), 60);
    }

    #[test]
    fn it_is_told_as_openai_does() {
        let allowance = Allowance { remaining: 3, reset: Duration::from_mins(6), refused: None };
        let mut headers = HeaderMap::new();
        Standing { limit: LIMIT, allowance }.write(&mut headers);
        let told = |name, value| (name, HeaderValue::from_static(value));
        let expected = HeaderMap::from_iter([
            told(X_RATELIMIT_LIMIT_REQUESTS, "1"),
            told(X_RATELIMIT_REMAINING_REQUESTS, "3"),
            told(X_RATELIMIT_RESET_REQUESTS, "6m0s"),
        ]);
        assert_eq!(headers, expected);
    }

    #[test]
    fn times_are_rounded_up() {
        for (micros, words) in [
            (0, "0ms"),
            (1, "1ms"),
            (120_000, "120ms"),
            (999_001, "1s"),
            (1_500_000, "1.5s"),
            (10_020_000, "10.02s"),
            (60_000_000, "1m0s"),
            (3_600_000_000, "1h0m0s"),
            (90_061_001_000, "25h1m1.001s"),
        ] {
            assert_eq!(in_words(Duration::from_micros(micros)), words);
        }
    }
}
