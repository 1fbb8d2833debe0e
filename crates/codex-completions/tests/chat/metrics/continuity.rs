//! How turns got their threads, and what is kept.

use serde_json::{Value, json};
use testkit::process::signal;
use testkit::until;

use super::{Changes, all, changes_by, chat, kept, tokens, turn, turn_anywhere};
use crate::asking::{ask, streamed, with, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

/// A conversation, and what the model said last.
struct Conversation<'a> {
    proxy: &'a Proxy,
    request: Value,
    last: Option<Reply>,
}

// === impl Conversation ===

impl<'a> Conversation<'a> {
    fn new(proxy: &'a Proxy, request: Value) -> Self {
        Self { proxy, request: streamed(request), last: None }
    }

    /// Asks, and gives what has changed.
    async fn ask(&mut self) -> Changes {
        let deed = async {
            let answer = self.proxy.chat(&self.request).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            self.last = Some(Reply::of(&answer));
        };
        changes_by(self.proxy, deed).await
    }

    /// Goes on with these messages, after what the model said.
    fn go_on(&mut self, messages: impl IntoIterator<Item = Value>) {
        let last = self.last.take().expect("an answer");
        let choice = last.choice();
        let calls: Vec<_> = choice
            .calls
            .iter()
            .map(|call| {
                let function = json!({"name": call.name, "arguments": call.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            })
            .collect();
        let mut said = json!({"role": "assistant", "content": choice.text()});
        if !calls.is_empty() {
            said = with(said, json!({"content": null, "tool_calls": calls}));
        }
        let history = self.request["messages"].as_array_mut().unwrap();
        history.push(said);
        history.extend(messages);
    }
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

/// What a turn adds whose client has got all of it.
fn answered() -> Value {
    all([chat("200", "ok"), json!({"first_token_seconds_count": 1}), tokens()])
}

#[tokio::test]
async fn turns_in_threads_that_were_kept_are_counted_with_their_own_tokens() {
    let proxy = Proxy::start(&[]).await;
    // The catalog is asked for once.
    proxy.chat_with(&ask("[[text]]"), &[("x-proxy-continuity", "off")]).await;

    let mut conversation = Conversation::new(&proxy, ask("[[text:One.]]"));
    let begun = conversation.ask().await;
    assert_eq!(begun, turn("completed", 0, with(answered(), kept("idle", 1))));
    conversation.go_on([user("[[text:Two.]]")]);
    let reused = json!({
        "turn_continuity_total{continuity=reused,reason=none}": 1,
        "codex_request_seconds_count{method=thread/inject_items}": 1,
        "codex_request_seconds_count{method=turn/start}": 1,
    });
    let went_on = conversation.ask().await;
    assert_eq!(went_on, turn_anywhere("completed", 0, with(answered(), reused)));
    // The thread has gone on.
    let again = conversation.ask().await;
    let taken = json!({
        "turn_continuity_total{continuity=fresh,reason=first}": 0,
        "turn_continuity_total{continuity=fresh,reason=taken}": 1,
    });
    assert_eq!(again, turn("completed", 0, with(answered(), taken)));

    let mut conversation = Conversation::new(&proxy, with_tools(ask("[[parallel:2]]")));
    let begun = conversation.ask().await;
    let calls = || json!({"tool_calls_total{mode=openai-json,source=structured}": 2});
    assert_eq!(begun, turn("tool_calls", 2, all([answered(), calls(), kept("held", 1)])));
    let results =
        conversation.last.as_ref().unwrap().choice().calls.iter().map(
            |call| json!({"role": "tool", "tool_call_id": call.id, "content": "[[text:Done.]]"}),
        );
    let results: Vec<_> = results.collect();
    conversation.go_on(results);
    let resumed = conversation.ask().await;
    let more = [
        answered(),
        kept("held", -1),
        kept("idle", 1),
        json!({"turn_continuity_total{continuity=resumed,reason=none}": 1}),
    ];
    assert_eq!(resumed, turn_anywhere("completed", 0, all(more)));
}

#[tokio::test]
async fn what_is_kept_is_told_until_it_goes() {
    let proxy = Proxy::start(&[]).await;
    let text = "x".repeat(10_000);
    let told = async || {
        let idle = proxy.counter(r#"kept_threads{state="idle"}"#).await;
        let held = proxy.counter(r#"kept_threads{state="held"}"#).await;
        [idle, held, proxy.counter("kept_thread_bytes").await]
    };
    assert_eq!(told().await, [0, 0, 0]);
    proxy.chat(&ask(&format!("{text}[[text]]"))).await;
    let [idle, held, bytes] = told().await;
    assert_eq!([idle, held], [1, 0]);
    assert!((10_000..11_000).contains(&bytes), "{bytes}");
    // It goes with the child that has it.
    signal(proxy.process_id(), "-USR2");
    until("nothing is kept", async || told().await == [0, 0, 0]).await;
}
