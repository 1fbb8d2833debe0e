//! What answers where.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, any, get};
use axum::{Json, Router};
use openai_wire::{ApiError, ErrorType};
use serde_json::{Value, json};

use crate::api_error::ErrorResponse;
use crate::control;
use crate::gate::admission::{Admission, Audience, admit};
use crate::gate::{Access, GateSettings};
use crate::health::{self, Health};
use crate::identity::IDENTITY_PATH;
use crate::metrics::Metrics;
use crate::page;
use crate::route_table::RouteTable;
use crate::unknown_path::unknown_path;

/// The paths of the API, each with what answers there.
#[derive(Debug, Default)]
pub struct ApiRoutes {
    paths: Vec<(&'static str, MethodRouter)>,
    metrics: Arc<Metrics>,
}

/// Everything behind the gate.
pub(crate) struct Routes {
    pub(crate) router: Router,
    pub(crate) table: RouteTable,
    /// Where requests are counted.
    pub(crate) metrics: Arc<Metrics>,
}

/// Where this is told what there is.
const INDEX: &str = "/v1";

/// Every path, for people.
type Paths = Arc<[String]>;

// === impl ApiRoutes ===

impl ApiRoutes {
    /// No paths.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with requests counted here.
    pub(crate) fn counted(metrics: Arc<Metrics>) -> Self {
        Self { paths: Vec::new(), metrics }
    }

    /// Adds a path such as `/chat/completions`: it answers under `/v1` and, for clients whose base
    /// URL lacks that, without it.
    #[must_use]
    pub fn route(mut self, path: &'static str, methods: MethodRouter) -> Self {
        self.paths.push((path, methods));
        self
    }
}

/// Everything behind the gate: the API behind keys, health for anybody.
pub(crate) fn router(
    api: ApiRoutes,
    health: Health,
    identity: Router,
    access: &Access,
    settings: &GateSettings,
) -> Routes {
    let ApiRoutes { paths: api, metrics } = api;
    let others = health::PATHS.into_iter().chain(page::PATHS).chain([
        INDEX,
        IDENTITY_PATH,
        control::SESSION_PATH,
    ]);
    let table = RouteTable::new(api.iter().map(|(path, _)| *path), others);
    let paths: Paths = api
        .iter()
        // The owner's are for the page, and would only confuse whoever has mistyped a path.
        .filter(|(path, _)| !path.starts_with(control::PREFIX))
        .map(|(path, _)| format!("/v1{path}"))
        .chain(health::PATHS.map(str::to_owned))
        .collect();
    let mut router = health::routes(health)
        .merge(page::routes())
        .merge(identity)
        .merge(control::session_routes(access));
    for (path, methods) in api {
        let admission = Admission {
            access: access.clone(),
            audience: audience(path, settings),
            max_body_bytes: settings.max_body_bytes,
        };
        let methods = methods.layer(from_fn_with_state(admission, admit));
        router = router.route(path, methods.clone()).route(&format!("/v1{path}"), methods);
    }
    let index = get(index).with_state(Arc::clone(&paths));
    // No response has this id, and its path has more methods than the one of a response.
    let elsewhere = Router::new()
        .route("/responses/compact", any(not_found))
        .route("/v1/responses/compact", any(not_found))
        .fallback(not_found)
        .with_state(paths);
    Routes { router: router.route(INDEX, index).merge(elsewhere), table, metrics }
}

fn audience(path: &str, settings: &GateSettings) -> Audience {
    match path {
        "/models" | "/models/{id}" if !settings.protect_models => Audience::Readers,
        "/metrics" if !settings.protect_metrics => Audience::LocalReaders,
        _ if path.starts_with(control::PREFIX) => Audience::Owner,
        _ => Audience::KeyHolders,
    }
}

async fn index(State(paths): State<Paths>) -> Json<Value> {
    Json(json!({
        "name": "codex-completions",
        "version": env!("CARGO_PKG_VERSION"),
        "paths": paths.as_ref(),
    }))
}

async fn not_found(State(paths): State<Paths>, uri: Uri) -> ErrorResponse {
    ErrorResponse(unknown_path(uri.path(), &paths))
}

/// What decides how a request with a method that a path does not have is answered.
pub(crate) struct Tried {
    method: Method,
    /// Some clients try a WebSocket first.
    websocket: bool,
}

// === impl Tried ===

impl Tried {
    pub(crate) fn of(request: &Request) -> Self {
        let upgrade = request.headers().get(header::UPGRADE);
        Self {
            method: request.method().clone(),
            websocket: upgrade
                .is_some_and(|wanted| wanted.as_bytes().eq_ignore_ascii_case(b"websocket")),
        }
    }
}

/// Says which methods there are to somebody who has asked for them or used another.
pub(crate) fn name_methods(tried: &Tried, response: Response) -> Response {
    let Tried { method, websocket } = tried;
    if response.status() != StatusCode::METHOD_NOT_ALLOWED {
        return response;
    }
    if *websocket {
        return no_websockets();
    }
    let Some(allow) = response.headers().get(header::ALLOW).cloned() else { return response };
    let mut response = if *method == Method::OPTIONS {
        StatusCode::NO_CONTENT.into_response()
    } else {
        let allowed = allow.to_str().unwrap_or_default().replace(',', ", ");
        let message = format!("{method} is not possible on this path, only {allowed}.");
        let error = ApiError::new(405, ErrorType::InvalidRequestError, message);
        ErrorResponse(error.with_code("method_not_allowed")).into_response()
    };
    response.headers_mut().insert(header::ALLOW, allow);
    response
}

fn no_websockets() -> Response {
    let message = "There are no WebSockets here: send the request with POST, and 'stream': true for \
                   events as they come.";
    let error = ApiError::new(426, ErrorType::InvalidRequestError, message);
    let error = ErrorResponse(error.with_code("websocket_unsupported"));
    ([(header::UPGRADE, "HTTP/1.1")], error).into_response()
}
