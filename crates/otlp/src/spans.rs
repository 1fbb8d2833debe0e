//! The spans of one request.

use std::borrow::Cow;
use std::time::SystemTime;

use opentelemetry::trace::{
    SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use server::{RequestInfo, RequestTrace, TurnTrace};

/// What all spans of a request share.
struct Spans<'a> {
    scope: &'a InstrumentationScope,
    trace_id: TraceId,
    made: Vec<SpanData>,
}

/// What a span is about.
struct About {
    name: &'static str,
    parent: Parent,
    kind: SpanKind,
    from: SystemTime,
    to: SystemTime,
    attributes: Vec<KeyValue>,
    status: Status,
}

/// Above a span.
#[derive(Clone, Copy)]
enum Parent {
    /// It is the first of its trace.
    None,
    /// The client's own.
    Remote(SpanId),
    /// One of ours.
    Local(SpanId),
}

/// The spans of a request: itself, its time in the queue, and each of its turns with the first token.
pub(crate) fn of_request(request: &RequestTrace, scope: &InstrumentationScope) -> Vec<SpanData> {
    let trace_id = TraceId::from(request.request.trace.trace_id.0.get());
    let mut spans = Spans { scope, trace_id, made: Vec::with_capacity(4) };
    let parent = match request.request.trace.parent {
        Some(parent) => Parent::Remote(SpanId::from(parent.get())),
        None => Parent::None,
    };
    let failed = request.turns.iter().find(|turn| turn.failed);
    let root = spans.add(About {
        name: "request",
        parent,
        kind: SpanKind::Server,
        from: request.received,
        to: request.ended,
        attributes: about_request(&request.request),
        status: failed.map_or(Status::Unset, failure),
    });
    spans.add(About {
        name: "queue",
        parent: Parent::Local(root),
        kind: SpanKind::Internal,
        from: request.received,
        to: request.admitted,
        attributes: Vec::new(),
        status: Status::Unset,
    });
    for (choice, turn) in request.turns.iter().enumerate() {
        let id = spans.add(About {
            name: "turn",
            parent: Parent::Local(root),
            kind: SpanKind::Internal,
            from: request.admitted,
            to: request.ended,
            attributes: about_turn(choice, turn),
            status: if turn.failed { failure(turn) } else { Status::Unset },
        });
        if let Some((_, at)) = request.first_token.filter(|(first, _)| *first as usize == choice) {
            spans.add(About {
                name: "first token",
                parent: Parent::Local(id),
                kind: SpanKind::Internal,
                from: request.admitted,
                to: at,
                attributes: Vec::new(),
                status: Status::Unset,
            });
        }
    }
    spans.made
}

// === impl Spans ===

impl Spans<'_> {
    fn add(&mut self, about: About) -> SpanId {
        // Never zero, which would be no id.
        let id = SpanId::from(fastrand::u64(1..));
        let (parent_span_id, parent_span_is_remote) = match about.parent {
            Parent::None => (SpanId::INVALID, false),
            Parent::Remote(parent) => (parent, true),
            Parent::Local(parent) => (parent, false),
        };
        let flags = TraceFlags::SAMPLED;
        self.made.push(SpanData {
            span_context: SpanContext::new(self.trace_id, id, flags, false, TraceState::NONE),
            parent_span_id,
            parent_span_is_remote,
            span_kind: about.kind,
            name: Cow::Borrowed(about.name),
            start_time: about.from,
            end_time: about.to,
            attributes: about.attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: about.status,
            instrumentation_scope: self.scope.clone(),
        });
        id
    }
}

/// Under the names of the log's fields.
fn about_request(request: &RequestInfo) -> Vec<KeyValue> {
    vec![
        KeyValue::new("http.route", request.endpoint.path()),
        KeyValue::new("request_id", request.id.clone()),
        KeyValue::new("key", request.key.name().to_owned()),
        KeyValue::new("model", request.model.clone()),
        KeyValue::new("backend_model", request.backend_model.clone()),
        KeyValue::new("stream", request.stream),
        KeyValue::new("output_mode", request.mode.as_str()),
    ]
}

fn about_turn(choice: usize, turn: &TurnTrace) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("choice", whole(choice)),
        KeyValue::new("stop_reason", turn.stop_reason),
        KeyValue::new("tool_call_count", whole(turn.tool_call_count)),
        KeyValue::new("tool_call_truncated", turn.tool_call_truncated),
    ];
    if let Some(usage) = &turn.usage {
        attributes.extend([
            KeyValue::new("prompt_tokens", whole(usage.input_tokens)),
            KeyValue::new("cached_tokens", whole(usage.cached_input_tokens)),
            KeyValue::new("completion_tokens", whole(usage.output_tokens)),
            KeyValue::new("reasoning_tokens", whole(usage.reasoning_output_tokens)),
        ]);
    }
    attributes
}

fn failure(turn: &TurnTrace) -> Status {
    Status::error(turn.stop_reason)
}

fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
