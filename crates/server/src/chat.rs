//! `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::response::Response;
use bridge::{ChatHead, ChatMessage, ChatStream, RequestOptions, prepare};
use openai_wire::chat::ChatRequest;

use crate::answering::{Incoming, Understood, random_text, seconds_since_1970, serve};
use crate::api::TurnApi;
use crate::api_error::ErrorResponse;
use crate::captures::RecordedApi;
use crate::gate::Caller;
use crate::request_info::Endpoint;

/// Answers a request, streamed or not.
pub(crate) async fn complete(
    State(api): State<Arc<TurnApi>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    serve(&api, &caller, Endpoint::Chat, request, answer).await
}

async fn answer(api: &TurnApi, incoming: Incoming) -> Result<Response, ErrorResponse> {
    let request = incoming.parse(ChatRequest::parse).await?;
    let effort = request.reasoning_effort.as_deref();
    let target = incoming.choose(&api.backend, &request.model, effort).await?;
    let prepared = move |options: &RequestOptions<'_>| prepare(request, options);
    let bytes = incoming.body.len();
    let (prepared, reasoning) = incoming.prepare(&api.reasoning, bytes, target, prepared).await?;
    let prompt = incoming.prompt(|body, options| prepare(ChatRequest::parse(body)?, options));
    let understood = Understood {
        prepared,
        reasoning,
        id: format!("chatcmpl-{}", random_text(24)),
        created: seconds_since_1970(),
        recorded: RecordedApi::Chat,
        cancelled: None,
    };
    let running = incoming.start(api, understood).await?;
    let (info, policy) = (&running.request, &running.policy);
    let head = ChatHead {
        id: &info.answer_id,
        created: info.created,
        model: &info.model,
        choices: info.choices,
        include_usage: info.include_usage,
    };
    if info.stream {
        let frames = ChatStream::new(&head, policy.shape);
        running.answer(frames, prompt, None).await
    } else {
        let message = ChatMessage::new(&head, policy.mode, policy.shape);
        running.answer(message, prompt, None).await
    }
}
