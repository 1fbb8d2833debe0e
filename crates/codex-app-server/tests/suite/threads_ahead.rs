//! Threads that the real Codex starts before a turn needs them.
//!
//! The upstream's prompt-cache key is the id of the thread: it tells which one a turn was given.

use std::sync::{Arc, Mutex};

use codex_app_server::{Client, WorkerState};
use model_turn::{ToolInput, TurnEnd, TurnRequest};
use serde_json::{Value, json};
use testkit::process::{is_running, signal};
use testkit::{Outcome, TestCodex, TestPool, codex_binary, tools};

/// A child that has one thread ready.
async fn one_ahead() -> TestCodex {
    TestCodex::with(|config| config.threads_ahead = 1).await
}

/// Waits until nothing runs and one thread is ready, and gives its id.
async fn ready_thread(client: &Client) -> String {
    loop {
        // A request takes the time that Codex needs.
        let loaded = client.loaded_threads().await.unwrap();
        let is_quiet = client.running_turns() == 0 && client.threads_ahead() == 1;
        if let ([only], true) = (loaded.as_slice(), is_quiet) {
            return only.clone();
        }
    }
}

/// The thread of the last turn.
fn last_thread(codex: &TestCodex) -> String {
    thread_of(&codex.model.last_request().unwrap().body)
}

fn thread_of(body: &Value) -> String {
    body["prompt_cache_key"].as_str().unwrap().to_owned()
}

fn with_tools(codex: &TestCodex, text: &str) -> TurnRequest {
    TurnRequest { tools: tools(&["get_weather", "get_time"]), ..codex.ask(text) }
}

async fn assert_says(codex: &TestCodex, request: TurnRequest, text: &str) {
    let outcome = codex.run(request).await;
    assert_eq!((outcome.text.as_str(), outcome.end), (text, Ok(TurnEnd::Completed)));
}

#[tokio::test]
async fn a_turn_like_the_last_one_gets_the_thread_that_is_ready() {
    let codex = one_ahead().await;
    assert_says(&codex, with_tools(&codex, "[[text:first]]"), "first").await;
    let first = codex.model.last_request().unwrap().body;
    for _ in 0..3 {
        let ready = ready_thread(&codex.client).await;
        assert_says(&codex, with_tools(&codex, "[[text:first]]"), "first").await;
        let mut body = codex.model.last_request().unwrap().body;
        assert_eq!(thread_of(&body), ready);
        // The model sees what it sees in any other thread.
        for own in ["prompt_cache_key", "client_metadata"] {
            body[own] = first[own].clone();
        }
        assert_eq!(body, first);
    }
    assert_eq!(codex.model.requests(), 4);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn calls_come_and_end_in_a_thread_that_was_ready() {
    let codex = one_ahead().await;
    for _ in 0..2 {
        let outcome = codex.run(with_tools(&codex, "[[parallel:2]]")).await;
        assert_eq!((outcome.calls.len(), outcome.end), (2, Ok(TurnEnd::ToolCalls)));
        ready_thread(&codex.client).await;
    }
    let stats = codex.client.stats();
    assert_eq!((codex.model.requests(), stats.stale_events, stats.extra_model_requests), (2, 0, 0));
    codex.client.shutdown().await;
}

/// What has been seen on the wire, in its order: requests for threads, and calls.
type Seen = Arc<Mutex<Vec<&'static str>>>;

async fn watched() -> (TestCodex, Seen) {
    let seen = Seen::default();
    let codex = TestCodex::with(|config| {
        config.threads_ahead = 1;
        let seen = Arc::clone(&seen);
        config.tap = Some(Arc::new(move |_, line| {
            let line = String::from_utf8_lossy(line);
            let kinds = [r#""method":"thread/start""#, r#""type":"function_call","#];
            if let Some(kind) = kinds.into_iter().position(|kind| line.contains(kind)) {
                seen.lock().unwrap().push(["thread", "call"][kind]);
            }
        }));
    })
    .await;
    (codex, seen)
}

/// Codex has nothing else to do until the model is asked and has begun to answer.
#[tokio::test]
async fn no_thread_is_started_before_the_model_says_something() {
    let (codex, seen) = watched().await;
    // Far longer than it takes to look.
    codex.run(with_tools(&codex, "[[slow-args:500]]")).await;
    ready_thread(&codex.client).await;
    assert_eq!(*seen.lock().unwrap(), ["thread", "call", "thread"]);
    codex.client.shutdown().await;
}

/// The work for a thread that may never be used would delay somebody who waits.
#[tokio::test]
async fn no_thread_is_started_while_another_turn_waits_for_its_first_word() {
    let (codex, seen) = watched().await;
    let waiting = codex.client.start_turn(codex.ask("[[silent]]")).unwrap();
    codex.model.until(|counters| counters.requests == 1).await;
    assert_says(&codex, codex.ask("[[text:a]]"), "a").await;
    while codex.client.running_turns() > 1 {
        codex.client.loaded_threads().await.unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), ["thread", "thread"]);
    drop(waiting);
    while codex.client.running_turns() > 0 {
        codex.client.loaded_threads().await.unwrap();
    }
    assert_says(&codex, codex.ask("[[text:b]]"), "b").await;
    ready_thread(&codex.client).await;
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_byte_of_difference_gets_a_thread_of_its_own() {
    // Room for all of them, so that none makes room for another.
    let codex = TestCodex::with(|config| config.threads_ahead = 16).await;
    let ask = |text: &str| with_tools(&codex, text);
    assert_says(&codex, ask("[[text:a]]"), "a").await;
    let ready = ready_thread(&codex.client).await;
    let mut description = ask("[[text:b]]");
    description.tools[1].description.push('.');
    let mut schema = ask("[[text:b]]");
    schema.tools[0].input = ToolInput::Json(json!({"type": "object", "properties": {}}).into());
    let mut order = ask("[[text:b]]");
    order.tools.reverse();
    let mut key = ask("[[text:b]]");
    key.upstream.as_mut().unwrap().api_key = Some("sk-another".to_owned());
    let mut address = ask("[[text:b]]");
    let base_url = &mut address.upstream.as_mut().unwrap().base_url;
    *base_url = base_url.replace("127.0.0.1", "localhost");
    let model = TurnRequest { model: "another".to_owned(), ..ask("[[text:b]]") };
    for other in [description, schema, order, key, address, model, codex.ask("[[text:b]]")] {
        assert_says(&codex, other, "b").await;
        assert_ne!(last_thread(&codex), ready);
    }
    // What differs in the turn alone, not in its thread, does not matter.
    let effort = TurnRequest { effort: Some("low".to_owned()), ..ask("[[text:c]]") };
    assert_says(&codex, effort, "c").await;
    assert_eq!(last_thread(&codex), ready);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn of_turns_at_once_one_gets_the_thread() {
    let codex = one_ahead().await;
    assert_says(&codex, codex.ask("[[echo]]first"), "first").await;
    let ready = ready_thread(&codex.client).await;
    codex.model.reset();
    let ask = |number: usize| codex.ask(&format!("[[echo]]{number}"));
    let turns: Vec<_> =
        (0..6).map(|number| codex.client.start_turn(ask(number)).unwrap()).collect();
    for (number, turn) in turns.into_iter().enumerate() {
        assert_eq!(Outcome::of(turn).await.text, number.to_string());
    }
    let mut threads: Vec<_> =
        codex.model.recorded().iter().map(|request| thread_of(&request.body)).collect();
    assert_eq!(threads.iter().filter(|thread| **thread == ready).count(), 1);
    threads.sort();
    threads.dedup();
    assert_eq!(threads.len(), 6, "a thread for each turn");
    ready_thread(&codex.client).await;
    codex.client.shutdown().await;
}

#[tokio::test]
async fn who_signs_in_gets_no_thread_from_before() {
    let codex = one_ahead().await;
    assert_says(&codex, codex.ask("[[text:a]]"), "a").await;
    let before = ready_thread(&codex.client).await;
    codex.client.login_with_api_key("sk-of-the-owner").await.unwrap();
    assert_says(&codex, codex.ask("[[text:b]]"), "b").await;
    assert_ne!(last_thread(&codex), before);
    let after = ready_thread(&codex.client).await;
    assert_ne!(after, before);
    assert_says(&codex, codex.ask("[[text:c]]"), "c").await;
    assert_eq!(last_thread(&codex), after);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_thread_that_codex_has_lost_is_not_missed() {
    let codex = one_ahead().await;
    assert_says(&codex, codex.ask("[[text:a]]"), "a").await;
    let lost = ready_thread(&codex.client).await;
    codex.client.request("thread/unsubscribe", &json!({"threadId": lost})).await.unwrap();
    codex.until_no_thread_is_loaded().await;
    assert_says(&codex, codex.ask("[[text:b]]"), "b").await;
    assert_ne!(last_thread(&codex), lost);
    assert_eq!(codex.model.requests(), 2);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn turns_that_are_dropped_at_once_leave_one_thread_at_most() {
    let codex = one_ahead().await;
    assert_says(&codex, codex.ask("[[text:a]]"), "a").await;
    ready_thread(&codex.client).await;
    for _ in 0..10 {
        drop(codex.client.start_turn(codex.ask("[[hang]]")).unwrap());
    }
    assert_says(&codex, codex.ask("[[text:still here]]"), "still here").await;
    ready_thread(&codex.client).await;
    codex.model.until(|counters| counters.in_flight == 0).await;
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_child_takes_its_threads_along() {
    let codex =
        TestPool::with(codex_binary().await, |config| config.client.threads_ahead = 1).await;
    codex.until_ready().await;
    assert_eq!(codex.run("[[text:a]]").await.text, "a");
    let before = ready_thread(&codex.pool.client().unwrap()).await;
    signal(codex.process_ids()[0], "-KILL");
    codex.until(|states| matches!(states[0], WorkerState::Restarting { .. })).await;
    assert_eq!(codex.run("[[text:b]]").await.text, "b");
    assert_ne!(thread_of(&codex.model.last_request().unwrap().body), before);
    ready_thread(&codex.pool.client().unwrap()).await;
    let children = codex.process_ids();
    codex.pool.shutdown().await;
    assert!(!children.into_iter().any(is_running));
}

/// Why the history's answer is waited for, also in a thread that is ready.
#[tokio::test]
async fn a_turn_right_behind_a_refused_history_asks_the_model_all_the_same() {
    let codex = TestCodex::start().await;
    let ask =
        async |method: &'static str, params: Value| codex.client.request(method, &params).await;
    let upstream = json!({
        "model_providers.upstream.base_url": codex.model.base_url(),
        "model_providers.upstream.requires_openai_auth": false,
    });
    let start = json!({"model": "demo", "ephemeral": true, "environments": [], "config": upstream});
    let started = ask("thread/start", start).await.unwrap().unwrap();
    let started: Value = serde_json::from_str(started.get()).unwrap();
    let thread = &started["thread"]["id"];
    let content = json!([{"type": "input_file"}]);
    let items = json!([{"type": "message", "role": "user", "content": content}]);
    let (injected, turn) = tokio::join!(
        ask("thread/inject_items", json!({"threadId": thread, "items": items})),
        ask("turn/start", json!({"threadId": thread, "input": []})),
    );
    assert!(injected.is_err());
    turn.unwrap();
    codex.model.until(|counters| counters.requests == 1).await;
    let body = codex.model.last_request().unwrap().body;
    assert!(!body["input"].to_string().contains("input_file"), "{body}");
    codex.client.shutdown().await;
}
