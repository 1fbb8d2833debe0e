//! Traces, as a collector gets them.

use std::collections::BTreeSet;
use std::time::Instant;

use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use serde_json::{Value, json};

use crate::asking::{ask, streamed, with, with_tools};
use crate::collector::{Collector, Export, Manner, attributes};
use crate::proxy::Proxy;
use crate::reply::Reply;

const TRACE: [u8; 16] = 0x0af7_6519_16cd_43dd_8448_eb21_1c80_319c_u128.to_be_bytes();
const PARENT: [u8; 8] = 0xb7ad_6b71_6920_3331_u64.to_be_bytes();
const TRACEPARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const UNSAMPLED: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";

async fn proxy_sending_to(collector: &Collector) -> Proxy {
    let settings =
        [("PROXY_OTEL_EXPORTER_URL", collector.url()), ("WORKER_SHUTDOWN_GRACE_MS", "1000")];
    Proxy::start(&settings).await
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// What the span of a request has, beside the times.
fn about_request(request: &Span) -> Value {
    let status = request.status.as_ref().map_or(0, |status| status.code);
    json!([request.kind, status, attributes(&request.attributes)])
}

#[tokio::test]
async fn a_request_is_a_trace_in_the_collectors_own_format() {
    let collector = Collector::start(Manner::Takes).await;
    let proxy = proxy_sending_to(&collector).await;
    let request = with(with_tools(ask("[[parallel:2]]")), json!({"n": 2, "model": "chat"}));
    let headers = [("x-request-id", "mine"), ("traceparent", TRACEPARENT)];
    let answer = proxy.chat_with(&streamed(request), &headers).await;
    let exports = collector.until_sent().await;
    let [export] = exports.as_slice() else { panic!("{exports:?}") };
    assert_eq!(
        (export.path.as_str(), export.content_type.as_str()),
        ("/v1/traces", "application/x-protobuf")
    );
    let [of_resource] = export.request.resource_spans.as_slice() else { panic!("{export:?}") };
    let resource = attributes(&of_resource.resource.as_ref().unwrap().attributes);
    assert_eq!(resource["service.name"], "codex-completions");
    assert_eq!(resource["service.version"], env!("CARGO_PKG_VERSION"));

    let spans = export.spans();
    let [root] = named(&spans, "request")[..] else { panic!("{spans:?}") };
    let [queue] = named(&spans, "queue")[..] else { panic!("{spans:?}") };
    let [first, second] = named(&spans, "turn")[..] else { panic!("{spans:?}") };
    // The choice that has spoken first.
    let [token] = named(&spans, "first token")[..] else { panic!("{spans:?}") };
    assert_eq!(spans.len(), 5);
    let ids: BTreeSet<_> = spans.iter().map(|span| &span.span_id).collect();
    assert_eq!(ids.len(), 5, "{spans:?}");
    assert!(spans.iter().all(|span| span.trace_id == TRACE && span.span_id.len() == 8));
    assert_eq!(root.parent_span_id, PARENT);
    for child in [queue, first, second] {
        assert_eq!(child.parent_span_id, root.span_id);
    }
    assert!([&first.span_id, &second.span_id].contains(&&token.parent_span_id));

    let times = |span: &Span| (span.start_time_unix_nano, span.end_time_unix_nano);
    let ((received, ended), (_, admitted)) = (times(root), times(queue));
    assert!(received <= admitted && admitted < ended, "{spans:?}");
    assert_eq!(times(queue), (received, admitted));
    assert_eq!([times(first), times(second)], [(admitted, ended); 2]);
    assert_eq!(times(token).0, admitted);
    assert!((admitted..=ended).contains(&times(token).1), "{spans:?}");

    let attributes_of_request = json!({
        "http.route": "/v1/chat/completions", "request_id": "mine", "key": "default",
        "model": "chat", "backend_model": answer.header("x-proxy-model"), "stream": true,
        "output_mode": "openai-json",
    });
    let expected =
        json!([SpanKind::Server as i32, StatusCode::Unset as i32, attributes_of_request]);
    assert_eq!(about_request(root), expected);
    for (choice, turn) in [first, second].into_iter().enumerate() {
        assert_eq!(
            attributes(&turn.attributes),
            json!({
                "choice": choice, "stop_reason": "tool_calls", "tool_call_count": 2,
                "tool_call_truncated": false, "prompt_tokens": 123, "cached_tokens": 100,
                "completion_tokens": 45, "reasoning_tokens": 7,
            })
        );
    }
}

#[tokio::test]
async fn what_is_waiting_at_the_end_is_sent_and_what_nobody_keeps_is_not() {
    let collector = Collector::start(Manner::Takes).await;
    let mut proxy = proxy_sending_to(&collector).await;
    assert_eq!(proxy.chat_with(&ask("[[text]]"), &[("traceparent", UNSAMPLED)]).await.status, 200);
    let failed = proxy.chat(&ask("[[http:500]]")).await;
    assert_eq!(failed.status, 502);
    let line = proxy.turn_lines(failed.header("x-request-id").unwrap(), 1).await.remove(0);
    proxy.stop().await;
    let exports = collector.exports();
    let spans: Vec<_> = exports.iter().flat_map(Export::spans).collect();
    let names: Vec<_> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["request", "queue", "turn"]);
    // A trace of its own, of which this is the first span.
    let trace = u128::from_be_bytes(spans[0].trace_id.as_slice().try_into().unwrap());
    assert_eq!(line["trace_id"], format!("{trace:032x}"));
    assert!(spans[0].parent_span_id.is_empty());
    for span in [&spans[0], &spans[2]] {
        let status = span.status.as_ref().unwrap();
        assert_eq!((status.code, status.message.as_str()), (StatusCode::Error as i32, "failed"));
    }
}

#[tokio::test]
async fn a_collector_that_refuses_everything_disturbs_nobody() {
    assert_undisturbed_by(Manner::Refuses).await;
}

#[tokio::test]
async fn a_collector_that_never_answers_disturbs_nobody() {
    assert_undisturbed_by(Manner::NeverAnswers).await;
}

async fn assert_undisturbed_by(manner: Manner) {
    let collector = Collector::start(manner).await;
    let mut proxy = proxy_sending_to(&collector).await;
    for request in [ask("[[text]]"), streamed(ask("[[text]]"))] {
        let reply = Reply::of(&proxy.chat(&request).await);
        assert_eq!(reply.choice().text(), "Hello from the scripted model.");
        // The next one is answered while this one is being sent.
        collector.until_sent().await;
    }
    let told = proxy.logged("traces were not sent: the collector does not take them").await;
    assert_eq!((&told["level"], &told["requests"]), (&json!("WARN"), &json!(1)));
    let stopping = Instant::now();
    proxy.stop().await;
    println!("stopped within {:?}", stopping.elapsed());
}
