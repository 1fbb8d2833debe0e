//! What every request passes before a handler sees it, and every answer on its way back.
//!
//! A request to a host name that is not ours, or of a page that may not use us, ends here. All
//! others reach the routes, and those of the API [`admission`] first. One function instead of a
//! stack of layers: the order is plain to see, and answers for unknown paths and methods pass too.

mod access;
pub(crate) mod admission;
mod answer_body;
mod content_type;
mod cors;
mod counted;
mod hardening;
mod host;
mod key;
mod origin;
mod request_id;
mod session;
mod trace_context;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Uri, header, uri};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use openai_wire::{ApiError, ErrorType};
use tower_service::Service as _;
use tracing::Instrument as _;
use tracing::Span;

use crate::api_error::ErrorResponse;
use crate::connections::Underway;
use crate::headers::X_REQUEST_ID;
use crate::metrics::Metrics;
use crate::routes::{Routes, Tried, name_methods};
use answer_body::AnswerBody;
use cors::Cors;
use origin::Sender;

pub(crate) use access::Rules;
pub use access::{Access, AccessSettings, KeyReload};
use counted::Counted;
pub(crate) use counted::Fate;
pub(crate) use hardening::harden;
pub(crate) use host::page_address;
pub use host::{AllowedHost, InvalidHost};
pub use key::{ApiKey, Caller};
pub use origin::{AllowedOrigin, InvalidOrigin};
pub use request_id::RequestId;
pub(crate) use session::CODE_LIFETIME;
pub use trace_context::{TraceContext, TraceId};

/// The target of the span that every request has: a filter has to let it through, so that each line
/// about a request can tell the request's ids.
pub const REQUEST_SPAN: &str = "request";

/// What is asked of those who are let in.
#[derive(Debug, Clone)]
pub struct GateSettings {
    /// Whether the list of models needs a key too.
    pub protect_models: bool,
    /// Whether `/metrics` needs a key from clients on this machine too.
    pub protect_metrics: bool,
    /// The longest body of a request.
    pub max_body_bytes: usize,
}

/// The routes, and what is before them.
pub(crate) struct Gate {
    access: Access,
    cors: Cors,
    routes: Routes,
}

// === impl Gate ===

impl Gate {
    pub(crate) fn new(access: Access, routes: Routes) -> Self {
        Self { access, cors: Cors::new(), routes }
    }

    /// Where requests are counted.
    pub(crate) fn metrics(&self) -> &Metrics {
        &self.routes.metrics
    }

    /// Answers one request.
    pub(crate) async fn answer(
        &self,
        request: Request,
        underway: Underway,
    ) -> Response<AnswerBody> {
        let id = RequestId::of(request.headers());
        let trace = TraceContext::of(request.headers());
        let span = request_span(&id, trace);
        let Routes { table, metrics, .. } = &self.routes;
        let mut counted = Counted::new(Arc::clone(metrics), table.find(request.uri().path()));
        let answering = self.answer_within(request, &id, trace, counted.fate());
        let (head, body) = answering.instrument(span.clone()).await.into_parts();
        counted.answered(head.status);
        let body = AnswerBody::new(body, &head.headers, span, counted, underway);
        Response::from_parts(head, body)
    }

    /// Answers it, in its span.
    async fn answer_within(
        &self,
        request: Request,
        id: &RequestId,
        trace: TraceContext,
        fate: &Fate,
    ) -> Response {
        let rules = self.access.now();
        let sender = rules.origins.sender(request.headers());
        let mut response = match answer_here(&request, &rules, sender) {
            Ok(None) => self.answer_by_routes(request, id, trace, fate).await,
            Ok(Some(response)) => response,
            Err(error) => ErrorResponse(error).into_response(),
        };
        let headers = response.headers_mut();
        harden(headers);
        headers.insert(X_REQUEST_ID, id.clone().into_header());
        headers.append(header::VARY, HeaderValue::from_static("origin"));
        if let Sender::Allowed(origin) = sender {
            self.cors.open(origin, headers);
        }
        response
    }

    /// A handler that panics costs its own request only.
    async fn answer_by_routes(
        &self,
        mut request: Request,
        id: &RequestId,
        trace: TraceContext,
        fate: &Fate,
    ) -> Response {
        request.extensions_mut().insert(id.clone());
        request.extensions_mut().insert(trace);
        request.extensions_mut().insert(fate.clone());
        if let Some(uri) = without_trailing_slash(request.uri()) {
            *request.uri_mut() = uri;
        }
        let tried = Tried::of(&request);
        let answer = async { self.routes.router.clone().call(request).await };
        match AssertUnwindSafe(answer).catch_unwind().await {
            Ok(Ok(response)) => name_methods(&tried, response),
            Err(_) => {
                tracing::error!("a handler panicked");
                ErrorResponse(panicked()).into_response()
            }
        }
    }
}

/// What every line about a request tells. An error, so that no level is without it.
fn request_span(id: &RequestId, trace: TraceContext) -> Span {
    let trace_id = trace.trace_id;
    tracing::error_span!(target: REQUEST_SPAN, "request", request_id = id.as_str(), %trace_id)
}

/// The answer to a preflight; `None` for a request that may go on.
fn answer_here(
    request: &Request,
    rules: &Rules,
    sender: Sender<'_>,
) -> Result<Option<Response>, ApiError> {
    rules.hosts.check(request.uri(), request.headers())?;
    match sender {
        Sender::Refused => Err(origin::not_allowed()),
        Sender::Allowed(_) if cors::is_preflight(request.method(), request.headers()) => {
            cors::preflight(request.headers()).map(Some)
        }
        Sender::Allowed(_) | Sender::WithoutOrigin => Ok(None),
    }
}

/// `None` if there is nothing to take away.
fn without_trailing_slash(uri: &Uri) -> Option<Uri> {
    let path = uri.path().strip_suffix('/').filter(|path| !path.is_empty())?;
    let target = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    };
    let mut parts = uri::Parts::from(uri.clone());
    parts.path_and_query = Some(target.try_into().ok()?);
    Uri::from_parts(parts).ok()
}

fn panicked() -> ApiError {
    ApiError::new(
        500,
        ErrorType::ServerError,
        "The server failed at this request. Its log tells more, under the request id that is in \
         the header x-request-id.",
    )
    .with_code("internal_error")
}

/// The header's value, if there is exactly one: of several, two readers may believe two.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a HeaderValue> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    first.filter(|_| values.next().is_none())
}
