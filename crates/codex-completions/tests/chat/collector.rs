//! A collector of traces, which reads them by OpenTelemetry's own definitions.

use std::collections::BTreeMap;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, Uri};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;

/// Listens on loopback; gone when it is dropped.
pub(crate) struct Collector {
    url: String,
    received: watch::Receiver<Vec<Export>>,
    _server: JoinSet<()>,
}

/// One request of the server to its collector.
#[derive(Debug, Clone)]
pub(crate) struct Export {
    pub(crate) path: String,
    pub(crate) content_type: String,
    pub(crate) request: ExportTraceServiceRequest,
}

/// What becomes of what it is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Manner {
    Takes,
    Refuses,
    NeverAnswers,
}

// === impl Collector ===

impl Collector {
    pub(crate) async fn start(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (exports, received) = watch::channel(Vec::new());
        let take = move |uri: Uri, headers: HeaderMap, body: Bytes| {
            let export = Export {
                path: uri.path().to_owned(),
                content_type: headers["content-type"].to_str().unwrap().to_owned(),
                request: ExportTraceServiceRequest::decode(body).unwrap(),
            };
            exports.send_modify(|exports| exports.push(export));
            async move {
                match manner {
                    Manner::Takes => StatusCode::OK,
                    Manner::Refuses => StatusCode::SERVICE_UNAVAILABLE,
                    Manner::NeverAnswers => std::future::pending().await,
                }
            }
        };
        let mut server = JoinSet::new();
        server.spawn(async move {
            axum::serve(listener, Router::new().fallback(take)).await.unwrap();
        });
        Self { url, received, _server: server }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What it has been sent so far.
    pub(crate) fn exports(&self) -> Vec<Export> {
        self.received.borrow().clone()
    }

    /// Waits for something.
    pub(crate) async fn until_sent(&self) -> Vec<Export> {
        let mut received = self.received.clone();
        received.wait_for(|exports| !exports.is_empty()).await.unwrap().clone()
    }
}

// === impl Export ===

impl Export {
    pub(crate) fn spans(&self) -> Vec<Span> {
        let scopes = self.request.resource_spans.iter().flat_map(|spans| &spans.scope_spans);
        scopes.flat_map(|scope| scope.spans.clone()).collect()
    }
}

/// Attributes as JSON.
pub(crate) fn attributes(attributes: &[KeyValue]) -> Value {
    let json = |value: &AnyValue| match value.value.as_ref().unwrap() {
        Any::StringValue(text) => json!(text),
        Any::BoolValue(flag) => json!(flag),
        Any::IntValue(number) => json!(number),
        other => panic!("unexpected {other:?}"),
    };
    let entries = attributes
        .iter()
        .map(|attribute| (attribute.key.clone(), json(attribute.value.as_ref().unwrap())));
    let by_name: BTreeMap<_, _> = entries.collect();
    assert_eq!(by_name.len(), attributes.len(), "a name comes twice: {attributes:?}");
    json!(by_name)
}
