//! `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use bridge::{Collected, EndReason, Frames, RequestOptions, TurnSettings};
use bytes::BytesMut;
use openai_wire::chat::ChatRequest;
use openai_wire::chat::completion::ChatCompletion;
use openai_wire::chat::stream::{ChunkWriter, UsageFrame, done, error_frame};
use openai_wire::{ApiError, Usage, comment};

use crate::answering::{
    AnswerStream, Asked, Endpoint, Incoming, Keeping, Outcome, Prompt, Running, StreamedAnswer,
    event_stream, random_text, seconds_since_1970, sum_up, unwritable,
};
use crate::api::Api;
use crate::api_error::ErrorResponse;
use crate::body::check_json_depth;
use crate::captures::Recording;
use crate::gate::Caller;
use crate::tokens;

/// Answers a request, streamed or not.
pub(crate) async fn complete(
    State(api): State<Api>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let settings = api.settings();
    let rate_limit = settings.rate_limit;
    let answer = async {
        let incoming = Incoming::read(&api, &caller, settings, request).await?;
        let prompt = prompt(&api, &incoming);
        let asked = ask(&api, &incoming).await?;
        let running = incoming.start(&api, asked).await?;
        if running.stream { stream(running, prompt).await } else { collect(running, prompt).await }
    };
    // Boxed: it is large, and would be moved again and again on its way through the layers.
    api.within_rate(&caller, rate_limit, Box::pin(answer)).await
}

async fn ask(api: &Api, incoming: &Incoming) -> Result<Asked, ApiError> {
    let (body, settings) = (incoming.body.clone(), Arc::clone(&incoming.settings));
    let headers = incoming.headers.clone();
    let reading = move || {
        check_json_depth(&body, settings.max_json_depth)?;
        bridge::prepare(ChatRequest::parse(&body)?, &headers.options(&settings.turns))
    };
    let mut prepared = incoming.work(api, incoming.body.len(), reading).await?;
    let effort = prepared.turn.effort.take();
    let chosen = incoming.choose(api, Endpoint::Chat, &prepared.model, effort.as_deref()).await?;
    Ok(Asked {
        endpoint: Endpoint::Chat,
        prepared,
        chosen,
        id: format!("chatcmpl-{}", random_text(24)),
        created: seconds_since_1970(),
        response: None,
        cancelled: None,
    })
}

fn prompt(api: &Api, incoming: &Incoming) -> Prompt {
    let (body, settings) = (incoming.body.clone(), Arc::clone(&incoming.settings.turns));
    Prompt { count: Box::new(move || count_prompt(&body, &settings)), tasks: api.0.tasks.clone() }
}

fn count_prompt(body: &Bytes, settings: &TurnSettings) -> u64 {
    let options = RequestOptions::new(settings);
    let prepared = ChatRequest::parse(body).and_then(|request| bridge::prepare(request, &options));
    // It was read once before, so it can be read again.
    prepared.map_or(0, |prepared| prepared.prompt_texts().map(|text| tokens::count(&text)).sum())
}

async fn stream(running: Running, prompt: Prompt) -> Result<Response, ErrorResponse> {
    let Running { session, policy, log, headers, .. } = running;
    let usage = if running.include_usage { UsageFrame::Wanted } else { UsageFrame::Unwanted };
    let writer = ChunkWriter::new(&running.id, running.created, &log.model, usage);
    let frames = Frames::new(writer, policy.shape, running.choices);
    let prompt = running.include_usage.then_some(prompt);
    let stream = AnswerStream::begin(session, frames, log, running.keep_alive, prompt).await?;
    Ok(event_stream(headers, stream))
}

async fn collect(running: Running, prompt: Prompt) -> Result<Response, ErrorResponse> {
    let Running { mut session, policy, log, mut headers, .. } = running;
    let mut collected = Collected::new(policy.mode, policy.shape, running.choices);
    let outcome = session.collect(&mut collected).await;
    let (choices, reports) =
        session.conclude_with(EndReason::Failed, |reports| collected.into_choices(reports));
    if let Outcome::Failed(failure) = outcome {
        if let Some(recording) = session.recording() {
            recording.error(&bridge::api_error(&failure));
        }
        return Err(log.failures.explain(&failure).await.into());
    }
    let usage = sum_up(&reports, session.continued(), prompt, &mut headers).await;
    let completion = ChatCompletion {
        id: &running.id,
        object: "chat.completion",
        created: running.created,
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
    let mut response = body.into_response();
    *response.headers_mut() = headers;
    Ok(response)
}

// === impl Frames ===

impl StreamedAnswer for Frames {
    type Answer = Self;

    fn answer(&mut self) -> &mut Self {
        self
    }

    fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    fn fail(&mut self, error: &ApiError) {
        error_frame(error, &mut self.buffer);
    }

    fn cancel(&mut self) {}

    fn conclude(&mut self, telemetry: String) {
        comment(&telemetry, &mut self.buffer);
    }

    fn keep(&mut self, _: Option<&Usage>) -> Option<Keeping> {
        None
    }

    fn close(&mut self, usage: Option<&Usage>, _: bool, _: Option<&Recording>) {
        if let Some(usage) = usage {
            self.writer.usage(usage, &mut self.buffer);
        }
        done(&mut self.buffer);
    }
}
