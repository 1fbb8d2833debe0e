//! Every request is counted once, when it is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use axum::http::StatusCode;
use bridge::EndReason;

use crate::metrics::{Metrics, Outcome, Route};

/// A request that is under way. Dropping it says that it is over, however that came.
#[derive(Debug)]
pub(crate) struct Counted {
    metrics: Arc<Metrics>,
    route: Route,
    since: Instant,
    fate: Fate,
    /// `None` until there is an answer.
    status: Option<StatusCode>,
    /// Whether the answer came to its end.
    complete: bool,
}

/// What becomes of a request whose answer has begun well; handlers find it among the request's
/// extensions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fate(Arc<AtomicU8>);

/// What a [`Fate`] knows.
const UNKNOWN: u8 = 0;
const FAILED: u8 = 1;
const SLOW_CLIENT: u8 = 2;

// === impl Counted ===

impl Counted {
    pub(crate) fn new(metrics: Arc<Metrics>, route: Route) -> Self {
        let since = ambient::now();
        Self { metrics, route, since, fate: Fate::default(), status: None, complete: false }
    }

    pub(crate) fn fate(&self) -> &Fate {
        &self.fate
    }

    /// There is an answer.
    pub(crate) fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
    }

    /// The answer has come to its end.
    pub(crate) fn complete(&mut self) {
        self.complete = true;
    }

    fn outcome(&self) -> Outcome {
        match self.status {
            None => Outcome::ClientGone,
            // Who asks whether we are ready is answered well, also if we are not.
            Some(status) if status.is_server_error() && !self.route.is_api() => Outcome::Ok,
            Some(status) if status.is_server_error() => Outcome::Failed,
            Some(status) if status.is_client_error() => Outcome::Refused,
            Some(_) => match self.fate.0.load(Ordering::Relaxed) {
                FAILED => Outcome::Failed,
                SLOW_CLIENT => Outcome::SlowClient,
                _ if self.complete => Outcome::Ok,
                _ => Outcome::ClientGone,
            },
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let status = self.status.map(|status| status.as_u16());
        self.metrics.request_ended(self.route, status, self.outcome(), ambient::since(self.since));
    }
}

// === impl Fate ===

impl Fate {
    /// A turn of the request has ended like this; the worst one counts.
    pub(crate) fn turn_ended(&self, end: EndReason) {
        let fate = match end {
            EndReason::SlowClient => SLOW_CLIENT,
            end if end.is_failure() => FAILED,
            _ => UNKNOWN,
        };
        self.0.fetch_max(fate, Ordering::Relaxed);
    }
}
