//! The HTTP side: who is let in, what answers where, and the health of the process.

mod account_limits;
mod alarm;
mod answering;
mod api;
mod api_error;
mod bind;
mod body;
mod captures;
mod chat;
mod client_name;
mod connections;
mod content_log;
mod control;
mod gate;
mod headers;
mod health;
mod identity;
mod kept_reasoning;
mod large_bodies;
mod metrics;
mod models;
mod network;
mod page;
mod rate_limit;
mod recent_turns;
mod remote_images;
mod request_info;
mod request_trace;
mod responses;
mod route_table;
mod routes;
mod time_words;
mod tokens;
mod turn_queue;
mod turn_record;
mod unknown_path;
mod usage_report;

use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use connections::Connections;
use gate::Gate;
use health::Health;

pub use account_limits::AccountLimits;
pub use api::{Api, ApiSettings, Backend, Database};
pub use api_error::ErrorResponse;
pub use bind::{BindError, bind};
pub use body::{BodyLimits, WholeBody, check_json_depth, read_body};
pub use captures::{CaptureSettings, CapturedContent};
pub use connections::{ConnectionLimits, IdleTimeout};
pub use content_log::ContentLog;
pub use control::{ShownSetting, ShownSettings};
pub use gate::{
    Access, AccessSettings, AllowedHost, AllowedOrigin, ApiKey, Caller, GateSettings, InvalidHost,
    InvalidOrigin, KeyReload, REQUEST_SPAN, RequestId, TraceContext, TraceId,
};
pub use health::Readiness;
pub use identity::{IDENTITY_PATH, Nonce, RunSecret};
pub use large_bodies::{BodyRoom, LargeBodies};
pub use metrics::{Described, Kind, METRICS};
pub use models::{ModelDirectory, describe_models};
pub use network::{Listener, Stream};
pub use rate_limit::RateLimit;
pub use remote_images::ImageFetcher;
pub use request_info::{Endpoint, RequestInfo};
pub use request_trace::{RequestTrace, TraceReceiver, TraceSender, TurnTrace, trace_queue};
pub use responses::ResponsesSettings;
pub use routes::ApiRoutes;
pub use turn_queue::{QueueLimits, TurnQueue};

/// What is served, and to whom.
#[derive(Debug)]
pub struct App {
    /// The API.
    pub api: ApiRoutes,
    /// Whether turns can be served.
    pub readiness: watch::Receiver<Readiness>,
    /// The queue before the turns, whose state is told beside.
    pub queue: TurnQueue,
    /// Who is let in.
    pub access: Access,
    /// What proves to the owner's commands that it is this server.
    pub run_secret: RunSecret,
    /// What is asked of them.
    pub gate: GateSettings,
    /// What connections may cost.
    pub limits: ConnectionLimits,
}

/// Serves until `stop` is cancelled, then finishes the requests that are under way.
pub async fn serve(listeners: Vec<impl Listener>, app: App, stop: CancellationToken) {
    let App { api, readiness, queue, access, run_secret, gate, limits } = app;
    let health = Health { started: ambient::now(), readiness, queue, access: access.clone() };
    let identity = identity::routes(run_secret);
    let gate = Gate::new(access.clone(), routes::router(api, health, identity, &access, &gate));
    let tasks = TaskTracker::new();
    let connections = Arc::new(Connections::new(gate, limits, tasks.clone(), stop));
    for listener in listeners {
        tasks.spawn(Arc::clone(&connections).accept(listener));
    }
    tasks.close();
    tasks.wait().await;
}
