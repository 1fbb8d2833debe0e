//! The ids of the request that a line of the log belongs to.

use std::fmt;

use server::REQUEST_SPAN;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// Lets the spans of requests through, whatever else is logged: of a span that a filter has dropped
/// no line could tell the ids.
pub(crate) const HEARD: &str = "request=error";

/// Keeps the ids of each request with its span, so that a line only has to copy them.
pub(crate) struct KeepRequestIds;

/// What is kept.
#[derive(Debug, Default)]
pub(crate) struct RequestIds {
    pub(crate) request_id: String,
    pub(crate) trace_id: String,
}

// === impl KeepRequestIds ===

impl<S> Layer<S> for KeepRequestIds
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if attributes.metadata().target() == REQUEST_SPAN
            && let Some(span) = context.span(id)
        {
            let mut ids = RequestIds::default();
            attributes.record(&mut ids);
            span.extensions_mut().insert(ids);
        }
    }
}

// === impl RequestIds ===

impl Visit for RequestIds {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "request_id" => value.clone_into(&mut self.request_id),
            "trace_id" => value.clone_into(&mut self.trace_id),
            _ => {}
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}
