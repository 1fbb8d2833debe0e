//! The thread that sends traces.

use std::io;
use std::time::{Duration, Instant};

use hyper_rustls::HttpsConnectorBuilder;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_http::hyper::HyperClient;
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, WithExportConfig as _, WithHttpConfig as _,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::SpanExporter as _;
use server::{RequestTrace, TraceReceiver, TraceSender, trace_queue};
use tokio::runtime;
use tokio_util::sync::CancellationToken;

use crate::spans;

const NAME: &str = "codex-completions";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Where collectors take traces, if nobody says another path.
const USUAL_PATH: &str = "/v1/traces";

/// Requests that may wait; about a megabyte.
const CAPACITY: usize = 2_048;

/// Requests that are sent together.
const MOST_AT_ONCE: usize = 128;

/// How long the first of them waits for others.
const LINGER: Duration = Duration::from_secs(1);

/// Time limit of one sending, further tries included.
const SENT_WITHIN: Duration = Duration::from_secs(5);

/// How often it is told that a collector takes nothing.
const COMPLAIN_EVERY: Duration = Duration::from_mins(1);

/// Sends traces until it is told to finish.
#[derive(Debug)]
pub struct Exporter {
    stop: CancellationToken,
    ended: CancellationToken,
}

/// Traces cannot be sent at all.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The thread or its connections could not be made.
    #[error("traces cannot be sent: {0}")]
    System(#[from] io::Error),
    /// The address cannot be used.
    #[error("traces cannot be sent: {0}")]
    Collector(#[from] ExporterBuildError),
}

/// What is told about traces that did not arrive.
#[derive(Debug, Default)]
struct Complaints {
    /// Requests whose traces were lost since the last complaint.
    lost: u64,
    last: Option<Instant>,
}

// === impl Exporter ===

impl Exporter {
    /// Starts to send what is told to the returned queue to a collector at `url`.
    ///
    /// # Errors
    /// If the address cannot be used, or the system gives us no thread.
    pub fn start(url: &str) -> Result<(TraceSender, Self), StartError> {
        let collector = collector(url)?;
        // A runtime of its own, so that no turn ever waits for the work on spans.
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (sender, receiver) = trace_queue(CAPACITY);
        let exporter = Self { stop: CancellationToken::new(), ended: CancellationToken::new() };
        let (stop, ended) = (exporter.stop.clone(), exporter.ended.clone().drop_guard());
        std::thread::Builder::new().name("traces".to_owned()).spawn(move || {
            runtime.block_on(send(receiver, &collector, &stop));
            drop(ended);
        })?;
        Ok((sender, exporter))
    }

    /// Sends what is waiting. That may take as long as the collector does.
    pub async fn finish(self) {
        self.stop.cancel();
        self.ended.cancelled().await;
    }
}

fn collector(url: &str) -> Result<opentelemetry_otlp::SpanExporter, StartError> {
    let builder = opentelemetry_otlp::SpanExporter::builder()
        .with_http()
        .with_endpoint(endpoint(url))
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(SENT_WITHIN);
    let builder = if url.starts_with("https://") {
        // Trusts whom this machine trusts.
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())?
            .https_only()
            .enable_http1()
            .build();
        builder.with_http_client(HyperClient::new(connector, SENT_WITHIN, None))
    } else {
        builder.with_http_client(HyperClient::with_default_connector(SENT_WITHIN, None))
    };
    let mut exporter = builder.build()?;
    let resource = Resource::builder().with_service_name(NAME);
    exporter
        .set_resource(&resource.with_attribute(KeyValue::new("service.version", VERSION)).build());
    Ok(exporter)
}

/// The address itself if it has a path, else where collectors usually take traces.
fn endpoint(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    if after_scheme.trim_end_matches('/').contains('/') {
        url.to_owned()
    } else {
        format!("{}{USUAL_PATH}", url.trim_end_matches('/'))
    }
}

async fn send(
    mut receiver: TraceReceiver,
    collector: &opentelemetry_otlp::SpanExporter,
    stop: &CancellationToken,
) {
    let scope = InstrumentationScope::builder(NAME).with_version(VERSION).build();
    let mut complaints = Complaints::default();
    loop {
        let batch = next_batch(&mut receiver, stop).await;
        if batch.is_empty() {
            return;
        }
        let spans = batch.iter().flat_map(|request| spans::of_request(request, &scope)).collect();
        let sent = collector.export(spans).await;
        complaints.hear(&sent, batch.len() as u64, receiver.take_lost(), Instant::now());
    }
}

/// The next requests; none once we are told to stop and there are no more.
async fn next_batch(receiver: &mut TraceReceiver, stop: &CancellationToken) -> Vec<RequestTrace> {
    let queue = &mut receiver.queue;
    let mut batch = Vec::new();
    let first = stop.run_until_cancelled(queue.recv_many(&mut batch, MOST_AT_ONCE)).await;
    if first.is_some() {
        // A collector takes many as easily as one.
        stop.run_until_cancelled(tokio::time::sleep(LINGER)).await;
    } else {
        queue.close();
    }
    while batch.len() < MOST_AT_ONCE
        && let Ok(request) = queue.try_recv()
    {
        batch.push(request);
    }
    batch
}

// === impl Complaints ===

impl Complaints {
    /// Tells of what was lost, but not too often.
    fn hear(&mut self, sent: &OTelSdkResult, requests: u64, without_room: u64, now: Instant) {
        self.lost += without_room + if sent.is_err() { requests } else { 0 };
        let is_soon = self.last.is_some_and(|last| now.duration_since(last) < COMPLAIN_EVERY);
        if self.lost == 0 || is_soon {
            return;
        }
        let requests = std::mem::take(&mut self.lost);
        self.last = Some(now);
        let error = sent.as_ref().err().map(tracing::field::display);
        tracing::warn!(requests, error, "traces were not sent: the collector does not take them");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_path_gets_the_usual_one() {
        for (url, expected) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://collector.example", "https://collector.example/v1/traces"),
            ("http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318/v1/traces"),
            ("https://collector.example/otlp/x", "https://collector.example/otlp/x"),
        ] {
            assert_eq!(endpoint(url), expected);
        }
    }
}
