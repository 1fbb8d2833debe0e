//! The line that the log has for each turn.

use serde_json::{Value, json};

use crate::asking::{ask, call, items, streamed, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// Everything of a line that does not differ from run to run.
pub(crate) fn steady(mut line: Value) -> Value {
    let members = line.as_object_mut().unwrap();
    for name in ["timestamp", "request_id", "trace_id", "tool_call_ids"] {
        assert!(members.remove(name).expect(name).is_string());
    }
    let streamed = members.remove("arguments_streamed").and_then(|calls| calls.as_u64());
    assert!(streamed.is_some_and(|calls| calls <= 2), "{streamed:?}");
    for name in ["queue_ms", "first_event_ms", "first_token_ms", "duration_ms"] {
        assert!(members.remove(name).expect(name).is_u64(), "{name}");
    }
    line
}

#[tokio::test]
async fn row_9_each_turn_has_a_line_without_any_content() {
    let settings =
        [("PROXY_TOOL_BLOCK_MAX", "7"), ("PROXY_UPSTREAM_API_KEY", "sk-upstream-secret")];
    let proxy = Proxy::start(&settings).await;
    let request = with_tools(ask("very private [[parallel:2]]"));
    let request = with(request, json!({"n": 2, "model": "chat"}));
    for (request, stream) in [(streamed(request.clone()), true), (request, false)] {
        let answer = proxy.chat(&request).await;
        let reply = Reply::of(&answer);
        let lines = proxy.turn_lines(answer.header("x-request-id").unwrap(), 2).await;
        for (choice, line) in lines.into_iter().enumerate() {
            let calls = &reply.choices[choice].calls;
            assert_eq!(line["tool_call_ids"], format!("{},{}", calls[0].id, calls[1].id));
            assert_eq!(
                steady(line),
                json!({
                    "level": "INFO", "target": "turn", "message": "a turn has ended",
                    "endpoint": "chat", "key": "default", "choice": choice, "model": "chat",
                    "backend_model": answer.header("x-proxy-model"),
                    "stream": stream, "output_mode": "openai-json",
                    "has_tool_calls": true, "tool_call_count": 2,
                    "tool_call_names": "get_weather,get_time", "tool_call_truncated": false,
                    "stop_after_tools_mode": "burst", "stop_reason": "tool_calls",
                    "suppressed_bytes": 0, "continuity": "fresh", "fresh_reason": "off",
                    "settings": "PROXY_TOOL_BLOCK_MAX=7",
                    "ignored_params": "",
                    "prompt_tokens": 123, "cached_tokens": 100,
                    "completion_tokens": 45, "reasoning_tokens": 7,
                })
            );
        }
    }
    let log = proxy.log().to_string();
    for secret in ["very private", "sk-upstream-secret", "sk-of-these-tests"] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

/// Text after the last call, and in a whole answer in JSON mode all text beside calls.
#[tokio::test]
async fn text_that_is_not_sent_is_counted() {
    let proxy = Proxy::start(&[]).await;
    let said = items(&[json!("Before."), call("get_time", "Rome"), json!("Äfter.")]);
    let request = with_tools(ask(&said));
    for (request, mode, suppressed) in [
        (streamed(request.clone()), "openai-json", 7),
        (request.clone(), "openai-json", 14),
        (streamed(request.clone()), "obsidian-xml", 7),
        (request, "obsidian-xml", 7),
    ] {
        let answer = proxy.chat_with(&request, &[("x-proxy-output-mode", mode)]).await;
        let line = proxy.turn_lines(answer.header("x-request-id").unwrap(), 1).await.remove(0);
        assert_eq!(line["suppressed_bytes"], suppressed, "{request} in {mode}");
    }
}
