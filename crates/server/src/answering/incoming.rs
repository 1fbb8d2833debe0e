//! A request whose body is there.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bridge::{Prepared, Question, Recall, RequestOptions, Target};
use openai_wire::{ApiError, ErrorType};
use tracing::Span;

use super::usage::Prompt;
use crate::api::{ApiSettings, Backend, BackendCell};
use crate::body::{WholeBody, check_json_depth, read_body};
use crate::gate::{Caller, RequestId, TraceContext};
use crate::headers::{X_PROXY_CONTINUITY, X_PROXY_OUTPUT_MODE, X_PROXY_STREAM_ARGUMENTS};
use crate::kept_reasoning::{KeptReasoning, Origin, ReasoningScope};
use crate::large_bodies::{BodyRoom, LARGE, LargeBodies};
use crate::models::AskedModel;
use crate::request_info::Endpoint;
use crate::tokens;

/// A request whose body is there.
pub(crate) struct Incoming {
    pub(super) endpoint: Endpoint,
    pub(crate) caller: Caller,
    pub(crate) settings: Arc<ApiSettings>,
    pub(crate) body: Bytes,
    pub(crate) headers: AnswerHeaders,
    /// Whether its conversation goes on in the thread of its last turn, where that can be.
    pub(super) continuity: bool,
    pub(super) parts: Parts,
    /// When its head was there.
    pub(super) received: Instant,
    pub(super) request_id: String,
    pub(super) trace: TraceContext,
    /// What a large one takes of the room for those.
    pub(super) room: Option<BodyRoom>,
}

/// The headers that decide about the form of the answer.
#[derive(Debug, Clone)]
pub(crate) struct AnswerHeaders {
    /// `x-proxy-output-mode`
    pub(super) mode: Option<String>,
    /// `x-proxy-stream-arguments`
    stream_arguments: Option<String>,
}

// === impl AnswerHeaders ===

impl AnswerHeaders {
    fn read(headers: &HeaderMap) -> Result<Self, ApiError> {
        let modes = "obsidian-xml or openai-json";
        Ok(Self {
            mode: header_text(headers, &X_PROXY_OUTPUT_MODE, modes)?,
            stream_arguments: header_text(headers, &X_PROXY_STREAM_ARGUMENTS, "auto or off")?,
        })
    }
}

// === impl Incoming ===

impl Incoming {
    /// Reads the body.
    pub(crate) async fn read(
        large: &LargeBodies,
        caller: &Caller,
        settings: Arc<ApiSettings>,
        endpoint: Endpoint,
        request: Request,
    ) -> Result<Self, ApiError> {
        let received = ambient::now();
        let (parts, body) = request.into_parts();
        let WholeBody { bytes: body, room } = read_body(body, settings.body, large, caller).await?;
        let request_id = parts.extensions.get::<RequestId>();
        let request_id = request_id.map(|id| id.as_str().to_owned()).unwrap_or_default();
        let trace =
            parts.extensions.get::<TraceContext>().copied().unwrap_or_else(TraceContext::new);
        settings.content_log.request(&body);
        let headers = AnswerHeaders::read(&parts.headers)?;
        let continuity = requested_continuity(&parts.headers)?.unwrap_or(settings.continuity);
        Ok(Self {
            endpoint,
            caller: caller.clone(),
            settings,
            body,
            headers,
            continuity,
            parts,
            received,
            request_id,
            trace,
            room,
        })
    }

    /// Takes room for what it refers to, as if the request had held that itself.
    pub(crate) async fn make_room(
        &mut self,
        large: &LargeBodies,
        bytes: usize,
    ) -> Result<(), ApiError> {
        if bytes >= LARGE && self.room.is_none() {
            self.room = Some(large.room(&self.caller).await?);
        }
        Ok(())
    }

    /// What its model stands for, and the origin of its reasoning.
    pub(crate) async fn choose(
        &self,
        backend: &BackendCell,
        name: &str,
        effort: Option<&str>,
    ) -> Result<(Target, Origin), ApiError> {
        let asked = AskedModel {
            name,
            effort,
            effort_field: self.endpoint.effort(),
            aliases: &self.settings.aliases,
            fallback: self.settings.model_fallback.as_deref(),
        };
        Backend::ready(backend).await?.models.choose(asked).await
    }

    /// Reads its body.
    pub(crate) async fn parse<T: Send + 'static>(
        &self,
        parse: impl FnOnce(&[u8]) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let (body, max_depth) = (self.body.clone(), self.settings.max_json_depth);
        let parse = move || check_json_depth(&body, max_depth).and_then(|()| parse(&body));
        work(self.body.len(), parse).await
    }

    /// Counts the tokens of its prompt, for which `prepare` reads the body once more.
    pub(crate) fn prompt(
        &self,
        prepare: impl FnOnce(&[u8], &RequestOptions<'_>) -> Result<Prepared, ApiError> + Send + 'static,
    ) -> Prompt {
        let (body, settings) = (self.body.clone(), Arc::clone(&self.settings.turns));
        Box::new(move || {
            // It was read once before, so it can be read again.
            prepare(&body, &RequestOptions::new(&settings)).map_or(0, |all| tokens::of_prompt(&all))
        })
    }

    /// Prepares its turns, whose model is known: nothing about them is decided later. Returns also where
    /// their reasoning is kept, if it is.
    pub(crate) async fn prepare<T: Send + 'static>(
        &self,
        kept: &Arc<KeptReasoning>,
        bytes: usize,
        (target, origin): (Target, Origin),
        prepare: impl FnOnce(&RequestOptions<'_>) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<(T, Option<ReasoningScope>), ApiError> {
        let reasoning = self.settings.keep_reasoning.map(|most_bytes| ReasoningScope {
            kept: Arc::clone(kept),
            most_bytes,
            caller: self.caller.clone(),
            origin,
        });
        let (settings, headers) = (Arc::clone(&self.settings.turns), self.headers.clone());
        let (scope, owner) = (reasoning.clone(), self.continuity.then(|| self.caller.clone()));
        let prepare = move || {
            let recall = scope.map(|scope| {
                move |call_id: &str, question: Question| scope.recall(call_id, question)
            });
            prepare(&RequestOptions {
                settings: &settings,
                requested_mode: headers.mode.as_deref(),
                stream_arguments: headers.stream_arguments.as_deref(),
                target: Some(&target),
                owner: owner.as_ref().map(Caller::id),
                recall: recall.as_ref().map(|recall| recall as &Recall<'_>),
            })
        };
        Ok((work(bytes, prepare).await?, reasoning))
    }
}

/// The value of a header, which has to be one of those `allowed`.
fn header_text(
    headers: &HeaderMap,
    name: &HeaderName,
    allowed: &str,
) -> Result<Option<String>, ApiError> {
    let unreadable = |_| {
        let message = format!("The header is not plain text: use {allowed}.");
        ApiError::invalid(name.as_str(), message)
    };
    let value = headers.get(name);
    value.map(|value| value.to_str().map(str::to_owned).map_err(unreadable)).transpose()
}

/// The header `x-proxy-continuity`.
fn requested_continuity(headers: &HeaderMap) -> Result<Option<bool>, ApiError> {
    match headers.get(X_PROXY_CONTINUITY).map(HeaderValue::as_bytes) {
        None => Ok(None),
        Some(b"on") => Ok(Some(true)),
        Some(b"off") => Ok(Some(false)),
        Some(other) => {
            let other = String::from_utf8_lossy(&other[..other.len().min(64)]).into_owned();
            let message =
                format!("Invalid value: {other:?}. Supported values are: 'on' and 'off'.");
            Err(ApiError::invalid(X_PROXY_CONTINUITY.as_str(), message).with_code("invalid_value"))
        }
    }
}

/// Does work that takes as long as there are bytes; much of it aside, so that no other request waits.
pub(crate) async fn work<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    if bytes < LARGE { work() } else { aside(work).await }
}

/// Does work on another thread, of which a panic is told like one of the request's.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let working = tokio::task::spawn_blocking(within_span(work));
    working.await.map_err(|error| unreadable(&error))?
}

pub(super) fn within_span<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let span = Span::current();
    move || span.in_scope(work)
}

fn unreadable(error: &tokio::task::JoinError) -> ApiError {
    tracing::error!(%error, "a request could not be read");
    ApiError::new(500, ErrorType::ServerError, "The request could not be read.")
}
