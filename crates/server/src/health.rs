//! Health: is the process alive, and can it serve turns?

use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use codex_app_server::{BrokenPromise, CanaryState, EarlyArguments, Promise, WorkerState};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::gate::Access;
use crate::turn_queue::TurnQueue;

/// Whether turns can be served.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Every child; none before the first one is being started.
    pub workers: Vec<WorkerState>,
}

/// A canary that could not be played is played again by then; another Codex may be there later.
const UNTESTED_RETRY: Duration = Duration::from_secs(10);

/// Where health is told.
pub(crate) const PATHS: [&str; 3] = ["/healthz", "/livez", "/readyz"];

/// What is told.
#[derive(Clone)]
pub(crate) struct Health {
    pub(crate) started: Instant,
    pub(crate) readiness: watch::Receiver<Readiness>,
    /// Has the names of others.
    pub(crate) queue: TurnQueue,
    pub(crate) access: Access,
}

/// Why no turns can be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unready {
    Starting,
    /// No child has passed its canary.
    Untested(Promise),
    Restarting {
        /// When it is tried again.
        after: Duration,
    },
    Stopping,
}

pub(crate) fn routes(health: Health) -> Router {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(show_readiness))
        .route("/healthz", get(show_health))
        .with_state(health)
}

/// 200 only while turns can be served; otherwise why, in a word that a program can read.
async fn show_readiness(State(health): State<Health>, headers: HeaderMap) -> Response {
    let now = ambient::now();
    let unready = health.readiness.borrow().unready(now);
    let mut shown = match unready {
        None => json!({"ready": true}),
        Some(unready) => json!({"ready": false, "reason": unready.code()}),
    };
    if let Some(Unready::Untested(promise)) = unready {
        merge(&mut shown, json!({"broken_promise": promise.as_str()}));
    }
    health.add_details(&mut shown, &headers, now);
    match unready {
        None => Json(shown).into_response(),
        Some(unready) => {
            let retry_after = [(header::RETRY_AFTER, unready.retry_after())];
            (StatusCode::SERVICE_UNAVAILABLE, retry_after, Json(shown)).into_response()
        }
    }
}

/// Always 200 while the process answers: it is for people.
async fn show_health(State(health): State<Health>, headers: HeaderMap) -> Json<Value> {
    let now = ambient::now();
    let status = health.readiness.borrow().unready(now).map_or("ok", Unready::code);
    let mut shown = json!({"status": status});
    health.add_details(&mut shown, &headers, now);
    Json(shown)
}

// === impl Health ===

impl Health {
    /// For somebody with a key: what Codex or the system has said may name files of the owner's, and
    /// the queue has the names of others.
    fn add_details(&self, shown: &mut Value, headers: &HeaderMap, now: Instant) {
        if self.access.caller(headers).is_err() {
            return;
        }
        let readiness = self.readiness.borrow();
        let workers: Vec<Value> =
            readiness.workers.iter().map(|worker| report_on(worker, now)).collect();
        merge(
            shown,
            json!({
                "version": env!("CARGO_PKG_VERSION"),
                "uptime_seconds": now.duration_since(self.started).as_secs(),
                "workers": workers,
                "turns": self.queue.state(),
            }),
        );
    }
}

// === impl Readiness ===

impl Readiness {
    /// One child is enough.
    pub fn is_ready(&self) -> bool {
        self.workers.iter().any(WorkerState::takes_turns)
    }

    /// Whether there is nothing to wait for: a child is ready, or has failed its canary.
    pub fn is_settled(&self) -> bool {
        self.is_ready() || self.broken_promise().is_some()
    }

    /// Why no child takes turns of real models, if that is because of a canary.
    pub fn broken_promise(&self) -> Option<&BrokenPromise> {
        if self.is_ready() {
            return None;
        }
        self.workers.iter().find_map(WorkerState::broken_promise)
    }

    /// The child that is nearest to being ready speaks for all.
    pub(crate) fn unready(&self, now: Instant) -> Option<Unready> {
        if self.is_ready() {
            return None;
        }
        let starting = |worker: &WorkerState| match worker {
            WorkerState::Starting => true,
            WorkerState::Ready { canary, .. } => matches!(canary, CanaryState::Checking { .. }),
            WorkerState::Restarting { .. } | WorkerState::Stopped => false,
        };
        if self.workers.is_empty() || self.workers.iter().any(starting) {
            return Some(Unready::Starting);
        }
        if let Some(broken) = self.broken_promise() {
            return Some(Unready::Untested(broken.promise));
        }
        let tries = self.workers.iter().filter_map(WorkerState::next_try);
        let tries = tries.map(|at| at.saturating_duration_since(now));
        Some(tries.min().map_or(Unready::Stopping, |after| Unready::Restarting { after }))
    }
}

// === impl Unready ===

impl Unready {
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::Starting => "codex_starting",
            Self::Untested(_) => "codex_untested",
            Self::Restarting { .. } => "codex_restarting",
            Self::Stopping => "shutting_down",
        }
    }

    /// In seconds: when it is worth asking again.
    fn retry_after(self) -> HeaderValue {
        let after = match self {
            Self::Starting | Self::Stopping => Duration::ZERO,
            Self::Untested(_) => UNTESTED_RETRY,
            Self::Restarting { after } => after,
        };
        HeaderValue::from(after.as_secs() + 1)
    }
}

/// What is told about one child.
pub(crate) fn report_on(worker: &WorkerState, now: Instant) -> Value {
    match worker {
        WorkerState::Starting => json!({"state": "starting"}),
        WorkerState::Ready { version, not_renewed, early_arguments, canary, .. } => {
            let mut report = json!({
                "state": "ready",
                "codex": version.to_string(),
                "canary": canary.as_str(),
                "early_arguments": early_arguments.as_str(),
            });
            if let Some(broken) = canary.broken() {
                let promise = broken.promise.as_str();
                merge(
                    &mut report,
                    json!({"broken_promise": promise, "canary_failed": broken.reason.as_ref()}),
                );
            }
            if let CanaryState::Passed { git_attribution: true } = canary {
                merge(&mut report, json!({"git_attribution": true}));
            }
            if let EarlyArguments::Lost(reason) = early_arguments {
                merge(&mut report, json!({"early_arguments_lost": reason.as_ref()}));
            }
            if let Some(reason) = not_renewed {
                merge(&mut report, json!({"not_renewed": reason.as_ref()}));
            }
            report
        }
        WorkerState::Restarting { reason, failures, next_try } => {
            let left = next_try.saturating_duration_since(now).as_millis();
            json!({
                "state": "restarting",
                "reason": reason.as_ref(),
                "failures": failures,
                "next_try_ms": u64::try_from(left).unwrap_or(u64::MAX),
            })
        }
        WorkerState::Stopped => json!({"state": "stopped"}),
    }
}

pub(crate) fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn restarting(now: Instant, after: u64) -> WorkerState {
        let next_try = now + Duration::from_millis(after);
        WorkerState::Restarting { reason: "it has gone".into(), failures: 2, next_try }
    }

    fn ready(not_renewed: Option<&str>) -> WorkerState {
        checked(not_renewed, CanaryState::Passed { git_attribution: not_renewed.is_some() })
    }

    fn untested(allowed: bool) -> WorkerState {
        let broken = BrokenPromise { promise: Promise::Tools, reason: "a tool".into() };
        checked(None, CanaryState::Failed { broken, allowed })
    }

    fn checked(not_renewed: Option<&str>, canary: CanaryState) -> WorkerState {
        WorkerState::Ready {
            canary,
            version: "1.2.3".parse().unwrap(),
            process_id: None,
            not_renewed: not_renewed.map(Into::into),
            early_arguments: match not_renewed {
                None => EarlyArguments::On,
                Some(_) => EarlyArguments::Lost("no fragments".into()),
            },
        }
    }

    #[test]
    fn one_ready_child_is_enough_and_else_the_nearest_speaks_for_all() {
        let now = Instant::now();
        let [late, soon] = [restarting(now, 2_750), restarting(now, 750)];
        let checking = checked(None, CanaryState::Checking { allowed: false });
        let after = |millis| Unready::Restarting { after: Duration::from_millis(millis) };
        for (workers, unready, retry_after) in [
            (vec![late.clone(), ready(None)], None, None),
            (vec![], Some(Unready::Starting), Some("1")),
            (vec![late.clone(), WorkerState::Starting], Some(Unready::Starting), Some("1")),
            (vec![checking, untested(false)], Some(Unready::Starting), Some("1")),
            (
                vec![late.clone(), untested(false)],
                Some(Unready::Untested(Promise::Tools)),
                Some("11"),
            ),
            (vec![untested(false), untested(true)], None, None),
            (vec![late.clone(), soon], Some(after(750)), Some("1")),
            (vec![late, WorkerState::Stopped], Some(after(2_750)), Some("3")),
            (vec![WorkerState::Stopped], Some(Unready::Stopping), Some("1")),
        ] {
            let found = Readiness { workers }.unready(now);
            assert_eq!(found, unready);
            let told = found.map(Unready::retry_after);
            assert_eq!(told.as_ref().map(|told| told.to_str().unwrap()), retry_after);
        }
    }

    #[test]
    fn each_child_is_shown_to_those_with_the_key() {
        let now = Instant::now();
        assert_eq!(
            [
                restarting(now, 750),
                ready(None),
                ready(Some("no disk")),
                untested(false),
                WorkerState::Starting
            ]
            .map(|worker| report_on(&worker, now)),
            [
                json!({
                    "state": "restarting", "reason": "it has gone", "failures": 2, "next_try_ms": 750,
                }),
                json!({
                    "state": "ready", "codex": "1.2.3", "canary": "passed", "early_arguments": "on",
                }),
                json!({
                    "state": "ready", "codex": "1.2.3", "not_renewed": "no disk",
                    "canary": "passed", "git_attribution": true,
                    "early_arguments": "lost", "early_arguments_lost": "no fragments",
                }),
                json!({
                    "state": "ready", "codex": "1.2.3", "canary": "failed",
                    "broken_promise": "no_own_tools", "canary_failed": "a tool",
                    "early_arguments": "on",
                }),
                json!({"state": "starting"}),
            ]
        );
    }
}
