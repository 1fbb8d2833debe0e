//! Tool calls on the wire while the model still writes them.

mod ending;

use std::time::Instant;

use conformance::reading::SseReader;
use scripted_model::long_arguments;
use serde_json::{Value, json};

use crate::asking::{ask, function, streamed, with, with_tools};
use crate::captures::{finding, record_of};
use crate::http::Answer;
use crate::proxy::Proxy;
use crate::reply::Reply;
use crate::responses;

/// A server that streams arguments by now.
async fn streaming(settings: &[(&str, &str)]) -> Proxy {
    let proxy = Proxy::start(settings).await;
    proxy.until_early_arguments("on").await;
    proxy
}

fn args(options: &str) -> Value {
    streamed(with_tools(ask(&format!("x [[args:{options}]]"))))
}

fn response(options: &str) -> Value {
    streamed(responses::with_tools(responses::ask(format!("x [[args:{options}]]"))))
}

/// The frames of a chat that have calls: entries of `tool_calls`.
fn call_frames(answer: &Answer) -> Vec<Value> {
    let call = |frame: &Value| frame.pointer("/choices/0/delta/tool_calls/0").cloned();
    SseReader::json(&answer.body).iter().filter_map(call).collect()
}

#[tokio::test]
async fn the_name_and_the_first_fragment_come_while_the_model_writes() {
    let proxy = streaming(&[]).await;
    let whole = long_arguments(0, "x", 6_000);
    let cases =
        [("chat", ""), ("chat", ",numbered"), ("responses", ""), ("responses", ",numbered")];
    let runs = cases.map(async |(api, numbered)| {
        let options = format!("bytes=6000,piece=120,ms=30{numbered}");
        let (head_start, arguments, pieces) = if api == "chat" {
            let mut stream = proxy.open(&args(&options)).await;
            stream.until(r#""function":{"arguments":"#).await;
            let first = Instant::now();
            assert!(!stream.until("get_weather").await.contains("finish_reason\":\"t"));
            let answer = stream.whole().await;
            let calls = &Reply::of(&answer).choice().calls.clone();
            (first.elapsed(), calls[0].arguments.clone(), call_frames(&answer).len())
        } else {
            let mut stream = responses::open(&proxy, &response(&options)).await;
            stream.until("function_call_arguments.delta").await;
            let first = Instant::now();
            assert!(!stream.until("get_weather").await.contains("arguments.done"));
            let answer = stream.whole().await;
            let pieces = answer.body.matches("event: response.function_call_arguments.delta");
            let calls = responses::Reply::of(&answer).calls();
            (first.elapsed(), calls[0].arguments.clone(), pieces.count())
        };
        println!("{api}{numbered}: {head_start:?} before the end, in {pieces} pieces");
        assert_eq!(arguments, whole);
        assert!(pieces > 3, "{pieces}");
    });
    futures_util::future::join_all(runs).await;
    let streamed = proxy.counter(r#"codex_completions_tool_calls_total{delivery="streamed"}"#);
    assert_eq!(streamed.await, 4);
    assert_eq!(proxy.counter("codex_completions_log_mismatches_total").await, 0);
    assert!(proxy.counter("codex_completions_argument_fragments_total").await >= 4 * 50);
    assert_eq!(proxy.counter("codex_completions_unattributed_fragments_total").await, 0);
    assert_eq!(proxy.counter(r#"codex_completions_early_arguments{state="on"}"#).await, 1);
    let head_starts = "codex_completions_argument_head_start_seconds_count";
    assert_eq!(proxy.counter(head_starts).await, 4);
}

/// The order of frames, exactly: a header, increments, and the next call only then.
#[tokio::test]
async fn every_frame_is_as_openai_writes_it() {
    let proxy = streaming(&[]).await;
    let answer = proxy.chat(&args("ms=10,calls=2,text")).await;
    let mut calls: Vec<Value> = Vec::new();
    for frame in call_frames(&answer) {
        let members: Vec<_> = frame.as_object().unwrap().keys().cloned().collect();
        if frame["index"] == calls.len() {
            assert_eq!(members, ["index", "id", "type", "function"]);
            assert_eq!(frame["function"]["arguments"], "", "the header leaves first");
            calls.push(frame);
        } else {
            assert_eq!(members, ["index", "function"]);
            assert_eq!(frame["index"], calls.len() - 1);
            assert_ne!(frame["function"]["arguments"], "");
        }
    }
    let reply = Reply::of(&answer);
    let called = reply.choice().called();
    let expected = [0, 1].map(|index| long_arguments(index, "x", 200));
    assert_eq!(called, [("get_weather", &*expected[0]), ("get_time", &*expected[1])]);
    assert_eq!(reply.choice().finish.as_deref(), Some("tool_calls"));
    assert_eq!(reply.choice().text(), r#"You asked: "x""#);
    let id = answer.header("x-request-id").unwrap();
    assert_eq!(proxy.turn_lines(id, 1).await[0]["arguments_streamed"], 2);

    let legacy = json!({"functions": [function("get_weather")]});
    let legacy = with(streamed(ask("x [[args:ms=10]]")), legacy);
    let answer = proxy.chat(&legacy).await;
    assert!(answer.body.matches(r#""function_call":{"arguments""#).count() > 1, "{answer:?}");
    let reply = Reply::of(&answer);
    assert_eq!(reply.choice().called(), [("get_weather", &*long_arguments(0, "x", 200))]);
    assert_eq!(reply.choice().finish.as_deref(), Some("function_call"));
}

#[tokio::test]
async fn a_client_can_have_each_call_in_one_frame() {
    let proxy = streaming(&[]).await;
    let request = args("ms=10,calls=2");
    let off = [("x-proxy-stream-arguments", "off")];
    let answer = proxy.chat_with(&request, &off).await;
    assert_eq!(call_frames(&answer).len(), 2);
    assert_eq!(Reply::of(&answer).choice().calls.len(), 2);
    let auto = [("x-proxy-stream-arguments", "auto")];
    assert!(call_frames(&proxy.chat_with(&request, &auto).await).len() > 4);
    let bad = [("x-proxy-stream-arguments", "no")];
    let refused = proxy.chat_with(&request, &bad).await;
    assert_eq!(refused.error(), (400, json!("x-proxy-stream-arguments"), json!("invalid_value")));
    assert!(refused.body.contains("'auto', 'off'"), "{refused:?}");
    let answer = responses::respond_with(&proxy, &response("ms=10"), &off).await;
    assert_eq!(answer.body.matches("event: response.function_call_arguments.delta").count(), 1);
}

/// What is decided by the whole call waits for it.
#[tokio::test]
async fn where_the_whole_call_decides_it_is_held_until_complete() {
    let xml = ("PROXY_OUTPUT_MODE", "obsidian-xml");
    for settings in [&[xml][..], &[("PROXY_TOOL_BLOCK_DEDUP", "true")]] {
        let proxy = streaming(settings).await;
        let answer = proxy.chat(&args("ms=10,calls=2")).await;
        assert_eq!(call_frames(&answer).len(), 2, "{settings:?}");
        assert_eq!(Reply::of(&answer).choice().calls.len(), 2);
    }
    // A block in the text, and then a call that may be its twin.
    let proxy = streaming(&[]).await;
    let block = "<use_tool><name>get_time</name><args>{\"a\": 1}</args></use_tool>";
    let slow = long_arguments(0, "", 400);
    let script = json!([block, 20, {"name": "get_weather", "arguments": slow}]);
    let answer = proxy.chat(&streamed(with_tools(ask(&format!("[[items:{script}]]"))))).await;
    assert_eq!(call_frames(&answer).len(), 2, "{answer:?}");
    let whole = proxy.chat(&with_tools(ask("x [[args:ms=10,calls=2]]"))).await;
    assert_eq!(Reply::of(&whole).choice().calls.len(), 2);
}

#[tokio::test]
async fn calls_beyond_a_cap_never_start() {
    let proxy = streaming(&[]).await;
    let one = with(args("ms=5,calls=3"), json!({"parallel_tool_calls": false}));
    let capped = streaming(&[("PROXY_TOOL_BLOCK_MAX", "1")]).await;
    let first = streaming(&[("PROXY_STOP_AFTER_TOOLS_MODE", "first")]).await;
    for (proxy, request) in
        [(&proxy, &one), (&capped, &args("ms=5,calls=3")), (&first, &args("ms=5,calls=3"))]
    {
        let answer = proxy.chat(request).await;
        let reply = Reply::of(&answer);
        assert_eq!(reply.choice().called(), [("get_weather", &*long_arguments(0, "x", 200))]);
        assert_eq!(reply.choice().finish.as_deref(), Some("tool_calls"));
        assert!(!answer.body.contains("get_time"), "{answer:?}");
        assert!(call_frames(&answer).len() > 2, "{answer:?}");
    }
}

/// A call that is being written is no silence.
#[tokio::test]
async fn a_burst_waits_for_the_call_that_has_begun() {
    let proxy = streaming(&[("PROXY_STOP_AFTER_TOOLS_GRACE_MS", "150")]).await;
    let reply = Reply::of(&proxy.chat(&args("ms=60,piece=30,calls=3")).await);
    assert_eq!(reply.choice().calls.len(), 3);
    assert_eq!(reply.choice().finish.as_deref(), Some("tool_calls"));
}

#[tokio::test]
async fn a_refusal_is_answered_as_openai_does() {
    let proxy = streaming(&[]).await;
    let whole = proxy.chat(&ask("[[refusal]]")).await.json();
    let message = &whole["choices"][0]["message"];
    assert_eq!((&message["content"], &message["refusal"]), (&Value::Null, &json!("I cannot")));
    assert_eq!(whole["choices"][0]["finish_reason"], "stop");
    let stream = proxy.chat(&streamed(ask("[[refusal-after-text]]"))).await;
    let reply = Reply::of(&stream);
    assert_eq!(reply.choice().text(), "First whole message.");
    assert_eq!(reply.choice().refusal.as_deref(), Some("I cannot"));
    assert_eq!(reply.choice().finish.as_deref(), Some("stop"));
    let part = json!([{"type": "refusal", "refusal": "I cannot"}]);
    for request in [responses::ask("[[refusal]]"), streamed(responses::ask("[[refusal]]"))] {
        let reply = responses::Reply::of(&responses::respond(&proxy, &request).await);
        assert_eq!((reply.status(), &reply.items()[0]["content"]), ("completed", &part));
    }
    // It can be sent back.
    let history = json!([
        {"role": "user", "content": "Do it"},
        {"role": "assistant", "content": null, "refusal": "I cannot"},
        {"role": "user", "content": "[[text:Then not.]]"},
    ]);
    let reply = Reply::of(&proxy.chat(&with(ask(""), json!({"messages": history}))).await);
    assert_eq!(reply.choice().text(), "Then not.");
    let empty = Reply::of(&proxy.chat(&ask("[[empty]]")).await);
    assert_eq!((empty.choice().text(), empty.choice().finish.as_deref()), ("", Some("stop")));
}

#[tokio::test]
async fn the_check_of_the_log_leaves_no_trace() {
    let proxy = streaming(&[("PROXY_CAPTURE_DIR", "records")]).await;
    let metrics = proxy.metrics().await;
    for (line, value) in metrics.lines().filter_map(|line| line.rsplit_once(' ')) {
        if ["turns_total", "tool_call_count", "codex_completions_"]
            .iter()
            .any(|name| line.starts_with(name))
        {
            let is_state = line.contains("early_arguments{state=\"on\"}");
            let expected = if is_state { 1.0 } else { 0.0 };
            assert_eq!(value.parse::<f64>(), Ok(expected), "{line}");
        }
    }
    assert!(!proxy.log().to_string().contains("a turn has ended"));
    assert_eq!(proxy.get("/v1/usage").await.json()["totals"]["turns"], 0);
    assert_eq!(proxy.get("/v1/proxy/turns").await.json()["turns"], json!([]));
    assert!(
        !proxy.folder().join("records").exists() || crate::captures::records(&proxy).is_empty()
    );
}

#[tokio::test]
async fn a_record_has_the_fragments_and_is_replayed_to_the_byte() {
    let mut proxy = streaming(&[("PROXY_CAPTURE_DIR", "records")]).await;
    let mut ids = Vec::new();
    for request in [args("ms=5,calls=2,text"), args("ms=5,cut"), streamed(ask("[[refusal]]"))] {
        let answer = proxy.chat(&request).await;
        ids.push(answer.header("x-request-id").unwrap().to_owned());
    }
    let answer = responses::respond(&proxy, &response("ms=5,calls=2")).await;
    ids.push(answer.header("x-request-id").unwrap().to_owned());
    proxy.stop().await;
    for id in &ids {
        let file = record_of(&proxy, id);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(!text.contains("data: [DONE]\\\\n") && !text.contains("I cannot"), "{text}");
        let found = finding(&file);
        assert_eq!(
            (&found["redaction"], &found["finding"]),
            (&json!("exact"), &json!("same")),
            "{found}"
        );
    }
    let text = std::fs::read_to_string(record_of(&proxy, &ids[0])).unwrap();
    assert!(text.contains("tool_call_start") && text.contains("tool_call_arguments"), "{text}");
}
