//! What the API's handlers share.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bridge::TurnSettings;
use codex_app_server::{ModelAliases, Pool, TurnOptions};
use openai_wire::{ApiError, ErrorType};
use serde_json::{Value, json};
use tokio::sync::SetOnce;
use tokio_util::task::TaskTracker;

use crate::api_error::ErrorResponse;
use crate::chat;
use crate::metrics::Metrics;
use crate::models::{ModelDirectory, unknown_model};
use crate::remote_images::ImageFetcher;
use crate::routes::ApiRoutes;
use crate::slots::TurnSlots;

/// How long a request waits for the backend at the start of the process.
const BACKEND_WITHIN: Duration = Duration::from_secs(10);

/// The API: handlers and what they share. Cloning is cheap.
#[derive(Clone)]
pub struct Api(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    settings: ArcSwap<ApiSettings>,
    pub(crate) slots: TurnSlots,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tasks: TaskTracker,
    backend: SetOnce<Backend>,
}

/// What is chosen about the API.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// About every answer.
    pub turns: Arc<TurnSettings>,
    /// About every turn.
    pub turn_options: TurnOptions,
    /// Other names of models.
    pub aliases: ModelAliases,
    /// Settings that differ from their defaults, for the log.
    pub differing: Arc<str>,
    /// Silence in a stream after which a comment is sent.
    pub keep_alive: Option<Duration>,
    /// Most turns at once.
    pub max_turns: u32,
    /// How long a request waits for its turns to be let in.
    pub longest_wait: Duration,
    /// The longest body of a request.
    pub max_body_bytes: usize,
    /// How deep the JSON of a request may be nested.
    pub max_json_depth: usize,
    /// Whether there is `/metrics`.
    pub metrics: bool,
}

/// Who answers.
pub struct Backend {
    /// The children.
    pub pool: Pool,
    /// Their models.
    pub models: ModelDirectory,
    /// Who fetches images that a request names by their address.
    pub images: ImageFetcher,
}

// === impl Api ===

impl Api {
    /// The API without a backend: requests wait for [`Self::open`].
    pub fn new(settings: ApiSettings) -> Self {
        Self(Arc::new(Inner {
            slots: TurnSlots::new(settings.max_turns, settings.longest_wait),
            settings: ArcSwap::from_pointee(settings),
            metrics: Arc::default(),
            tasks: TaskTracker::new(),
            backend: SetOnce::new(),
        }))
    }

    /// From now on requests are answered in this way. Those that are under way are not affected.
    pub fn change(&self, settings: ApiSettings) {
        self.0.settings.store(Arc::new(settings));
    }

    /// How requests are answered now; a request asks once.
    pub(crate) fn settings(&self) -> Arc<ApiSettings> {
        self.0.settings.load_full()
    }

    /// From now on requests are answered.
    pub fn open(&self, backend: Backend) {
        // There is one backend in the life of a process.
        let _ = self.0.backend.set(backend);
    }

    /// The paths that it answers.
    pub fn routes(&self) -> ApiRoutes {
        let api = || self.clone();
        let mut routes = ApiRoutes::new()
            .route("/chat/completions", post(chat::complete).with_state(api()))
            .route("/models", get(list_models).with_state(api()))
            .route("/models/{id}", get(show_model).with_state(api()));
        if self.settings().metrics {
            routes = routes.route("/metrics", get(show_metrics).with_state(api()));
        }
        routes
    }

    pub(crate) async fn backend(&self) -> Result<&Backend, ApiError> {
        if let Some(backend) = self.0.backend.get() {
            return Ok(backend);
        }
        tokio::time::timeout(BACKEND_WITHIN, self.0.backend.wait()).await.map_err(|_| {
            let message = "Codex is still starting; /readyz says how far it is.";
            ApiError {
                retry_after: Some(Duration::from_secs(1)),
                ..ApiError::new(503, ErrorType::ServerError, message).with_code("codex_unavailable")
            }
        })
    }
}

/// `GET /v1/models`
async fn list_models(State(api): State<Api>) -> Result<Response, ErrorResponse> {
    let names = api.backend().await?.models.names(&api.settings().aliases).await?;
    let models: Vec<Value> = names.iter().map(|name| model(name)).collect();
    Ok(axum::Json(json!({"object": "list", "data": models})).into_response())
}

/// `GET /v1/models/{id}`
async fn show_model(
    State(api): State<Api>,
    Path(id): Path<String>,
) -> Result<Response, ErrorResponse> {
    if api.backend().await?.models.contains(&id, &api.settings().aliases).await? {
        Ok(axum::Json(model(&id)).into_response())
    } else {
        Err(unknown_model(&id).into())
    }
}

/// The catalog does not say when a model was made.
fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "codex"})
}

/// `GET /metrics`
async fn show_metrics(State(api): State<Api>) -> Result<Response, ErrorResponse> {
    let text = api.0.metrics.encode().map_err(|_| {
        ApiError::new(500, ErrorType::ServerError, "The metrics could not be written.")
    })?;
    let kind =
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
