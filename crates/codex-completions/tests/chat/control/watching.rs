//! The turns and the state of everything, as they come.

use conformance::reading::{Frame, SseReader};
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};
use testkit::process::signal;

use super::send;
use crate::asking::{ask, streamed, with_tools};
use crate::http::Exchange;
use crate::proxy::Proxy;

/// Somebody who watches.
struct Watcher {
    stream: Exchange,
    /// How many events were taken.
    taken: usize,
}

impl Watcher {
    async fn new(proxy: &Proxy) -> Self {
        let request = Request::get("/v1/proxy/events").body(Full::default()).unwrap();
        let stream = proxy.send(request).await;
        assert_eq!(stream.headers["content-type"], "text/event-stream");
        Self { stream, taken: 0 }
    }

    /// The next event of this name that is as wanted.
    async fn next(&mut self, name: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut bytes = 0;
            let events = loop {
                let (read, over) = self.stream.read_at_least(bytes).await;
                let events = SseReader::default().take(read.as_bytes());
                if events.len() > self.taken {
                    break events;
                }
                assert!(!over, "no {name} in {read}");
                bytes = read.len() + 1;
            };
            let event = events[self.taken].frame.clone();
            self.taken += 1;
            let data: Value = match event {
                Frame::Event { name: Some(kind), data } if kind == name => {
                    serde_json::from_str(&data).unwrap()
                }
                _ => continue,
            };
            if is_wanted(&data) {
                return data;
            }
        }
    }
}

/// The same without what differs each time.
fn timeless(mut turn: Value) -> Value {
    for name in [
        "started_at",
        "queue_ms",
        "first_event_ms",
        "first_token_ms",
        "duration_ms",
        "id",
        "number",
    ] {
        let time = turn.as_object_mut().unwrap().remove(name);
        assert!(time.is_some_and(|time| time.is_u64() || time.is_string()), "{name}: {turn}");
    }
    turn
}

on_one_server! {
    a_turn_is_told_when_it_begins_and_when_it_ends_and_nothing_of_what_was_said,
    a_running_turn_is_told_to_somebody_who_comes_later_and_so_is_its_end,
}

async fn a_turn_is_told_when_it_begins_and_when_it_ends_and_nothing_of_what_was_said(
    proxy: &Proxy,
) {
    let mut watcher = Watcher::new(proxy).await;
    assert_eq!(watcher.next("turns", |_| true).await, json!({"turns": []}));
    let request = with_tools(streamed(ask("canary [[parallel:2]]")));
    let answer = proxy.chat_with(&request, &[("user-agent", "OpenAI/Python 2.1.0")]).await;
    let id = format!("{}/0", answer.header("x-request-id").unwrap());
    let begun = watcher.next("turn", |turn| turn["id"] == id.as_str()).await;
    assert_eq!(begun["state"], "running");
    let ended = watcher.next("turn", |turn| turn["id"] == id.as_str()).await;
    let expected = json!({
        "state": "ended", "endpoint": "chat", "key": "default", "client": "OpenAI/Python 2.1.0",
        "model": "gpt-5.5", "backend_model": "gpt-5.5", "stream": true,
        "output_mode": "openai-json", "stop_reason": "tool_calls", "failed": false, "failure": null,
        "tool_calls": ["get_weather", "get_time"], "tool_call_count": 2, "truncated": false,
        "continuity": "fresh",
        "tokens": {"prompt": 123, "cached": 100, "completion": 45, "reasoning": 7},
    });
    assert_eq!(timeless(ended.clone()), expected);
    let all = send(proxy, "GET", "/v1/proxy/turns", None).await;
    assert_eq!(all.json(), json!({"turns": [ended]}));
    assert!(!all.body.contains("canary"));
}

async fn a_running_turn_is_told_to_somebody_who_comes_later_and_so_is_its_end(proxy: &Proxy) {
    let request = streamed(ask("[[hang]]"));
    let hanging = proxy.open(&request).await;
    let mut watcher = Watcher::new(proxy).await;
    let turns = watcher.next("turns", |_| true).await;
    let running = &turns["turns"][0];
    assert_eq!((&running["state"], &running["tool_calls"]), (&json!("running"), &Value::Null));
    let status = watcher.next("status", |status| status["turns"]["running"] == 1).await;
    assert_eq!(status["turns"]["keys"], json!({"default": {"running": 1, "waiting": 0}}));
    drop(hanging);
    let ended = watcher.next("turn", |turn| turn["id"] == running["id"]).await;
    assert_eq!((&ended["state"], &ended["stop_reason"]), (&json!("ended"), &json!("client_gone")));
    watcher.next("status", |status| status["turns"]["running"] == 0).await;
}

#[tokio::test]
async fn row_21_a_stream_of_events_ends_with_its_key_and_sends_nothing_of_later_turns() {
    // Without a given key the server has one of its own, which can be rotated.
    let proxy = Proxy::start(&[("PROXY_API_KEY", "")]).await;
    let file = proxy.folder().join("api-key");
    let bearer = |key: &str| format!("Bearer {}", key.trim());
    let old = bearer(&std::fs::read_to_string(&file).unwrap());
    let request = Request::get("/v1/proxy/events").header("authorization", &old);
    let mut stream = proxy.send(request.body(Full::default()).unwrap()).await;
    stream.until("event: status").await;
    let turn = async |key: &str| {
        let answer = proxy.chat_with(&ask("[[text]]"), &[("authorization", key)]).await;
        answer.header("x-request-id").unwrap().to_owned()
    };
    // These are not read before the key is another one.
    let earlier = turn(&old).await;
    let new = bearer(&proxy.run(&["key", "rotate"], "").await);
    proxy.logged("keys have changed").await;
    let later = turn(&new).await;
    // It ends by itself.
    let sent = stream.whole().await.body;
    assert!(sent.contains(&earlier) && !sent.contains(&later), "{sent}");
}

#[tokio::test]
async fn whoever_watches_is_told_of_a_lost_child_of_settings_and_of_the_end() {
    let mut proxy = Proxy::start(&[]).await;
    let mut watcher = Watcher::new(&proxy).await;
    let is_checked = |status: &Value| status["workers"][0]["early_arguments"] == "on";
    let status = watcher.next("status", is_checked).await;
    assert_eq!(
        status["workers"][0],
        json!({
            "state": "ready", "codex": status["workers"][0]["codex"].as_str().unwrap(),
            "canary": "passed", "early_arguments": "on",
        })
    );
    assert_eq!(status["ready"], true);
    for child in proxy.children() {
        signal(child, "-KILL");
    }
    watcher.next("status", |status| status["restarts"] == 1).await;
    watcher.next("status", |status| status["ready"] == true).await;
    std::fs::write(proxy.folder().join("config.toml"), "tool_block_max = 2\n").unwrap();
    assert_eq!(watcher.next("settings", |_| true).await, json!({}));
    signal(proxy.process_id(), "-TERM");
    // A stream that never ends must not hold the server up.
    watcher.stream.whole().await;
    assert!(proxy.end().await.success());
}
