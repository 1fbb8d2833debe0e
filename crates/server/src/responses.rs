//! `/v1/responses`: answers in the shape of the Responses API, and those that are kept.

mod conversation;
mod keeping;
mod live;
mod stored;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use bridge::{Prepared, RequestOptions, ResponseItems, Target};
use openai_wire::ApiError;
use openai_wire::responses::{EncryptedContent, ResponseHead, ResponseWriter, ResponsesRequest};
use serde_json::json;

use crate::answering::{
    ESTIMATED, Incoming, Understood, aside, random_text, seconds_since_1970, serve,
};
use crate::api::TurnApi;
use crate::api_error::ErrorResponse;
use crate::captures::RecordedApi;
use crate::gate::Caller;
use crate::headers::X_PROXY_USAGE;
use crate::kept_reasoning::Origin;
use crate::request_info::Endpoint;
use crate::tokens;
use conversation::Resolved;
use keeping::{Keeper, ResponseStorage};
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

/// `POST /v1/responses`
pub(crate) async fn create(
    State(api): State<Arc<TurnApi>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    serve(&api, &caller, Endpoint::Responses, request, answer).await
}

/// `POST /v1/responses/input_tokens`: what the prompt of such a request has, counted here.
pub(crate) async fn input_tokens(
    State(api): State<Arc<TurnApi>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    serve(&api, &caller, Endpoint::Responses, request, count_input).await
}

async fn answer(api: &TurnApi, mut incoming: Incoming) -> Result<Response, ErrorResponse> {
    let (request, target, resolved) = understand(api, &mut incoming).await?;
    let origin = target.1;
    let id = format!("resp_{}", random_text(48));
    let created = seconds_since_1970();
    let is_stored = incoming.settings.responses.store && request.store.unwrap_or(true);
    let keeper = api.database.as_ref().ok().filter(|_| is_stored).map(|database| {
        let key = incoming.caller.id().to_owned();
        Keeper::new(database.responses(), Arc::clone(&api.metrics), key, id.clone(), origin)
    });
    let encrypted = if request.include_encrypted_reasoning {
        EncryptedContent::Included
    } else {
        EncryptedContent::LeftOut
    };
    let bytes = incoming.body.len() + resolved.bytes();
    let prepare = {
        let (id, resolved) = (id.clone(), Arc::clone(&resolved));
        move |options: &RequestOptions<'_>| {
            prepare(request, &resolved, keeper, &id, created, options)
        }
    };
    let ((prepared, writer, keeper), reasoning) =
        incoming.prepare(&api.reasoning, bytes, target, prepare).await?;
    let live = api.live_responses.begin(&id, &incoming.caller, &writer);
    let prompt = incoming.prompt(move |body, options| resolved.prepare(parse(body)?, options));
    let understood = Understood {
        prepared,
        reasoning,
        id,
        created,
        recorded: RecordedApi::Responses { object: live.begun(), encrypted },
        cancelled: Some(live.cancelled()),
    };
    let running = incoming.start(api, understood).await?;
    let (ids, stream) = (Arc::clone(&running.suffix), running.request.stream);
    let items = ResponseItems::new(writer, encrypted, ids, stream);
    running.answer(items, prompt, Some(Box::new(ResponseStorage { live, keeper }))).await
}

async fn count_input(api: &TurnApi, mut incoming: Incoming) -> Result<Response, ErrorResponse> {
    let (request, _, resolved) = understand(api, &mut incoming).await?;
    let settings = Arc::clone(&incoming.settings.turns);
    // No header changes what the model reads.
    let prepare = move || resolved.prepare(request, &RequestOptions::new(&settings));
    let tokens = aside(move || Ok(tokens::of_prompt(&prepare()?))).await?;
    let count = json!({"object": "response.input_tokens", "input_tokens": tokens});
    Ok(([(X_PROXY_USAGE, HeaderValue::from_static(ESTIMATED))], Json(count)).into_response())
}

/// A request, its model, and what it refers to.
async fn understand(
    api: &TurnApi,
    incoming: &mut Incoming,
) -> Result<(ResponsesRequest, (Target, Origin), Arc<Resolved>), ApiError> {
    let request = incoming.parse(parse).await?;
    let effort = request.reasoning_effort.as_deref();
    let target = incoming.choose(&api.backend, &request.model, effort).await?;
    let resolved = Resolved::look_up(api, incoming, &request, target.1).await?;
    Ok((request, target, Arc::new(resolved)))
}

fn parse(body: &[u8]) -> Result<ResponsesRequest, ApiError> {
    let mut request = ResponsesRequest::parse(body)?;
    bridge::adopt_prompt(&mut request);
    Ok(request)
}

/// The turn, what writes the response, and what keeps it.
fn prepare(
    mut request: ResponsesRequest,
    resolved: &Resolved,
    mut keeper: Option<Keeper>,
    id: &str,
    created_at: u64,
    options: &RequestOptions<'_>,
) -> Result<(Prepared, ResponseWriter, Option<Keeper>), ApiError> {
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
    Ok((bridge::prepare_response(request, earlier, options)?, writer, keeper))
}
