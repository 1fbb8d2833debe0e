//! What is told about a turn's calls, everywhere at once: the comment at a stream's end, the headers
//! of a whole answer, the log line and the counters.

use serde_json::{Value, json};

use crate::asking::streamed;
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::reply::{Call, Reply};

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
    told.check_stream(proxy, &stream, reply.telemetry.as_ref(), &reply.choice().calls).await;
    let whole = proxy.chat(request).await;
    let collected = Reply::of(&whole);
    told.check_whole(proxy, &whole, &collected.choice().calls).await;
    told.check_counters(proxy, before).await;
    (reply, collected)
}

/// Calls that were forwarded, and turns that were cut.
pub(crate) async fn counters(proxy: &Proxy) -> (u64, u64) {
    (proxy.counter("tool_call_count_total").await, proxy.counter("tool_call_truncated_total").await)
}

// === impl Told ===

impl Told {
    pub(crate) async fn check_stream(
        &self,
        proxy: &Proxy,
        stream: &Answer,
        telemetry: Option<&Value>,
        calls: &[Call],
    ) {
        let comment = json!({
            "tool_call_count": self.calls,
            "tool_call_truncated": self.truncated,
            "stop_after_tools_mode": self.mode,
        });
        assert_eq!(telemetry, Some(&comment), "{stream:?}");
        self.check_log(proxy, stream, calls).await;
    }

    pub(crate) async fn check_whole(&self, proxy: &Proxy, whole: &Answer, calls: &[Call]) {
        let headers =
            ["count", "truncated"].map(|what| whole.header(&format!("x-codex-tool-call-{what}")));
        let (count, truncated) = (self.calls.to_string(), self.truncated.to_string());
        assert_eq!(headers, [Some(count.as_str()), Some(truncated.as_str())], "{whole:?}");
        self.check_log(proxy, whole, calls).await;
    }

    /// After one stream and one whole answer.
    pub(crate) async fn check_counters(&self, proxy: &Proxy, (calls, turns): (u64, u64)) {
        let after = (calls + 2 * self.calls as u64, turns + 2 * u64::from(self.truncated));
        assert_eq!(counters(proxy).await, after);
    }

    async fn check_log(&self, proxy: &Proxy, answer: &Answer, calls: &[Call]) {
        assert_eq!(answer.header("x-codex-stop-after-tools-mode"), Some(self.mode));
        let id = answer.header("x-request-id").unwrap();
        let line = proxy.turn_lines(id, 1).await.remove(0);
        let joined = |texts: Vec<&str>| texts.join(",");
        let expected = json!({
            "has_tool_calls": self.calls > 0,
            "tool_call_count": self.calls,
            "tool_call_names": joined(calls.iter().map(|call| call.name.as_str()).collect()),
            "tool_call_ids": joined(calls.iter().map(|call| call.id.as_str()).collect()),
            "tool_call_truncated": self.truncated,
            "stop_after_tools_mode": self.mode,
            "stop_reason": self.stop_reason,
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
}
