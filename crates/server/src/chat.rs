//! `POST /v1/chat/completions`.

mod session;
mod stream;
mod turn_log;
mod usage;

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bridge::{Collected, EndReason, Frames, Prepared, Reply, RequestOptions, TurnPolicy};
use codex_app_server::Consumer;
use openai_wire::chat::ChatRequest;
use openai_wire::chat::completion::ChatCompletion;
use openai_wire::chat::stream::{ChunkWriter, UsageFrame};
use openai_wire::{ApiError, ErrorType};
use tokio_util::sync::CancellationToken;
use tool_call_aggregator::SuffixSource;
use tracing::Span;

use crate::api::{Api, ApiSettings};
use crate::api_error::ErrorResponse;
use crate::body::{WholeBody, check_json_depth, read_body};
use crate::captures::{Draft, Recording};
use crate::connections::Hangup;
use crate::gate::{Caller, Fate, RequestId, TraceContext};
use crate::headers::{
    X_CODEX_STOP_AFTER_TOOLS_MODE, X_CODEX_TOOL_CALL_COUNT, X_CODEX_TOOL_CALL_TRUNCATED,
    X_PROXY_IGNORED_PARAMS, X_PROXY_MODEL, X_PROXY_OUTPUT_MODE, X_PROXY_USAGE,
};
use crate::large_bodies::LARGE;
use crate::tokens;
use session::Session;
use stream::ChatStream;
use turn_log::TurnLog;
use usage::Prompt;

const ROUTE: &str = "/v1/chat/completions";

/// A request whose turns are running.
struct Started {
    stream: bool,
    include_usage: bool,
    policy: Arc<TurnPolicy>,
    choices: u32,
    session: Session,
    log: Arc<TurnLog>,
    headers: HeaderMap,
    prompt: Prompt,
    id: String,
    created: u64,
    keep_alive: Option<Duration>,
}

/// Answers a request, streamed or not.
pub(crate) async fn complete(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let settings = api.settings();
    let rate_limit = settings.rate_limit;
    let answer = async {
        let started = start(&api, &caller, settings, request).await?;
        if started.stream { started.stream().await } else { started.collect().await }
    };
    api.within_rate(&caller, rate_limit, answer).await
}

/// Reads a request.
fn prepare(body: &[u8], settings: &ApiSettings, mode: Option<&str>) -> Result<Prepared, ApiError> {
    check_json_depth(body, settings.max_json_depth)?;
    let options = RequestOptions { settings: &settings.turns, requested_mode: mode };
    bridge::prepare(ChatRequest::parse(body)?, &options)
}

/// Reads a request and starts its turns.
async fn start(
    api: &Api,
    caller: &Caller,
    settings: Arc<ApiSettings>,
    request: Request,
) -> Result<Started, ApiError> {
    let received = Instant::now();
    let (parts, body) = request.into_parts();
    let large = &api.0.large;
    let WholeBody { bytes: body, mut room } = read_body(body, settings.body, large, caller).await?;
    let request_id = parts.extensions.get::<RequestId>();
    let request_id = request_id.map(|id| id.as_str().to_owned()).unwrap_or_default();
    let trace = parts.extensions.get::<TraceContext>().copied().unwrap_or_else(TraceContext::new);
    settings.content_log.request(&body);
    let mode = requested_mode(&parts.headers)?;
    // A large one is read aside, so that nobody else waits for it.
    let mut prepared = if body.len() < LARGE {
        prepare(&body, &settings, mode)?
    } else {
        let (body, settings) = (body.clone(), Arc::clone(&settings));
        let mode = mode.map(str::to_owned);
        let reading = move || prepare(&body, &settings, mode.as_deref());
        api.0
            .tasks
            .spawn_blocking(within_span(reading))
            .await
            .map_err(|error| unreadable(&error))??
    };
    let backend = api.backend().await?;
    let effort = prepared.turn.effort.take();
    let chosen = backend.models.choose(&prepared.model, effort, &settings.aliases).await?;
    if !prepared.images_to_fetch.is_empty() {
        // As if the request had held them itself.
        if room.is_none() {
            room = Some(large.room(caller).await?);
        }
        let most_bytes = settings.body.bytes.saturating_sub(body.len());
        let images = backend.images.fetch(&prepared.images_to_fetch, most_bytes).await?;
        let putting = move || prepared.put_images(images).map(|()| prepared);
        prepared = api
            .0
            .tasks
            .spawn_blocking(within_span(putting))
            .await
            .map_err(|error| unreadable(&error))??;
    }
    let Prepared { mut turn, policy, choices, stream, include_usage, ignored, model, .. } =
        prepared;
    turn.model.clone_from(&chosen.model);
    turn.effort = chosen.effort;
    turn.upstream = chosen.upstream;

    let tokenizer = match policy.max_tokens {
        Some(_) => {
            Some(tokens::tokenizer(&api.0.tasks).await.map_err(|error| no_tokenizer(&error))?)
        }
        None => None,
    };
    // Held by the turns themselves: a client that does not read holds nobody else up.
    let places = Arc::new(api.take_places(caller, choices).await?);
    drop(room);
    let admitted = Instant::now();
    let policy = Arc::new(policy);
    let id = format!("chatcmpl-{}", random_text(24));
    let created = seconds_since_1970();
    let recording = settings.captures.as_ref().map(|captures| {
        let draft = Draft {
            time: jiff::Timestamp::now(),
            request_id: request_id.clone(),
            codex: backend.pool.client().map(|client| client.version().to_string()),
            requested_mode: mode.map(str::to_owned),
            settings: Arc::clone(&settings.differing),
            model: model.clone(),
            backend_model: chosen.model.clone(),
            stream,
            include_usage,
            choices,
            id: id.clone(),
            created,
            policy: Arc::clone(&policy),
            body: body.clone(),
        };
        Recording::begin(&api.0.captures, captures, draft)
    });
    let mut suffix: SuffixSource = Arc::new(|| random_text(24));
    let mut tokenizer = tokenizer;
    if let Some(recording) = &recording {
        suffix = Recording::suffixes(recording, suffix);
        tokenizer = tokenizer.map(|tokenizer| Recording::tokenizer(recording, tokenizer));
    }
    let hangup = parts.extensions.get::<Hangup>().cloned().unwrap_or_default();
    // A whole answer is read by us: its client has nothing to do with how fast that is.
    let overflow = if stream { hangup.0.clone() } else { CancellationToken::new() };
    let mut turns = Vec::new();
    for (choice, request) in (0..choices).zip(std::iter::repeat_n(turn, choices as usize)) {
        let consumer = Consumer { held: Box::new(Arc::clone(&places)), overflow: overflow.clone() };
        let turn = backend
            .pool
            .start_turn_with(request, settings.turn_options, consumer)
            .map_err(|invalid| bridge::invalid_turn(&invalid))?;
        let reply = Reply::new(Arc::clone(&policy), choice, tokenizer.clone(), Arc::clone(&suffix));
        turns.push((turn, reply));
    }
    let log = Arc::new(TurnLog {
        request_id,
        trace,
        route: ROUTE,
        key: caller.clone(),
        model,
        backend_model: chosen.model,
        streamed: stream,
        mode: policy.mode,
        stop_after_tools: policy.stop_after_tools,
        settings: Arc::clone(&settings.differing),
        received,
        admitted,
        metrics: Arc::clone(&api.0.metrics),
        usage: api.0.usage.as_ref().ok().cloned(),
        fate: parts.extensions.get::<Fate>().cloned().unwrap_or_default(),
        content: settings.content_log,
        traces: api.0.traces.get().filter(|_| trace.sampled).cloned(),
    });
    let tasks = api.0.tasks.clone();
    Ok(Started {
        stream,
        include_usage,
        choices,
        session: Session::new(turns, hangup, tasks.clone(), Arc::clone(&log), recording),
        headers: common_headers(&policy, &log, &ignored),
        policy,
        prompt: Prompt { body, settings: Arc::clone(&settings.turns), tasks },
        id,
        created,
        keep_alive: settings.keep_alive,
        log,
    })
}

// === impl Started ===

impl Started {
    async fn stream(self) -> Result<Response, ErrorResponse> {
        let Self { session, policy, log, mut headers, prompt, .. } = self;
        let usage = if self.include_usage { UsageFrame::Wanted } else { UsageFrame::Unwanted };
        let writer = ChunkWriter::new(&self.id, self.created, &log.model, usage);
        let frames = Frames::new(writer, policy.shape, self.choices);
        let prompt = self.include_usage.then_some(prompt);
        let stream = ChatStream::begin(session, frames, log, self.keep_alive, prompt).await?;
        for (name, value) in [
            (header::CONTENT_TYPE, "text/event-stream"),
            (header::CACHE_CONTROL, "no-cache, no-transform"),
            (HeaderName::from_static("x-accel-buffering"), "no"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        Ok((headers, Body::new(stream)).into_response())
    }

    async fn collect(self) -> Result<Response, ErrorResponse> {
        let Self { mut session, policy, log, mut headers, prompt, .. } = self;
        let mut collected = Collected::new(policy.mode, policy.shape, self.choices);
        let outcome = session.collect(&mut collected).await;
        let (choices, reports) =
            session.conclude_with(EndReason::Failed, |reports| collected.into_choices(reports));
        if let Err(failure) = outcome {
            let error = bridge::api_error(&failure);
            if let Some(recording) = session.recording() {
                recording.error(&error);
            }
            return Err(error.into());
        }
        let usage = match prompt.usage(&reports) {
            Ok(usage) => usage,
            Err(mut counting) => {
                headers.insert(X_PROXY_USAGE, HeaderValue::from_static("estimated"));
                std::future::poll_fn(|context| counting.poll_usage(context)).await
            }
        };
        let truncated = if bridge::is_truncated(&reports) { "true" } else { "false" };
        headers.insert(X_CODEX_TOOL_CALL_COUNT, HeaderValue::from(bridge::call_count(&reports)));
        headers.insert(X_CODEX_TOOL_CALL_TRUNCATED, HeaderValue::from_static(truncated));
        let completion = ChatCompletion {
            id: &self.id,
            object: "chat.completion",
            created: self.created,
            model: &log.model,
            choices,
            usage,
        };
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let body = serde_json::to_vec(&completion).map_err(|error| unwritable(&error))?;
        if let Some(recording) = session.recording() {
            recording.usage(&usage);
            recording.answer(200, &body);
        }
        Ok((headers, body).into_response())
    }
}

fn requested_mode(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let unreadable = |_| {
        let message = "The header is not plain text: use obsidian-xml or openai-json.";
        ApiError::invalid(X_PROXY_OUTPUT_MODE.as_str(), message)
    };
    headers.get(X_PROXY_OUTPUT_MODE).map(|mode| mode.to_str().map_err(unreadable)).transpose()
}

/// What is known before the turns have said anything.
fn common_headers(policy: &TurnPolicy, log: &TurnLog, ignored: &[String]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(20);
    let stop_mode = policy.stop_after_tools.as_str();
    headers.insert(X_PROXY_OUTPUT_MODE, HeaderValue::from_static(policy.mode.as_str()));
    headers.insert(X_CODEX_STOP_AFTER_TOOLS_MODE, HeaderValue::from_static(stop_mode));
    if let Ok(model) = HeaderValue::from_str(&log.backend_model) {
        headers.insert(X_PROXY_MODEL, model);
    }
    if !ignored.is_empty()
        && let Ok(ignored) = HeaderValue::from_str(&ignored.join(", "))
    {
        headers.insert(X_PROXY_IGNORED_PARAMS, ignored);
    }
    headers
}

/// For work on another thread, of which a panic is told like one of the request's.
fn within_span<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let span = Span::current();
    move || span.in_scope(work)
}

fn unreadable(error: &tokio::task::JoinError) -> ApiError {
    tracing::error!(%error, "a request could not be read");
    ApiError::new(500, ErrorType::ServerError, "The request could not be read.")
}

fn no_tokenizer(error: &tokio::task::JoinError) -> ApiError {
    tracing::error!(%error, "the tokenizer could not be loaded");
    ApiError::new(500, ErrorType::ServerError, "The tokenizer could not be loaded.")
}

fn unwritable(error: &serde_json::Error) -> ApiError {
    tracing::error!(%error, "an answer could not be written");
    ApiError::new(500, ErrorType::ServerError, "The answer could not be written as JSON.")
}

/// Letters and digits for an id. Unique is enough: nothing is guarded by it.
fn random_text(length: usize) -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(length).collect()
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}
