//! `POST /v1/chat/completions`.

mod collect;
mod session;
mod stream;
mod turn_log;
mod usage;

use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bridge::{EndReason, Prepared, Reply, RequestOptions};
use codex_app_server::Turn;
use openai_wire::chat::ChatRequest;
use openai_wire::chat::completion::ChatCompletion;
use openai_wire::chat::stream::{ChunkWriter, UsageFrame};
use openai_wire::{ApiError, ErrorType};
use serde::Serialize;
use tool_call_aggregator::{SuffixSource, ToolCallDelta};

use crate::api::Api;
use crate::api_error::ErrorResponse;
use crate::body::{check_json_depth, read_body};
use crate::gate::RequestId;
use crate::headers::{
    X_CODEX_STOP_AFTER_TOOLS_MODE, X_CODEX_TOOL_CALL_COUNT, X_CODEX_TOOL_CALL_TRUNCATED,
    X_PROXY_IGNORED_PARAMS, X_PROXY_MODEL, X_PROXY_OUTPUT_MODE, X_PROXY_USAGE,
};
use crate::tokens;
use collect::Collected;
use session::Session;
use stream::{ChatStream, Frames};
use turn_log::{TurnLog, call_count, is_truncated};
use usage::Prompt;

/// A request whose turns are running.
struct Started {
    prepared: Prepared,
    session: Session,
    log: Arc<TurnLog>,
    headers: HeaderMap,
    prompt: Prompt,
    id: String,
    created: u64,
}

/// Answers a request, streamed or not.
pub(crate) async fn complete(
    State(api): State<Api>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let started = start(&api, request).await?;
    if started.prepared.stream { started.stream(&api).await } else { started.collect().await }
}

/// Reads a request and starts its turns.
async fn start(api: &Api, request: Request) -> Result<Started, ApiError> {
    let received = Instant::now();
    let settings = &api.0.settings;
    let (parts, body) = request.into_parts();
    let body = read_body(body, settings.max_body_bytes).await?;
    check_json_depth(&body, settings.max_json_depth)?;
    let options = RequestOptions {
        settings: &settings.turns,
        requested_mode: requested_mode(&parts.headers)?,
    };
    let mut prepared = bridge::prepare(ChatRequest::parse(&body)?, &options)?;

    let backend = api.backend().await?;
    let chosen = backend.models.choose(&prepared.model, prepared.turn.effort.take()).await?;
    prepared.turn.model.clone_from(&chosen.model);
    prepared.turn.effort = chosen.effort;
    prepared.turn.upstream = chosen.upstream;

    let tokenizer = match prepared.policy.max_tokens {
        Some(_) => Some(tokens::tokenizer(&api.0.tasks).await.map_err(no_tokenizer)?),
        None => None,
    };
    let slots = api.0.slots.take(prepared.choices).await?;
    let admitted = Instant::now();
    let policy = Arc::new(prepared.policy.clone());
    let suffix: SuffixSource = Arc::new(|| random_text(24));
    let mut choices = Vec::new();
    for choice in 0..prepared.choices {
        let turn: Turn = backend
            .pool
            .start_turn(prepared.turn.clone())
            .map_err(|invalid| bridge::invalid_turn(&invalid))?;
        let reply = Reply::new(Arc::clone(&policy), choice, tokenizer.clone(), Arc::clone(&suffix));
        choices.push((turn, reply));
    }
    let request_id = parts.extensions.get::<RequestId>();
    let log = Arc::new(TurnLog {
        request_id: request_id.map(|id| id.as_str().to_owned()).unwrap_or_default(),
        model: prepared.model.clone(),
        backend_model: chosen.model,
        streamed: prepared.stream,
        mode: policy.mode,
        stop_after_tools: policy.stop_after_tools,
        settings: Arc::clone(&settings.differing),
        received,
        admitted,
        metrics: Arc::clone(&api.0.metrics),
    });
    let tasks = api.0.tasks.clone();
    Ok(Started {
        session: Session::new(choices, slots, tasks.clone(), Arc::clone(&log)),
        headers: common_headers(&prepared, &log),
        prompt: Prompt { body, settings: Arc::clone(&settings.turns), tasks },
        id: format!("chatcmpl-{}", random_text(24)),
        created: seconds_since_1970(),
        prepared,
        log,
    })
}

// === impl Started ===

impl Started {
    async fn stream(self, api: &Api) -> Result<Response, ErrorResponse> {
        let Self { prepared, session, log, mut headers, prompt, id, created } = self;
        let wanted = prepared.include_usage;
        let usage = if wanted { UsageFrame::Wanted } else { UsageFrame::Unwanted };
        let writer = ChunkWriter::new(&id, created, &prepared.model, usage);
        let frames = Frames::new(writer, prepared.policy.shape, prepared.choices);
        let prompt = wanted.then_some(prompt);
        let keep_alive = api.0.settings.keep_alive;
        let stream = ChatStream::begin(session, frames, log, keep_alive, prompt).await?;
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
        let Self { prepared, mut session, log: _, mut headers, prompt, id, created } = self;
        let policy = &prepared.policy;
        let mut collected = Collected::new(policy.mode, policy.shape, prepared.choices);
        let outcome = collected.collect(&mut session).await;
        let (choices, reports) =
            session.conclude_with(EndReason::Failed, |reports| collected.into_choices(reports));
        if let Err(failure) = outcome {
            return Err(bridge::api_error(&failure).into());
        }
        let usage = match prompt.usage(&reports) {
            Ok(usage) => usage,
            Err(mut counting) => {
                headers.insert(X_PROXY_USAGE, HeaderValue::from_static("estimated"));
                std::future::poll_fn(|context| counting.poll_usage(context)).await
            }
        };
        let truncated = if is_truncated(&reports) { "true" } else { "false" };
        headers.insert(X_CODEX_TOOL_CALL_COUNT, HeaderValue::from(call_count(&reports)));
        headers.insert(X_CODEX_TOOL_CALL_TRUNCATED, HeaderValue::from_static(truncated));
        let completion = ChatCompletion {
            id: &id,
            object: "chat.completion",
            created,
            model: &prepared.model,
            choices,
            usage,
        };
        Ok((headers, axum::Json(completion)).into_response())
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
fn common_headers(prepared: &Prepared, log: &TurnLog) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(12);
    let policy = &prepared.policy;
    let stop_mode = policy.stop_after_tools.as_str();
    headers.insert(X_PROXY_OUTPUT_MODE, HeaderValue::from_static(policy.mode.as_str()));
    headers.insert(X_CODEX_STOP_AFTER_TOOLS_MODE, HeaderValue::from_static(stop_mode));
    if let Ok(model) = HeaderValue::from_str(&log.backend_model) {
        headers.insert(X_PROXY_MODEL, model);
    }
    if !prepared.ignored.is_empty()
        && let Ok(ignored) = HeaderValue::from_str(&prepared.ignored.join(", "))
    {
        headers.insert(X_PROXY_IGNORED_PARAMS, ignored);
    }
    headers
}

/// A call as the legacy `function_call` tells it: the name once, then arguments.
fn function_call<'a>(delta: &ToolCallDelta<'a>) -> impl Serialize + 'a {
    #[derive(Serialize)]
    struct LegacyDelta<'a> {
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        arguments: &'a str,
    }
    let arguments = if delta.arguments.is_empty() { "{}" } else { delta.appended };
    LegacyDelta { name: delta.is_first().then_some(delta.name), arguments }
}

fn no_tokenizer(error: tokio::task::JoinError) -> ApiError {
    tracing::error!(%error, "the tokenizer could not be loaded");
    ApiError::new(500, ErrorType::ServerError, "The tokenizer could not be loaded.")
}

/// Letters and digits that nobody can guess or repeat.
fn random_text(length: usize) -> String {
    std::iter::repeat_with(fastrand::alphanumeric).take(length).collect()
}

fn seconds_since_1970() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}
