//! The HTTP side: for now the health of the process and of its child.

mod bind;
mod health;

pub use bind::{BindError, bind_loopback};
pub use health::{Readiness, WorkerHealth};

use axum::Router;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Serves until `stop` is cancelled, then finishes the requests that are under way.
pub async fn serve(
    listeners: Vec<TcpListener>,
    readiness: watch::Receiver<Readiness>,
    stop: CancellationToken,
) {
    let tasks = TaskTracker::new();
    let app = routes(readiness);
    for listener in listeners {
        let server = axum::serve(listener, app.clone())
            .with_graceful_shutdown(stop.clone().cancelled_owned());
        tasks.spawn(async move {
            if let Err(error) = server.await {
                tracing::error!(%error, "the server stopped");
            }
        });
    }
    tasks.close();
    tasks.wait().await;
}

fn routes(readiness: watch::Receiver<Readiness>) -> Router {
    health::routes(readiness).fallback(not_found)
}

/// Every unknown path answers in the shape that OpenAI's clients read.
async fn not_found(uri: Uri) -> Response {
    let path = uri.path();
    let body = json!({"error": {
        "message": format!("Unknown path {path}. There are /healthz, /livez and /readyz."),
        "type": "invalid_request_error",
        "param": null,
        "code": "unknown_path",
    }});
    (StatusCode::NOT_FOUND, axum::Json(body)).into_response()
}
