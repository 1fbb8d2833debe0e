//! Health: is the process alive, and can it serve turns?

use std::sync::Arc;
use std::time::Instant;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use codex_app_server::WorkerState;
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

/// Where health is told.
pub(crate) const PATHS: [&str; 3] = ["/healthz", "/livez", "/readyz"];

/// What is told.
#[derive(Clone)]
pub(crate) struct Health {
    pub(crate) readiness: watch::Receiver<Readiness>,
    /// Has the names of others.
    pub(crate) queue: TurnQueue,
    pub(crate) access: Access,
}

/// How much somebody is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Somebody with a key.
    Everything,
    /// Anybody: not what Codex or the system has said, which may name files of the owner's.
    State,
}

/// Where the words are that not everybody is told.
const ELSEWHERE: &str = "told with the key, and in the log";

pub(crate) fn routes(health: Health) -> Router {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(show_readiness))
        .route("/healthz", get(show_health))
        .with_state(health)
}

/// 200 only while turns can be served.
async fn show_readiness(State(health): State<Health>, headers: HeaderMap) -> Response {
    let is_ready = health.readiness.borrow().is_ready();
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(health.report(&headers))).into_response()
}

/// Always 200 while the process answers: the details are for people.
async fn show_health(State(health): State<Health>, headers: HeaderMap) -> Json<Value> {
    Json(health.report(&headers))
}

// === impl Health ===

impl Health {
    fn report(&self, headers: &HeaderMap) -> Value {
        let told = match self.access.now().keys.caller(headers) {
            Ok(_) => Told::Everything,
            Err(_) => Told::State,
        };
        let mut report = self.readiness.borrow().report(told, Instant::now());
        if told == Told::Everything {
            merge(&mut report, json!({"turns": self.queue.state()}));
        }
        report
    }
}

// === impl Readiness ===

impl Readiness {
    /// One child is enough.
    pub fn is_ready(&self) -> bool {
        self.workers.iter().any(|worker| matches!(worker, WorkerState::Ready { .. }))
    }

    /// The best child speaks for all, and each for itself below.
    fn report(&self, told: Told, now: Instant) -> Value {
        let workers: Vec<Value> =
            self.workers.iter().map(|worker| report_on(worker, told, now)).collect();
        let rank = |worker: &&WorkerState| match worker {
            WorkerState::Ready { .. } => 0,
            WorkerState::Starting => 1,
            WorkerState::Restarting { .. } => 2,
            WorkerState::Stopped => 3,
        };
        let best = self.workers.iter().min_by_key(rank).unwrap_or(&WorkerState::Starting);
        let mut report = json!({"ready": self.is_ready(), "version": env!("CARGO_PKG_VERSION")});
        merge(&mut report, report_on(best, told, now));
        merge(&mut report, json!({"workers": workers}));
        report
    }
}

/// What is told about one child.
fn report_on(worker: &WorkerState, told: Told, now: Instant) -> Value {
    let words = |words: &Arc<str>| match told {
        Told::Everything => words.to_string(),
        Told::State => ELSEWHERE.to_owned(),
    };
    match worker {
        WorkerState::Starting => json!({"state": "starting"}),
        WorkerState::Ready { version, not_renewed, .. } => {
            let mut report = json!({"state": "ready", "codex": version.to_string()});
            if let Some(reason) = not_renewed {
                merge(&mut report, json!({"not_renewed": words(reason)}));
            }
            report
        }
        WorkerState::Restarting { reason, failures, next_try } => {
            let left = next_try.saturating_duration_since(now).as_millis();
            json!({
                "state": "restarting",
                "reason": words(reason),
                "failures": failures,
                "next_try_ms": u64::try_from(left).unwrap_or(u64::MAX),
            })
        }
        WorkerState::Stopped => json!({"state": "stopped"}),
    }
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(into), Value::Object(more)) = (into, more) {
        into.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn one_ready_child_is_enough_and_all_are_shown() {
        let now = Instant::now();
        let restarting = WorkerState::Restarting {
            reason: "it has gone".into(),
            failures: 2,
            next_try: now + Duration::from_millis(750),
        };
        let version = "1.2.3".parse().unwrap();
        let ready = WorkerState::Ready { version, process_id: None, not_renewed: None };
        let version = env!("CARGO_PKG_VERSION");
        let gone = json!({
            "state": "restarting", "reason": "it has gone", "failures": 2, "next_try_ms": 750,
        });
        let both = Readiness { workers: vec![restarting.clone(), ready] };
        assert_eq!(
            both.report(Told::Everything, now),
            json!({
                "ready": true, "version": version, "state": "ready", "codex": "1.2.3",
                "workers": [gone, {"state": "ready", "codex": "1.2.3"}],
            })
        );
        let refused = WorkerState::Ready {
            version: "1.2.3".parse().unwrap(),
            process_id: None,
            not_renewed: Some("no /home/owner/codex".into()),
        };
        let others = Readiness { workers: vec![refused, restarting.clone()] };
        let elsewhere = "told with the key, and in the log";
        assert_eq!(
            others.report(Told::State, now),
            json!({
                "ready": true, "version": version, "state": "ready", "codex": "1.2.3",
                "not_renewed": elsewhere,
                "workers": [
                    {"state": "ready", "codex": "1.2.3", "not_renewed": elsewhere},
                    {"state": "restarting", "reason": elsewhere, "failures": 2, "next_try_ms": 750},
                ],
            })
        );
        let none = Readiness { workers: vec![restarting] };
        assert_eq!(
            none.report(Told::Everything, now),
            json!({
                "ready": false, "version": version, "state": "restarting",
                "reason": "it has gone", "failures": 2, "next_try_ms": 750,
                "workers": [gone],
            })
        );
        assert_eq!(
            Readiness::default().report(Told::State, now),
            json!({"ready": false, "version": version, "state": "starting", "workers": []})
        );
    }
}
