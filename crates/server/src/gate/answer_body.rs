//! The body of every answer, in which a panic costs that answer only.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, header};
use bridge::EndReason;
use bytes::BytesMut;
use http_body::{Frame, SizeHint};
use openai_wire::chat::stream::{done, error_frame};
use tracing::Span;

use super::counted::Counted;
use super::panicked;
use crate::connections::Underway;

/// A body; dropping it says that its request is over.
pub(crate) struct AnswerBody {
    /// `None` after a panic.
    body: Option<Body>,
    form: Form,
    /// The request's.
    span: Span,
    counted: Counted,
    _underway: Underway,
}

/// How an answer can be broken off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// With an error as its last frame.
    Events,
    /// Only with its connection.
    Other,
}

/// The connection is cut, so that what was sent never looks complete.
#[derive(Debug, thiserror::Error)]
#[error("the body of an answer panicked")]
pub(crate) struct Panicked;

// === impl AnswerBody ===

impl AnswerBody {
    pub(crate) fn new(
        body: Body,
        headers: &HeaderMap,
        span: Span,
        counted: Counted,
        underway: Underway,
    ) -> Self {
        let events = HeaderValue::from_static("text/event-stream");
        let form = match headers.get(header::CONTENT_TYPE) {
            Some(kind) if kind == events => Form::Events,
            _ => Form::Other,
        };
        Self { body: Some(body), form, span, counted, _underway: underway }
    }

    fn break_off(&mut self) -> Result<Frame<Bytes>, Panicked> {
        self.counted.fate().turn_ended(EndReason::Failed);
        tracing::error!(parent: &self.span, "the body of an answer panicked");
        // What has panicked once may do so again when it is dropped.
        let body = self.body.take();
        let _ = catch_unwind(AssertUnwindSafe(|| self.span.in_scope(|| drop(body))));
        match self.form {
            Form::Events => {
                let mut last = BytesMut::new();
                error_frame(&panicked(), &mut last);
                done(&mut last);
                Ok(Frame::data(last.freeze()))
            }
            Form::Other => Err(Panicked),
        }
    }
}

impl Drop for AnswerBody {
    fn drop(&mut self) {
        // Whoever writes a body of a known length stops there.
        if self.body.as_ref().is_some_and(http_body::Body::is_end_stream) {
            self.counted.complete();
        }
        // The end of an answer that its client did not wait for is told too.
        let body = self.body.take();
        self.span.in_scope(|| drop(body));
    }
}

impl http_body::Body for AnswerBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Self { body, span, .. } = &mut *self;
        let Some(body) = body else { return Poll::Ready(None) };
        let polling = || span.in_scope(|| Pin::new(body).poll_frame(context));
        match catch_unwind(AssertUnwindSafe(polling)) {
            Ok(polled) => {
                if let Poll::Ready(None) = polled {
                    self.counted.complete();
                }
                polled
            }
            Err(_) => Poll::Ready(Some(self.break_off().map_err(axum::Error::new))),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map(Body::size_hint).unwrap_or_default()
    }
}
