//! The HTTP side: who is let in, what answers where, and the health of the process.

mod api;
mod api_error;
mod bind;
mod body;
mod chat;
mod connections;
mod gate;
pub mod headers;
mod health;
mod metrics;
mod models;
mod remote_images;
mod routes;
mod slots;
mod tokens;
mod unknown_path;

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use connections::Connections;
use gate::Gate;

pub use api::{Api, ApiSettings, Backend};
pub use api_error::ErrorResponse;
pub use bind::{BindError, Listen, bind, bind_loopback};
pub use body::{check_json_depth, read_body};
pub use connections::ConnectionLimits;
pub use gate::{
    Access, AccessSettings, AllowedHost, AllowedOrigin, ApiKey, Caller, GateSettings, InvalidHost,
    InvalidOrigin, RequestId,
};
pub use health::Readiness;
pub use models::ModelDirectory;
pub use remote_images::ImageFetcher;
pub use routes::ApiRoutes;

/// What is served, and to whom.
#[derive(Debug)]
pub struct App {
    /// The API.
    pub api: ApiRoutes,
    /// Whether turns can be served.
    pub readiness: watch::Receiver<Readiness>,
    /// Who is let in.
    pub access: Access,
    /// What is asked of them.
    pub gate: GateSettings,
    /// What one connection may cost.
    pub limits: ConnectionLimits,
}

/// Serves until `stop` is cancelled, then finishes the requests that are under way.
pub async fn serve(listeners: Vec<TcpListener>, app: App, stop: CancellationToken) {
    let routes = routes::router(app.api, app.readiness, &app.access, &app.gate);
    let gate = Gate::new(app.access, routes);
    let tasks = TaskTracker::new();
    let connections = Arc::new(Connections::new(gate, &app.limits, tasks.clone(), stop));
    for listener in listeners {
        tasks.spawn(Arc::clone(&connections).accept(listener));
    }
    tasks.close();
    tasks.wait().await;
}
