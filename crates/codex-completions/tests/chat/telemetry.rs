//! What is told about a turn's calls, everywhere at once: the comment at a stream's end, the headers
//! of a whole answer, the log line and the counters.

use serde_json::{Value, json};

use crate::asking::streamed;
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::reply::Reply;

/// What is told about a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) calls: usize,
    pub(crate) truncated: bool,
    /// `stop_after_tools_mode`
    pub(crate) mode: &'static str,
    pub(crate) stop_reason: &'static str,
}

/// The same request streamed and whole; every place must tell the same of it.
pub(crate) async fn both_ways(proxy: &Proxy, request: &Value, told: &Told) -> (Reply, Reply) {
    let streaming = streamed(request.clone());
    let before = counters(proxy).await;
    let stream = proxy.chat(&streaming).await;
    let reply = Reply::of(&stream);
    let comment = json!({
        "tool_call_count": told.calls,
        "tool_call_truncated": told.truncated,
        "stop_after_tools_mode": told.mode,
    });
    assert_eq!(reply.telemetry, Some(comment), "{request}");
    check_log(proxy, &stream, &reply, told).await;

    let whole = proxy.chat(request).await;
    let collected = Reply::of(&whole);
    let headers =
        ["count", "truncated"].map(|what| whole.header(&format!("x-codex-tool-call-{what}")));
    let (count, truncated) = (told.calls.to_string(), told.truncated.to_string());
    assert_eq!(headers, [Some(count.as_str()), Some(truncated.as_str())], "{request}");
    check_log(proxy, &whole, &collected, told).await;

    for answer in [&stream, &whole] {
        assert_eq!(answer.header("x-codex-stop-after-tools-mode"), Some(told.mode));
    }
    let (calls, turns) = before;
    let after = (calls + 2 * told.calls as u64, turns + 2 * u64::from(told.truncated));
    assert_eq!(counters(proxy).await, after, "{request}");
    (reply, collected)
}

async fn counters(proxy: &Proxy) -> (u64, u64) {
    (proxy.counter("tool_call_count_total").await, proxy.counter("tool_call_truncated_total").await)
}

async fn check_log(proxy: &Proxy, answer: &Answer, reply: &Reply, told: &Told) {
    let id = answer.header("x-request-id").unwrap();
    let line = proxy.turn_lines(id, 1).await.remove(0);
    let calls = &reply.choice().calls;
    let joined = |texts: Vec<&str>| texts.join(",");
    let expected = json!({
        "has_tool_calls": told.calls > 0,
        "tool_call_count": told.calls,
        "tool_call_names": joined(calls.iter().map(|call| call.name.as_str()).collect()),
        "tool_call_ids": joined(calls.iter().map(|call| call.id.as_str()).collect()),
        "tool_call_truncated": told.truncated,
        "stop_after_tools_mode": told.mode,
        "stop_reason": told.stop_reason,
        "output_mode": answer.header("x-proxy-output-mode"),
    });
    let logged: Value = expected
        .as_object()
        .unwrap()
        .keys()
        .map(|name| (name.clone(), line[name].clone()))
        .collect();
    assert_eq!(logged, expected, "{line}");
}
