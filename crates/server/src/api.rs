//! What the API's handlers share.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use arc_swap::ArcSwap;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderValue, Uri, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bridge::TurnSettings;
use codex_app_server::{ModelAliases, Pool, Timings, TurnOptions};
use openai_wire::{ApiError, ErrorType};
use serde_json::{Value, json};
use store::{Responses, Store, Usage};
use tokio::sync::SetOnce;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::account_limits::AccountLimits;
use crate::api_error::ErrorResponse;
use crate::body::BodyLimits;
use crate::captures::{CaptureSettings, Captures};
use crate::chat;
use crate::content_log::ContentLog;
use crate::control::{self, ShownSettings, SignIn};
use crate::gate::Caller;
use crate::kept_reasoning::KeptReasoning;
use crate::large_bodies::LargeBodies;
use crate::metrics::{Metrics, Now, Refused};
use crate::models::{ModelDirectory, unknown_model};
use crate::rate_limit::{RateLimit, RateLimiter};
use crate::recent_turns::RecentTurns;
use crate::remote_images::ImageFetcher;
use crate::request_trace::TraceSender;
use crate::responses::{self, LiveResponses, ResponsesSettings};
use crate::routes::ApiRoutes;
use crate::turn_queue::{QueueLimits, TakenPlaces, TurnQueue};
use crate::usage_report;

/// How long a request waits for the backend at the start of the process.
const BACKEND_WITHIN: Duration = Duration::from_secs(10);

/// How long a scrape waits for the database.
const METRICS_WITHIN: Duration = Duration::from_secs(1);

/// The API: handlers and what they share. Cloning is cheap.
#[derive(Clone)]
pub struct Api(pub(crate) Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) started: SystemTime,
    settings: ArcSwap<ApiSettings>,
    pub(crate) queue: TurnQueue,
    pub(crate) large: LargeBodies,
    rates: RateLimiter,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) captures: Arc<Captures>,
    pub(crate) tasks: TaskTracker,
    database: Database,
    pub(crate) usage: Result<Usage, Arc<str>>,
    pub(crate) responses: Result<Responses, Arc<str>>,
    pub(crate) live_responses: LiveResponses,
    pub(crate) reasoning: Arc<KeptReasoning>,
    pub(crate) backend: SetOnce<Backend>,
    pub(crate) traces: OnceLock<TraceSender>,
    pub(crate) recent: Arc<RecentTurns>,
    pub(crate) sign_in: SignIn,
    /// Nothing new is let in.
    pub(crate) stopping: CancellationToken,
}

/// Where it is kept what outlives the process, or why there is no such place.
pub type Database = Result<Store, Arc<str>>;

/// What is chosen about the API.
#[derive(Debug, Clone)]
pub struct ApiSettings {
    /// About every answer.
    pub turns: Arc<TurnSettings>,
    /// About every turn.
    pub turn_options: TurnOptions,
    /// Other names of models.
    pub aliases: ModelAliases,
    /// The model for names that are not known.
    pub model_fallback: Option<String>,
    /// Settings that differ from their defaults, for the log.
    pub differing: Arc<str>,
    /// Silence in a stream after which a comment is sent.
    pub keep_alive: Option<Duration>,
    /// How many turns are let in.
    pub queue: QueueLimits,
    /// How many requests of each key are let in; `None` is no such limit.
    pub rate_limit: Option<RateLimit>,
    /// What the body of a request may cost.
    pub body: BodyLimits,
    /// How deep the JSON of a request may be nested.
    pub max_json_depth: usize,
    /// Whether there is `/metrics`.
    pub metrics: bool,
    /// For how long it is kept what the turns used.
    pub usage_max_age: Duration,
    /// Which responses are kept.
    pub responses: ResponsesSettings,
    /// Whether conversations go on in the threads of their last turns.
    pub continuity: bool,
    /// Most bytes of reasoning that are kept for the results of calls; `None` keeps none.
    pub keep_reasoning: Option<usize>,
    /// Whether prompts and answers are logged.
    pub content_log: ContentLog,
    /// Whether requests are recorded.
    pub captures: Option<CaptureSettings>,
    /// All settings, for the owner.
    pub shown: Arc<ShownSettings>,
}

/// Who answers.
pub struct Backend {
    /// The children.
    pub pool: Pool,
    /// Their models.
    pub models: ModelDirectory,
    /// Who fetches images that a request names by their address.
    pub images: ImageFetcher,
    /// The account that they use.
    pub account: AccountLimits,
}

// === impl Api ===

impl Api {
    /// The API without a backend: requests wait for [`Self::open`].
    pub fn new(settings: ApiSettings, database: Database) -> Self {
        let metrics = Arc::<Metrics>::default();
        if let Ok(database) = &database {
            keep_within(database, &settings);
        }
        Self(Arc::new(Inner {
            started: SystemTime::now(),
            queue: TurnQueue::new(settings.queue),
            large: LargeBodies::counted(settings.queue.longest_wait, Arc::clone(&metrics)),
            rates: RateLimiter::default(),
            settings: ArcSwap::from_pointee(settings),
            metrics,
            captures: Arc::default(),
            tasks: TaskTracker::new(),
            usage: database.as_ref().map(Store::usage).map_err(Arc::clone),
            responses: database.as_ref().map(Store::responses).map_err(Arc::clone),
            database,
            live_responses: LiveResponses::default(),
            reasoning: Arc::default(),
            backend: SetOnce::new(),
            traces: OnceLock::new(),
            recent: Arc::default(),
            sign_in: SignIn::default(),
            stopping: CancellationToken::new(),
        }))
    }

    /// From now on requests are answered in this way. Those that are under way are not affected.
    pub fn change(&self, settings: ApiSettings) {
        self.0.queue.change(settings.queue);
        self.0.large.change(settings.queue.longest_wait);
        if let Ok(database) = &self.0.database {
            keep_within(database, &settings);
        }
        self.0.reasoning.keep_within(settings.keep_reasoning.unwrap_or(0));
        if let Some(backend) = self.0.backend.get().filter(|_| !settings.continuity) {
            backend.pool.let_go_of_kept_threads();
        }
        self.0.settings.store(Arc::new(settings));
    }

    /// How requests are answered now; a request asks once.
    pub(crate) fn settings(&self) -> Arc<ApiSettings> {
        self.0.settings.load_full()
    }

    /// Lets nothing new in; [`TurnQueue::idle`] waits for the turns that run.
    pub fn close(&self) {
        self.0.queue.close();
        self.0.large.close();
        self.0.stopping.cancel();
    }

    /// Waits until no sign-in is under way: after [`Self::close`] it ends, and leaves no tokens.
    pub async fn sign_in_ended(&self) {
        self.0.sign_in.last_ended().await;
    }

    /// Waits until the records of what is over are written.
    pub async fn captured(&self) {
        self.0.captures.written().await;
    }

    /// The queue before the turns.
    pub fn queue(&self) -> &TurnQueue {
        &self.0.queue
    }

    /// Where children tell how long they take, for the metrics.
    pub fn timings(&self) -> Timings {
        self.0.metrics.timings()
    }

    /// From now on requests whose trace is kept are told there once their turns have ended.
    pub fn send_traces_to(&self, traces: TraceSender) {
        // It is the same one for the life of a process.
        let _ = self.0.traces.set(traces);
    }

    /// From now on requests are answered.
    pub fn open(&self, backend: Backend) {
        // There is one backend in the life of a process.
        let _ = self.0.backend.set(backend);
    }

    /// The paths that it answers.
    pub fn routes(&self) -> ApiRoutes {
        let api = || self.clone();
        let routes = ApiRoutes::counted(Arc::clone(&self.0.metrics));
        let mut routes = control::add_routes(routes, self)
            .route("/chat/completions", post(chat::complete).with_state(api()))
            .route("/responses", post(responses::create).with_state(api()))
            .route("/responses/input_tokens", post(responses::input_tokens).with_state(api()))
            .route(
                "/responses/{id}",
                get(responses::show).delete(responses::delete).with_state(api()),
            )
            .route("/responses/{id}/input_items", get(responses::list_input).with_state(api()))
            .route("/responses/{id}/cancel", post(responses::cancel).with_state(api()))
            .route("/models", get(list_models).with_state(api()))
            .route("/models/{id}", get(show_model).with_state(api()))
            .route("/usage", get(usage_report::show).with_state(api()));
        if self.settings().metrics {
            routes = routes.route("/metrics", get(show_metrics).with_state(api()));
        }
        routes
    }

    /// Gives the answer of a request that asks for turns, unless its key has sent too many.
    pub(crate) async fn within_rate(
        &self,
        caller: &Caller,
        limit: Option<RateLimit>,
        answer: impl Future<Output = Result<Response, ErrorResponse>>,
    ) -> Response {
        let Some(limit) = limit else { return answer.await.into_response() };
        let standing = self.0.rates.take(caller, limit, Instant::now());
        let mut response = match standing.refusal() {
            Some(error) => {
                self.0.metrics.request_refused(Refused::RateLimitExceeded);
                ErrorResponse(error).into_response()
            }
            None => answer.await.into_response(),
        };
        standing.write(response.headers_mut());
        response
    }

    /// Places for the turns of a request.
    pub(crate) async fn take_places(
        &self,
        caller: &Caller,
        turns: u32,
    ) -> Result<TakenPlaces, ApiError> {
        let asked = Instant::now();
        let taken = self.0.queue.take(caller, turns).await;
        match &taken {
            Ok(_) => self.0.metrics.turns_let_in(asked.elapsed()),
            Err(refusal) => {
                if let Some(reason) = Refused::of(refusal) {
                    self.0.metrics.request_refused(reason);
                }
            }
        }
        taken.map_err(ApiError::from)
    }

    pub(crate) async fn backend(&self) -> Result<&Backend, ApiError> {
        if let Some(backend) = self.0.backend.get() {
            return Ok(backend);
        }
        tokio::time::timeout(BACKEND_WITHIN, self.0.backend.wait()).await.map_err(|_| {
            let message =
                "Codex is still starting. Try again in a second; /readyz says how far it is.";
            ApiError {
                retry_after: Some(Duration::from_secs(1)),
                ..ApiError::new(503, ErrorType::ServerError, message).with_code("codex_unavailable")
            }
        })
    }
}

fn keep_within(database: &Store, settings: &ApiSettings) {
    database.usage().keep_for(settings.usage_max_age);
    let ResponsesSettings { max_age, max_bytes, .. } = settings.responses;
    database.responses().keep_within(max_age, max_bytes);
}

/// `GET /v1/models`
async fn list_models(State(api): State<Api>, uri: Uri) -> Result<Response, ErrorResponse> {
    let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let efforts = query.any(|(name, value)| name == "efforts" && value == "true");
    let names = api.backend().await?.models.names(&api.settings().aliases, efforts).await?;
    let models: Vec<Value> = names.iter().map(|name| model(name)).collect();
    Ok(axum::Json(json!({"object": "list", "data": models})).into_response())
}

/// `GET /v1/models/{id}`
async fn show_model(
    State(api): State<Api>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, ErrorResponse> {
    // What is not text is no name.
    let Path(id) = id.map_err(|_| unknown_model("\u{fffd}", &[]))?;
    api.backend().await?.models.find(&id, &api.settings().aliases).await?;
    Ok(axum::Json(model(&id)).into_response())
}

/// The catalog does not say when a model was made.
fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "codex"})
}

/// What cannot be known at the moment is 0, as where nothing is stored.
async fn stored_response_bytes(api: &Api) -> u64 {
    let Ok(responses) = &api.0.responses else { return 0 };
    match tokio::time::timeout(METRICS_WITHIN, responses.held()).await {
        Ok(Ok(held)) => held.bytes,
        Ok(Err(_)) | Err(_) => 0,
    }
}

/// `GET /metrics`
async fn show_metrics(State(api): State<Api>) -> Result<Response, ErrorResponse> {
    let backend = api.0.backend.get();
    let pool = backend.map(|backend| &backend.pool);
    let now = Now {
        started: api.0.started,
        load: api.0.queue.load(),
        children: pool.map(|pool| pool.states().borrow().clone()).unwrap_or_default(),
        codex: pool.map(Pool::stats).unwrap_or_default(),
        kept: pool.map(Pool::kept_threads).unwrap_or_default(),
        allowance: backend.and_then(|backend| backend.account.now()).map(|(limits, _)| limits),
        usage_rows_lost: api.0.usage.as_ref().map_or(0, Usage::lost),
        stored_response_bytes: stored_response_bytes(&api).await,
    };
    let text = api.0.metrics.encode(&now).map_err(|_| {
        ApiError::new(500, ErrorType::ServerError, "The metrics could not be written.")
    })?;
    let kind =
        HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
