//! A request whose body is there.

use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bridge::{RequestOptions, TurnSettings};
use openai_wire::{ApiError, ErrorType};
use tracing::Span;

use crate::api::{Api, ApiSettings};
use crate::body::{WholeBody, read_body};
use crate::gate::{Caller, RequestId, TraceContext};
use crate::headers::{X_PROXY_CONTINUITY, X_PROXY_OUTPUT_MODE, X_PROXY_STREAM_ARGUMENTS};
use crate::large_bodies::{BodyRoom, LARGE};
use crate::models::{AskedModel, Chosen};

use super::running::Endpoint;

/// A request whose body is there.
pub(crate) struct Incoming {
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

    pub(crate) fn options<'a>(&'a self, settings: &'a TurnSettings) -> RequestOptions<'a> {
        RequestOptions {
            settings,
            requested_mode: self.mode.as_deref(),
            stream_arguments: self.stream_arguments.as_deref(),
        }
    }
}

// === impl Incoming ===

impl Incoming {
    /// Reads the body.
    pub(crate) async fn read(
        api: &Api,
        caller: &Caller,
        settings: Arc<ApiSettings>,
        request: Request,
    ) -> Result<Self, ApiError> {
        let received = Instant::now();
        let (parts, body) = request.into_parts();
        let WholeBody { bytes: body, room } =
            read_body(body, settings.body, &api.0.large, caller).await?;
        let request_id = parts.extensions.get::<RequestId>();
        let request_id = request_id.map(|id| id.as_str().to_owned()).unwrap_or_default();
        let trace =
            parts.extensions.get::<TraceContext>().copied().unwrap_or_else(TraceContext::new);
        settings.content_log.request(&body);
        let headers = AnswerHeaders::read(&parts.headers)?;
        let continuity = requested_continuity(&parts.headers)?.unwrap_or(settings.continuity);
        Ok(Self {
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
    pub(crate) async fn make_room(&mut self, api: &Api, bytes: usize) -> Result<(), ApiError> {
        if bytes >= LARGE && self.room.is_none() {
            self.room = Some(api.0.large.room(&self.caller).await?);
        }
        Ok(())
    }

    /// What its model really is.
    pub(crate) async fn choose(
        &self,
        api: &Api,
        endpoint: Endpoint,
        name: &str,
        effort: Option<&str>,
    ) -> Result<Chosen, ApiError> {
        let asked = AskedModel {
            name,
            effort,
            effort_field: endpoint.effort(),
            aliases: &self.settings.aliases,
            fallback: self.settings.model_fallback.as_deref(),
        };
        api.backend().await?.models.choose(asked).await
    }

    /// Does work that takes as long as there are bytes. Much of it is done aside, so that nobody else
    /// waits for it.
    pub(crate) async fn work<T: Send + 'static>(
        &self,
        api: &Api,
        bytes: usize,
        work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        if bytes < LARGE { work() } else { aside(api, work).await }
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

/// Does work on another thread, of which a panic is told like one of the request's.
pub(crate) async fn aside<T: Send + 'static>(
    api: &Api,
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    let working = api.0.tasks.spawn_blocking(within_span(work));
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
