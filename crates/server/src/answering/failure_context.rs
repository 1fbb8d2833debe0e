//! What only the server knows about a failed turn: where to sign in, when a limit is over.

use std::time::Duration;

use bridge::AskedUpstream;
use codex_app_server::WorkerState;
use codex_app_server::account::{LimitWindow, RateLimits};
use jiff::Timestamp;
use model_turn::{Failure, FailureKind};
use openai_wire::ApiError;
use tokio::sync::watch;

use crate::account_limits::AccountLimits;
use crate::time_words::{how_long, when};

/// When a server that stops may be there again.
const AFTER_RESTART: Duration = Duration::from_secs(5);

/// How long a child takes to start, generously.
const CHILD_STARTS_WITHIN: Duration = Duration::from_secs(1);

/// Around the turns of a request, for those that fail.
#[derive(Debug)]
pub(crate) struct FailureContext {
    /// Of every child.
    pub(super) states: watch::Receiver<Vec<WorkerState>>,
    /// `None` for an upstream that was set up, or that of `demo`.
    pub(super) login: Option<Login>,
}

/// The login whose upstream runs the turns.
#[derive(Debug)]
pub(super) struct Login {
    pub(super) account: AccountLimits,
    /// Where the page is for this client.
    pub(super) page: Option<String>,
}

// === impl FailureContext ===

impl FailureContext {
    /// The error for a client that has got nothing yet.
    ///
    /// A record has what [`bridge::api_error`] says instead, which is the same wherever it is played.
    pub(crate) async fn explain(&self, failure: &Failure) -> ApiError {
        let asked = match &self.login {
            Some(login) => AskedUpstream::OfLogin { page: login.page.as_deref() },
            None => AskedUpstream::Own,
        };
        let error = bridge::api_error_of(failure, asked);
        match (failure.kind, &self.login) {
            (FailureKind::UsageLimit, Some(login)) => used_up(&login.account, error).await,
            (FailureKind::ChildGone, _) => self.restarting(error),
            (FailureKind::Stopping, _) => ApiError { retry_after: Some(AFTER_RESTART), ..error },
            _ => error,
        }
    }

    fn restarting(&self, error: ApiError) -> ApiError {
        let states = self.states.borrow();
        let next_try = states.iter().filter_map(WorkerState::next_try).min();
        let is_checked = states.iter().any(|state| state.broken_promise().is_some());
        let what = if is_checked { "checked" } else { "started" };
        let pause = next_try.map(|at| at.saturating_duration_since(ambient::now()));
        let wait = pause.unwrap_or_default() + CHILD_STARTS_WITHIN;
        let message = format!("Codex is being {what} again. Try again in {}.", how_long(wait));
        ApiError { message, retry_after: Some(wait), ..error }
    }
}

/// Codex formats the time in its own zone, or omits it.
async fn used_up(account: &AccountLimits, error: ApiError) -> ApiError {
    let limits = account.used_up().await;
    match limits.and_then(|limits| {
        limit_reached(&limits, Timestamp::try_from(ambient::wall_time()).unwrap_or_default())
    }) {
        Some((message, wait)) => ApiError { message, retry_after: Some(wait), ..error },
        None => error,
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
        assert_eq!(reached(&limits), Some((words.to_owned(), Duration::from_mins(130))));

        limits.plan = None;
        limits.secondary = Some(window(100, 273_600));
        let words = "The usage limit is reached; it resets in 3 days 4 hours, at 2027-01-18 12:00 \
                     UTC.";
        assert_eq!(reached(&limits), Some((words.to_owned(), Duration::from_hours(76))));
    }

    #[test]
    fn a_limit_that_is_not_reached_or_over_is_not_told() {
        for primary in [None, Some(window(99, 60)), Some(window(100, 0))] {
            let limits = RateLimits { primary, ..RateLimits::default() };
            assert_eq!(reached(&limits), None);
        }
    }
}
