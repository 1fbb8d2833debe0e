//! `/v1/responses`: answers in the shape of the Responses API, and those that are kept.

mod answer;
mod conversation;
mod keeping;
mod live;
mod stored;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use bridge::{EndReason, Prepared, RequestOptions, ResponseItems};
use openai_wire::ApiError;
use openai_wire::responses::{EncryptedContent, ResponseHead, ResponseWriter, ResponsesRequest};
use serde_json::json;

use crate::answering::{
    AnswerHeaders, AnswerStream, Asked, ESTIMATED, Endpoint, Incoming, Outcome, Prompt, Running,
    aside, event_stream, random_text, seconds_since_1970, sum_up,
};
use crate::api::{Api, ApiSettings};
use crate::api_error::ErrorResponse;
use crate::body::check_json_depth;
use crate::captures::BegunResponse;
use crate::gate::Caller;
use crate::headers::X_PROXY_USAGE;
use crate::models::Chosen;
use crate::tokens;
use answer::ResponseStream;
use conversation::Resolved;
use keeping::Keeper;
use live::LiveResponse;
pub(crate) use live::LiveResponses;
pub(crate) use stored::{cancel, delete, list_input, show};

/// Which responses are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponsesSettings {
    /// Whether any is, from now on.
    pub store: bool,
    /// For how long after the last use of their conversation.
    pub max_age: Duration,
    /// How many bytes of them.
    pub max_bytes: u64,
}

/// A request that is understood, and how its answer is told.
struct Plan {
    asked: Asked,
    writer: ResponseWriter,
    encrypted: EncryptedContent,
    live: LiveResponse,
    keeper: Option<Keeper>,
    prompt: Prompt,
}

/// A request, read and with all that it refers to.
struct Read {
    prepared: Prepared,
    writer: ResponseWriter,
    keeper: Option<Keeper>,
}

/// `POST /v1/responses`
pub(crate) async fn create(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let settings = api.settings();
    let rate_limit = settings.rate_limit;
    let answer = async {
        let mut incoming = Incoming::read(&api, &caller, settings, request).await?;
        let Plan { asked, writer, encrypted, live, keeper, prompt } =
            plan(&api, &mut incoming).await?;
        let running = incoming.start(&api, asked).await?;
        let ids = Arc::clone(&running.suffix);
        if running.stream {
            let items = ResponseItems::streamed(writer, encrypted, ids);
            stream(running, ResponseStream::new(items, live, keeper), prompt).await
        } else {
            let items = ResponseItems::collected(writer, ids);
            collect(running, items, encrypted, &live, keeper, prompt).await
        }
    };
    // Boxed: it is large, and would be moved again and again on its way through the layers.
    api.within_rate(&caller, rate_limit, Box::pin(answer)).await
}

/// `POST /v1/responses/input_tokens`: what the prompt of such a request has, counted here.
pub(crate) async fn input_tokens(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let settings = api.settings();
    let rate_limit = settings.rate_limit;
    let count = count_input(&api, &caller, settings, request);
    api.within_rate(&caller, rate_limit, Box::pin(count)).await
}

async fn count_input(
    api: &Api,
    caller: &Caller,
    settings: Arc<ApiSettings>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let mut incoming = Incoming::read(api, caller, settings, request).await?;
    let (request, _, resolved) = understand(api, &mut incoming).await?;
    let settings = Arc::clone(&incoming.settings);
    let counting = move || {
        let prepared = prepare(request, &resolved, &settings)?;
        Ok(prepared.prompt_texts().map(|text| tokens::count(&text)).sum::<u64>())
    };
    let tokens = aside(api, counting).await?;
    let count = json!({"object": "response.input_tokens", "input_tokens": tokens});
    Ok(([(X_PROXY_USAGE, HeaderValue::from_static(ESTIMATED))], Json(count)).into_response())
}

/// A request, its model, and what it refers to.
async fn understand(
    api: &Api,
    incoming: &mut Incoming,
) -> Result<(ResponsesRequest, Chosen, Resolved), ApiError> {
    let (body, settings) = (incoming.body.clone(), Arc::clone(&incoming.settings));
    let request = incoming.work(api, body.len(), move || parse(&body, &settings)).await?;
    let effort = request.reasoning_effort.as_deref();
    let chosen = incoming.choose(api, Endpoint::Responses, &request.model, effort).await?;
    let resolved = Resolved::look_up(api, incoming, &request, chosen.origin).await?;
    Ok((request, chosen, resolved))
}

async fn plan(api: &Api, incoming: &mut Incoming) -> Result<Plan, ApiError> {
    let headers = incoming.headers.clone();
    let (request, chosen, resolved) = understand(api, incoming).await?;
    let (origin, resolved) = (chosen.origin, Arc::new(resolved));

    let id = format!("resp_{}", random_text(48));
    let created = seconds_since_1970();
    let keeper = api
        .0
        .responses
        .as_ref()
        .ok()
        .filter(|_| incoming.settings.responses.store && request.store.unwrap_or(true));
    let keeper = keeper.map(|responses| {
        let key = incoming.caller.id().to_owned();
        Keeper::new(responses.clone(), Arc::clone(&api.0.metrics), key, id.clone(), origin)
    });
    let encrypted = if request.include_encrypted_reasoning {
        EncryptedContent::Included
    } else {
        EncryptedContent::LeftOut
    };
    let bytes = incoming.body.len() + resolved.bytes();
    let reading = {
        let (id, settings) = (id.clone(), Arc::clone(&incoming.settings));
        let resolved = Arc::clone(&resolved);
        move || read(request, &resolved, keeper, &settings, &headers, &id, created)
    };
    let Read { mut prepared, writer, keeper } = incoming.work(api, bytes, reading).await?;
    prepared.turn.effort = None;
    let live = api.0.live_responses.begin(&id, &incoming.caller, &writer);
    let (body, settings) = (incoming.body.clone(), Arc::clone(&incoming.settings));
    Ok(Plan {
        asked: Asked {
            endpoint: Endpoint::Responses,
            prepared,
            chosen,
            id,
            created,
            response: Some(BegunResponse { object: live.begun(), encrypted }),
            cancelled: Some(live.cancelled()),
        },
        writer,
        encrypted,
        live,
        keeper,
        prompt: Prompt {
            count: Box::new(move || count_prompt(&body, &resolved, &settings)),
            tasks: api.0.tasks.clone(),
        },
    })
}

fn parse(body: &[u8], settings: &ApiSettings) -> Result<ResponsesRequest, ApiError> {
    check_json_depth(body, settings.max_json_depth)?;
    let mut request = ResponsesRequest::parse(body)?;
    bridge::adopt_prompt(&mut request);
    Ok(request)
}

/// Puts everything in its place.
fn read(
    mut request: ResponsesRequest,
    resolved: &Resolved,
    mut keeper: Option<Keeper>,
    settings: &ApiSettings,
    headers: &AnswerHeaders,
    id: &str,
    created_at: u64,
) -> Result<Read, ApiError> {
    let earlier = resolved.put_into(&mut request)?;
    let writer = ResponseWriter::new(&ResponseHead {
        id,
        created_at,
        model: &request.model,
        instructions: request.instructions.as_deref(),
        max_output_tokens: request.max_output_tokens,
        parallel_tool_calls: request.parallel_tool_calls.unwrap_or(true),
        previous_response_id: request.previous_response_id.as_deref(),
        store: keeper.is_some(),
        echo: &request.echo,
    });
    if let Some(keeper) = &mut keeper {
        keeper.take_input(&request);
    }
    let options = headers.options(&settings.turns);
    let prepared = bridge::prepare_response(request, earlier, &options)?;
    Ok(Read { prepared, writer, keeper })
}

/// A request as it is counted: no header changes what the model reads.
fn prepare(
    mut request: ResponsesRequest,
    resolved: &Resolved,
    settings: &ApiSettings,
) -> Result<Prepared, ApiError> {
    let earlier = resolved.put_into(&mut request)?;
    bridge::prepare_response(request, earlier, &RequestOptions::new(&settings.turns))
}

fn count_prompt(body: &Bytes, resolved: &Resolved, settings: &ApiSettings) -> u64 {
    let prepared = parse(body, settings).and_then(|request| prepare(request, resolved, settings));
    // It was read once before, so it can be read again.
    prepared.map_or(0, |prepared| prepared.prompt_texts().map(|text| tokens::count(&text)).sum())
}

async fn stream(
    running: Running,
    answer: ResponseStream,
    prompt: Prompt,
) -> Result<Response, ErrorResponse> {
    let Running { session, log, headers, keep_alive, .. } = running;
    let stream = AnswerStream::begin(session, answer, log, keep_alive, Some(prompt)).await?;
    Ok(event_stream(headers, stream))
}

async fn collect(
    running: Running,
    mut items: ResponseItems,
    encrypted: EncryptedContent,
    live: &LiveResponse,
    keeper: Option<Keeper>,
    prompt: Prompt,
) -> Result<Response, ErrorResponse> {
    let Running { mut session, mut headers, log, .. } = running;
    let outcome = session.collect(&mut items).await;
    let unfinished = match outcome {
        Outcome::Cancelled => EndReason::Cancelled,
        Outcome::Done | Outcome::Failed(_) => EndReason::Failed,
    };
    let reports = session.conclude(unfinished);
    if let Outcome::Failed(failure) = &outcome {
        if let Some(recording) = session.recording() {
            recording.error(&bridge::api_error(failure));
        }
        return Err(log.failures.explain(failure).await.into());
    }
    let usage = sum_up(&reports, session.continued(), prompt, &mut headers).await;
    match outcome {
        Outcome::Cancelled => items.cancel(usage),
        Outcome::Done | Outcome::Failed(_) => items.complete(seconds_since_1970(), usage),
    }
    let kept = match keeper {
        Some(keeper) => keeper.keep(&items).await,
        None => false,
    };
    if !kept {
        items.not_stored();
    }
    live.end(&items);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = items.response_json(encrypted);
    if let Some(recording) = session.recording() {
        recording.usage(&usage);
        recording.closed(items.status(), kept);
        recording.answer(200, body.as_bytes());
    }
    Ok((headers, body).into_response())
}
