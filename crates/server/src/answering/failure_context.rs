//! What only the server knows about a failed turn: where to sign in, when a limit is over.

use std::fmt;
use std::time::{Duration, Instant};

use bridge::AskedUpstream;
use codex_app_server::account::{LimitWindow, RateLimits};
use codex_app_server::{Failure, FailureKind, WorkerState};
use jiff::Timestamp;
use openai_wire::ApiError;

use crate::api::Api;
use crate::time_words::{how_long, when};

/// When a server that stops may be there again.
const AFTER_RESTART: Duration = Duration::from_secs(5);

/// How long a child takes to start, generously.
const CHILD_STARTS_WITHIN: Duration = Duration::from_secs(1);

/// Around the turns of a request, for those that fail.
pub(crate) struct FailureContext {
    pub(super) api: Api,
    pub(super) asked: WhoIsAsked,
}

/// Whom the turns ask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WhoIsAsked {
    /// Where the login leads.
    OfLogin {
        /// Where the page is for this client.
        page: Option<String>,
    },
    /// An upstream that was set up, or that of `demo`.
    Own,
}

// === impl FailureContext ===

impl FailureContext {
    /// The error for a client that has got nothing yet.
    ///
    /// A record has what [`bridge::api_error`] says instead, which is the same wherever it is played.
    pub(crate) async fn explain(&self, failure: &Failure) -> ApiError {
        let asked = match &self.asked {
            WhoIsAsked::OfLogin { page } => AskedUpstream::OfLogin { page: page.as_deref() },
            WhoIsAsked::Own => AskedUpstream::Own,
        };
        let error = bridge::api_error_of(failure, asked);
        match failure.kind {
            FailureKind::UsageLimit => match &self.asked {
                WhoIsAsked::OfLogin { .. } => self.used_up(error).await,
                WhoIsAsked::Own => error,
            },
            FailureKind::ChildGone => self.restarting(error),
            FailureKind::Stopping => ApiError { retry_after: Some(AFTER_RESTART), ..error },
            _ => error,
        }
    }

    /// Codex tells the time in its own zone, and nothing where it does not know any.
    async fn used_up(&self, error: ApiError) -> ApiError {
        let Some(backend) = self.api.0.backend.get() else { return error };
        let limits = backend.account.used_up().await;
        match limits.and_then(|limits| limit_reached(&limits, Timestamp::now())) {
            Some((message, wait)) => ApiError { message, retry_after: Some(wait), ..error },
            None => error,
        }
    }

    fn restarting(&self, error: ApiError) -> ApiError {
        let Some(backend) = self.api.0.backend.get() else { return error };
        let states = backend.pool.states();
        let next_try = states.borrow().iter().filter_map(WorkerState::next_try).min();
        let is_checked = states.borrow().iter().any(|state| state.broken_promise().is_some());
        let what = if is_checked { "checked" } else { "started" };
        let pause = next_try.map(|at| at.saturating_duration_since(Instant::now()));
        let wait = pause.unwrap_or_default() + CHILD_STARTS_WITHIN;
        let message = format!("Codex is being {what} again. Try again in {}.", how_long(wait));
        ApiError { message, retry_after: Some(wait), ..error }
    }
}

impl fmt::Debug for FailureContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FailureContext").field("asked", &self.asked).finish_non_exhaustive()
    }
}

/// Which limit is reached and when it is over, in words, and how long that is.
fn limit_reached(limits: &RateLimits, now: Timestamp) -> Option<(String, Duration)> {
    let windows = [limits.primary, limits.secondary].into_iter().flatten();
    let full = windows.filter(LimitWindow::is_used_up).filter_map(|window| window.resets_at);
    // All of them have to be over.
    let resets_at = Timestamp::from_second(i64::try_from(full.max()?).ok()?).ok()?;
    let wait =
        Duration::try_from(resets_at.duration_since(now)).ok().filter(|wait| !wait.is_zero())?;
    let plan = limits.plan.as_deref().map(|plan| format!(" of the plan {plan}"));
    let message = format!(
        "The usage limit{} is reached; it resets in {}, at {}.",
        plan.unwrap_or_default(),
        how_long(wait),
        when(resets_at, now),
    );
    Some((message, wait))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_800_000_000;

    fn window(used_percent: u8, resets_in: i64) -> LimitWindow {
        let resets_at = u64::try_from(NOW + resets_in).ok();
        LimitWindow { used_percent, length: None, resets_at }
    }

    fn reached(limits: &RateLimits) -> Option<(String, Duration)> {
        limit_reached(limits, Timestamp::from_second(NOW).unwrap())
    }

    #[test]
    fn the_limit_that_lasts_longest_is_told() {
        let plan = Some("plus".to_owned());
        let mut limits =
            RateLimits { plan, primary: Some(window(100, 7_800)), ..RateLimits::default() };
        let words = "The usage limit of the plan plus is reached; it resets in 2 hours 10 minutes, \
                     at 10:10 UTC.";
        assert_eq!(reached(&limits), Some((words.to_owned(), Duration::from_secs(7_800))));

        limits.plan = None;
        limits.secondary = Some(window(100, 273_600));
        let words = "The usage limit is reached; it resets in 3 days 4 hours, at 2027-01-18 12:00 \
                     UTC.";
        assert_eq!(reached(&limits), Some((words.to_owned(), Duration::from_secs(273_600))));
    }

    #[test]
    fn a_limit_that_is_not_reached_or_over_is_not_told() {
        for primary in [None, Some(window(99, 60)), Some(window(100, 0))] {
            let limits = RateLimits { primary, ..RateLimits::default() };
            assert_eq!(reached(&limits), None);
        }
    }
}
