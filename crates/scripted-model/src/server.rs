//! The HTTP server around the scenarios.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answer::Script;
use crate::failures::ErrorReply;
use crate::gateway;
use crate::ids::Ids;
use crate::playback;
use crate::record::{Counters, Memory, Record, RecordedRequest};
use crate::request::Request;
use crate::scenario;
use crate::wire::Wire;

/// A few megabytes at most, or an hour of silence.
const MOST_FOR_OWNER: u64 = 4_000_000;

/// A running scripted model. Dropping it stops the server and cuts its responses.
pub struct ScriptedModel {
    address: SocketAddr,
    record: Arc<Record>,
    tasks: JoinSet<()>,
    _stop: DropGuard,
}

impl ScriptedModel {
    /// Starts a server on 127.0.0.1, on a port that the system chooses.
    ///
    /// # Errors
    /// If no port can be listened on.
    pub async fn start() -> io::Result<Self> {
        Self::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).await
    }

    /// Starts the model `demo` of a product: it answers whoever has the key, remembers nothing of
    /// what is said, and says nothing of any size.
    ///
    /// # Errors
    /// If no port can be listened on.
    pub async fn demo(key: &str) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self::bind_for(address, Audience::of_owner(key), Memory::Counters).await
    }

    /// The same, but requests with the key are recorded: for a few of them, of no content.
    ///
    /// # Errors
    /// If no port can be listened on.
    pub async fn recording_demo(key: &str) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self::bind_for(address, Audience::of_owner(key), Memory::Requests).await
    }

    /// Starts a server on an address.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        Self::bind_for(address, Audience::Tests, Memory::Requests).await
    }

    /// Starts a server that gateways can be put in front of: it has whole answers and chat
    /// completions too, and its events have everything that OpenAI's have.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub async fn for_gateways(address: SocketAddr) -> io::Result<Self> {
        Self::bind_for(address, Audience::Gateways, Memory::Requests).await
    }

    async fn bind_for(address: SocketAddr, audience: Audience, memory: Memory) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let record = Arc::new(Record::new(memory));
        let stop = CancellationToken::new();
        let stage = Stage {
            record: Arc::clone(&record),
            ids: Arc::new(Ids::new(seed(address.port()))),
            started: now(),
            stop: stop.clone(),
            audience,
        };
        let mut tasks = JoinSet::new();
        tasks.spawn(serve(listener, router(stage), stop.clone()));
        Ok(Self { address, record, tasks, _stop: stop.drop_guard() })
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL that a client of the Responses API is given, such as `http://127.0.0.1:8080/v1`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// How many responses were asked for.
    pub fn requests(&self) -> u64 {
        self.counters().requests
    }

    /// How many responses are under way.
    pub fn in_flight(&self) -> u64 {
        self.counters().in_flight
    }

    /// How many clients went away before the end of their response.
    pub fn disconnects(&self) -> u64 {
        self.counters().disconnects
    }

    /// All counters, as they are at this moment.
    pub fn counters(&self) -> Counters {
        self.record.counters()
    }

    /// The newest request for a response.
    pub fn last_request(&self) -> Option<RecordedRequest> {
        self.record.last()
    }

    /// The newest requests for a response, oldest first: at most 1,000, and at most 64 MiB of
    /// bodies together.
    pub fn recorded(&self) -> Vec<RecordedRequest> {
        self.record.all()
    }

    /// Waits until the counters satisfy a predicate.
    pub async fn until(&self, predicate: impl Fn(&Counters) -> bool) {
        // Waiting fails only when the counters are gone, which `self` keeps alive.
        let _ = self.record.watch().wait_for(predicate).await;
    }

    /// Forgets the requests and sets the counters to zero, but for the responses under way.
    pub fn reset(&self) {
        self.record.reset();
    }

    /// Serves until the process ends.
    pub async fn wait(mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

#[derive(Clone)]
struct Stage {
    record: Arc<Record>,
    ids: Arc<Ids>,
    started: u64,
    stop: CancellationToken,
    audience: Audience,
}

/// Who may use a model.
#[derive(Clone)]
enum Audience {
    /// Everybody, for anything: it is a test.
    Tests,
    /// Gateways that are tested, and expect all that OpenAI has.
    Gateways,
    /// Whoever has the key of its owner.
    Owner { bearer: Arc<str> },
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Responses,
    Chat,
}

// === impl Stage ===

impl Stage {
    fn script(&self, body: &Value) -> Result<Script, ErrorReply> {
        let most = self.audience.most();
        let attempt = |text: &str| self.record.attempt(text);
        scenario::answer(Request::new(body), most, &self.ids, now(), attempt)
    }
}

// === impl Audience ===

impl Audience {
    fn of_owner(key: &str) -> Self {
        Self::Owner { bearer: format!("Bearer {key}").into() }
    }

    fn admit(&self, headers: &HeaderMap) -> Result<(), ErrorReply> {
        match self {
            Self::Owner { bearer } if !is_authorized(headers, bearer) => {
                Err(ErrorReply::new(401, "invalid_api_key", "this model belongs to somebody else"))
            }
            Self::Owner { .. } | Self::Tests | Self::Gateways => Ok(()),
        }
    }

    /// The largest number that a scenario takes.
    fn most(&self) -> u64 {
        match self {
            Self::Tests | Self::Gateways => u64::MAX,
            Self::Owner { .. } => MOST_FOR_OWNER,
        }
    }
}

fn is_authorized(headers: &HeaderMap, bearer: &str) -> bool {
    headers.get(header::AUTHORIZATION).is_some_and(|given| given.as_bytes() == bearer.as_bytes())
}

async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let listener = listener.tap_io(|connection| {
        // Without it a delta may wait for the client's acknowledgement of the one before.
        let _ = connection.set_nodelay(true);
    });
    // Connections are tasks of their own: aborting this one closes the listener only, and the
    // graceful end closes them.
    let stopped = async move { stop.cancelled().await };
    let _ = axum::serve(listener, router).with_graceful_shutdown(stopped).await;
}

fn router(stage: Stage) -> Router {
    let controls = match stage.audience {
        Audience::Tests | Audience::Gateways => Router::new()
            .route("/ctl/stats", get(stats))
            .route("/ctl/last", get(last))
            .route("/ctl/reset", post(reset)),
        Audience::Owner { .. } => Router::new(),
    };
    controls
        .route("/v1/models", get(models))
        .fallback(respond)
        .method_not_allowed_fallback(not_found)
        .with_state(stage)
}

async fn stats(State(stage): State<Stage>) -> Json<Counters> {
    Json(stage.record.counters())
}

async fn last(State(stage): State<Stage>) -> Json<Value> {
    Json(stage.record.last().map_or(Value::Null, |request| request.to_json()))
}

async fn reset(State(stage): State<Stage>) -> Json<Counters> {
    stage.record.reset();
    Json(stage.record.counters())
}

async fn models() -> Json<Value> {
    Json(json!({
        "object": "list",
        "data": [{"id": "demo", "object": "model", "created": 0, "owned_by": "scripted-model"}],
    }))
}

async fn not_found(method: Method, uri: Uri) -> Response {
    error_response(&nothing_at(&method, &uri))
}

fn nothing_at(method: &Method, uri: &Uri) -> ErrorReply {
    ErrorReply::new(404, "not_found", &format!("there is no {method} {}", uri.path()))
}

/// `POST …/responses` under any prefix, as clients differ in what they put before it.
async fn respond(
    State(stage): State<Stage>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let api = match (&stage.audience, uri.path()) {
        _ if method != Method::POST => None,
        (_, path) if path.ends_with("/responses") => Some(Api::Responses),
        (Audience::Gateways, path) if path.ends_with("/chat/completions") => Some(Api::Chat),
        _ => None,
    };
    let recorded = |body| RecordedRequest {
        path: uri.path_and_query().map_or_else(String::new, ToString::to_string),
        headers: readable(&headers),
        body,
    };
    let Some(api) = api else {
        let is_owners = matches!(stage.audience, Audience::Owner { .. });
        if is_owners && stage.audience.admit(&headers).is_ok() {
            // The owner's Codex asks for responses alone.
            stage.record.refused(0, recorded(method.as_str().into()));
        }
        return error_response(&nothing_at(&method, &uri));
    };
    if let Err(error) = stage.audience.admit(&headers) {
        return error_response(&error);
    }
    // Only now, so that no body is kept in memory of a client without the key.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return error_response(&ErrorReply::new(400, "incomplete_body", "the body has no end"));
    };
    let parsed = serde_json::from_slice::<Value>(&bytes);
    let reply = match &parsed {
        Ok(body) if matches!(stage.audience, Audience::Gateways) => {
            gateway::check(api, body).and_then(|()| stage.script(&gateway::asked(api, body)))
        }
        Ok(body) if body["stream"] == Value::Bool(false) => {
            Err(ErrorReply::new(400, "unsupported_value", "only `\"stream\": true` is supported"))
        }
        Ok(body) => stage.script(body),
        Err(error) => {
            Err(ErrorReply::new(400, "invalid_json", &format!("the body is not JSON: {error}")))
        }
    };
    let request = recorded(parsed.unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into()));
    match reply {
        Ok(script) => {
            let wire = match stage.audience {
                Audience::Gateways => gateway::wire(api, &request.body, now()),
                Audience::Tests | Audience::Owner { .. } => gateway::Wanted::Streamed(Wire::Codex),
            };
            let in_flight = stage.record.begun(bytes.len(), request);
            let wire = match wire {
                gateway::Wanted::Streamed(wire) => wire,
                gateway::Wanted::Whole(events) => {
                    return gateway::whole(api, script, events, in_flight).await;
                }
            };
            let body = playback::body(script, wire, in_flight, stage.stop.clone());
            (stream_headers(stage.started), Body::from_stream(body)).into_response()
        }
        Err(error) => {
            stage.record.refused(bytes.len(), request);
            error_response(&error)
        }
    }
}

fn readable(headers: &HeaderMap) -> Vec<(String, String)> {
    headers
        .iter()
        .map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        })
        .collect()
}

/// The rate limits are there because Codex reads them from the headers of every response.
fn stream_headers(started: u64) -> [(&'static str, String); 9] {
    [
        ("content-type", "text/event-stream".to_owned()),
        ("cache-control", "no-cache".to_owned()),
        ("x-request-id", "req_scripted".to_owned()),
        ("x-codex-primary-used-percent", "42.5".to_owned()),
        ("x-codex-primary-window-minutes", "300".to_owned()),
        ("x-codex-primary-reset-at", (started + 300 * 60).to_string()),
        ("x-codex-secondary-used-percent", "7".to_owned()),
        ("x-codex-secondary-window-minutes", "10080".to_owned()),
        ("x-codex-secondary-reset-at", (started + 10_080 * 60).to_string()),
    ]
}

pub(crate) fn error_response(error: &ErrorReply) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, Json(&error.body)).into_response();
    if let Some(seconds) = error.retry_after {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Differs between two servers of one machine by the port, and between two starts by the time.
fn seed(port: u16) -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (u64::from(port) << 48) ^ (since.as_secs() << 30) ^ u64::from(since.subsec_nanos())
}
