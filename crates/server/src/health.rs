//! Health: is the process alive, and can it serve turns?

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::watch;

/// Whether turns can be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readiness {
    /// The child has not finished its handshake.
    Starting,
    /// The child is ready.
    Ready {
        /// Version of Codex.
        codex: String,
    },
    /// The child is not usable.
    Unavailable {
        /// Why.
        reason: String,
    },
}

type Source = watch::Receiver<Readiness>;

pub(crate) fn routes(readiness: Source) -> Router {
    Router::new()
        .route("/livez", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .route("/healthz", get(health))
        .with_state(readiness)
}

/// 200 only while turns can be served.
async fn ready(State(readiness): State<Source>) -> Response {
    let report = report(&readiness.borrow());
    let status =
        if report["ready"] == true { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(report)).into_response()
}

/// Always 200 while the process answers: the details are for people.
async fn health(State(readiness): State<Source>) -> Json<Value> {
    Json(report(&readiness.borrow()))
}

fn report(readiness: &Readiness) -> Value {
    let version = env!("CARGO_PKG_VERSION");
    match readiness {
        Readiness::Starting => json!({"ready": false, "state": "starting", "version": version}),
        Readiness::Ready { codex } => {
            json!({"ready": true, "state": "ready", "version": version, "codex": codex})
        }
        Readiness::Unavailable { reason } => {
            json!({"ready": false, "state": "unavailable", "version": version, "reason": reason})
        }
    }
}
