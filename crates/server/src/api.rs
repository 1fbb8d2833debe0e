//! The API: its settings, its backend, and the states of its handlers.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use axum::extract::{FromRef, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use bridge::TurnSettings;
use codex_app_server::{ModelAliases, Pool, Timings, TurnOptions};
use openai_wire::{ApiError, ErrorType};
use store::Store;
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
use crate::models::{self, ModelDirectory};
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

/// The API: the states of its handlers. Cloning is cheap.
#[derive(Clone)]
pub struct Api {
    turns: Arc<TurnApi>,
    owner: Arc<OwnerApi>,
}

/// State of the endpoints that run turns.
pub(crate) struct TurnApi {
    /// A request loads them once.
    pub(crate) settings: LiveSettings,
    pub(crate) backend: BackendCell,
    pub(crate) database: Database,
    pub(crate) queue: TurnQueue,
    pub(crate) large: LargeBodies,
    rates: RateLimiter,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) captures: Arc<Captures>,
    pub(crate) tasks: TaskTracker,
    pub(crate) live_responses: LiveResponses,
    pub(crate) reasoning: Arc<KeptReasoning>,
    pub(crate) traces: OnceLock<TraceSender>,
    pub(crate) recent: Arc<RecentTurns>,
}

/// State of the owner's endpoints.
pub(crate) struct OwnerApi {
    pub(crate) started: SystemTime,
    pub(crate) settings: LiveSettings,
    pub(crate) backend: BackendCell,
    pub(crate) queue: TurnQueue,
    pub(crate) large: LargeBodies,
    pub(crate) recent: Arc<RecentTurns>,
    pub(crate) sign_in: SignIn,
    /// Nothing new is let in.
    pub(crate) stopping: CancellationToken,
}

/// The settings in force.
pub(crate) type LiveSettings = Arc<ArcSwap<ApiSettings>>;

/// The backend, once it has started.
pub(crate) type BackendCell = Arc<SetOnce<Backend>>;

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
        keep_within(&database, &settings);
        let metrics = Arc::<Metrics>::default();
        let turns = TurnApi {
            queue: TurnQueue::new(settings.queue),
            large: LargeBodies::counted(settings.queue.longest_wait, Arc::clone(&metrics)),
            settings: Arc::new(ArcSwap::from_pointee(settings)),
            backend: Arc::default(),
            database,
            rates: RateLimiter::default(),
            metrics,
            captures: Arc::default(),
            tasks: TaskTracker::new(),
            live_responses: LiveResponses::default(),
            reasoning: Arc::default(),
            traces: OnceLock::new(),
            recent: Arc::default(),
        };
        let owner = OwnerApi {
            started: ambient::wall_time(),
            settings: Arc::clone(&turns.settings),
            backend: Arc::clone(&turns.backend),
            queue: turns.queue.clone(),
            large: turns.large.clone(),
            recent: Arc::clone(&turns.recent),
            sign_in: SignIn::default(),
            stopping: CancellationToken::new(),
        };
        Self { turns: Arc::new(turns), owner: Arc::new(owner) }
    }

    /// From now on requests are answered in this way. Those that are under way are not affected.
    pub fn change(&self, settings: ApiSettings) {
        self.turns.queue.change(settings.queue);
        self.turns.large.change(settings.queue.longest_wait);
        keep_within(&self.turns.database, &settings);
        self.turns.reasoning.keep_within(settings.keep_reasoning.unwrap_or(0));
        if let Some(backend) = self.turns.backend.get().filter(|_| !settings.continuity) {
            backend.pool.let_go_of_kept_threads();
        }
        self.turns.settings.store(Arc::new(settings));
    }

    /// Lets nothing new in; [`TurnQueue::idle`] waits for the turns that run.
    pub fn close(&self) {
        self.turns.queue.close();
        self.turns.large.close();
        self.owner.stopping.cancel();
    }

    /// Waits until no sign-in is under way: after [`Self::close`] it ends, and leaves no tokens.
    pub async fn sign_in_ended(&self) {
        self.owner.sign_in.last_ended().await;
    }

    /// Waits until the records of what is over are written.
    pub async fn captured(&self) {
        self.turns.captures.written().await;
    }

    /// The queue before the turns.
    pub fn queue(&self) -> &TurnQueue {
        &self.turns.queue
    }

    /// Where children tell how long they take, for the metrics.
    pub fn timings(&self) -> Timings {
        self.turns.metrics.timings()
    }

    /// From now on requests whose trace is kept are told there once their turns have ended.
    pub fn send_traces_to(&self, traces: TraceSender) {
        // It is the same one for the life of a process.
        let _ = self.turns.traces.set(traces);
    }

    /// From now on requests are answered.
    pub fn open(&self, backend: Backend) {
        // There is one backend in the life of a process.
        let _ = self.turns.backend.set(backend);
    }

    /// The paths that it answers.
    pub fn routes(&self) -> ApiRoutes {
        let api = || self.clone();
        let turns = || Arc::clone(&self.turns);
        let routes = ApiRoutes::counted(Arc::clone(&self.turns.metrics));
        let mut routes = control::add_routes(routes, &self.owner)
            .route("/chat/completions", post(chat::complete).with_state(turns()))
            .route("/responses", post(responses::create).with_state(turns()))
            .route("/responses/input_tokens", post(responses::input_tokens).with_state(turns()))
            .route(
                "/responses/{id}",
                get(responses::show).delete(responses::delete).with_state(api()),
            )
            .route("/responses/{id}/input_items", get(responses::list_input).with_state(api()))
            .route("/responses/{id}/cancel", post(responses::cancel).with_state(api()))
            .route("/models", get(models::list).with_state(api()))
            .route("/models/{id}", get(models::show).with_state(api()))
            .route("/usage", get(usage_report::show).with_state(api()));
        if self.turns.settings.load().metrics {
            routes = routes.route("/metrics", get(show_metrics).with_state(api()));
        }
        routes
    }
}

// === impl TurnApi ===

impl TurnApi {
    /// Gives the answer of a request that asks for turns, unless its key has sent too many.
    pub(crate) async fn within_rate(
        &self,
        caller: &Caller,
        limit: Option<RateLimit>,
        answer: impl Future<Output = Result<Response, ErrorResponse>>,
    ) -> Response {
        let Some(limit) = limit else { return answer.await.into_response() };
        let standing = self.rates.take(caller, limit, ambient::now());
        let mut response = match standing.refusal() {
            Some(error) => {
                self.metrics.request_refused(Refused::RateLimitExceeded);
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
        let asked = ambient::now();
        let taken = self.queue.take(caller, turns).await;
        match &taken {
            Ok(_) => self.metrics.turns_let_in(ambient::since(asked)),
            Err(refusal) => {
                if let Some(reason) = Refused::of(refusal) {
                    self.metrics.request_refused(reason);
                }
            }
        }
        taken.map_err(ApiError::from)
    }
}

// === impl Backend ===

impl Backend {
    /// Waits until it has started.
    pub(crate) async fn ready(cell: &SetOnce<Self>) -> Result<&Self, ApiError> {
        if let Some(backend) = cell.get() {
            return Ok(backend);
        }
        tokio::time::timeout(BACKEND_WITHIN, cell.wait()).await.map_err(|_| {
            let message =
                "Codex is still starting. Try again in a second; /readyz says how far it is.";
            ApiError {
                retry_after: Some(Duration::from_secs(1)),
                ..ApiError::new(503, ErrorType::ServerError, message).with_code("codex_unavailable")
            }
        })
    }
}

fn keep_within(database: &Database, settings: &ApiSettings) {
    let Ok(database) = database else { return };
    database.usage().keep_for(settings.usage_max_age);
    let ResponsesSettings { max_age, max_bytes, .. } = settings.responses;
    database.responses().keep_within(max_age, max_bytes);
}

/// Makes a part of the API a state of its own, for handlers that need no more.
macro_rules! part {
    ($part:ty, $name:ident) => {
        impl FromRef<Api> for $part {
            fn from_ref(api: &Api) -> Self {
                api.turns.$name.clone()
            }
        }
    };
}

part!(LiveSettings, settings);
part!(BackendCell, backend);
part!(Database, database);
part!(LiveResponses, live_responses);

/// What cannot be known at the moment is 0, as where nothing is stored.
async fn stored_response_bytes(database: &Database) -> u64 {
    let Ok(database) = database else { return 0 };
    match tokio::time::timeout(METRICS_WITHIN, database.responses().held()).await {
        Ok(Ok(held)) => held.bytes,
        Ok(Err(_)) | Err(_) => 0,
    }
}

/// `GET /metrics`
async fn show_metrics(State(Api { turns, owner }): State<Api>) -> Result<Response, ErrorResponse> {
    let backend = turns.backend.get();
    let pool = backend.map(|backend| &backend.pool);
    let now = Now {
        started: owner.started,
        load: turns.queue.load(),
        children: pool.map(|pool| pool.states().borrow().clone()).unwrap_or_default(),
        codex: pool.map(Pool::stats).unwrap_or_default(),
        kept: pool.map(Pool::kept_threads).unwrap_or_default(),
        allowance: backend.and_then(|backend| backend.account.now()),
        usage_rows_lost: turns.database.as_ref().map_or(0, |store| store.usage().lost()),
        stored_response_bytes: stored_response_bytes(&turns.database).await,
    };
    let text = turns.metrics.encode(&now).map_err(|_| {
        ApiError::new(500, ErrorType::ServerError, "The metrics could not be written.")
    })?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}
