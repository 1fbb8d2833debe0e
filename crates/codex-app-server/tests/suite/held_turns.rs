//! Turns whose calls wait for their outputs: held within bounds, and gone without a trace.

mod bounds;
mod lost_child;
mod never_back;

use std::sync::Arc;

use codex_app_server::{Continued, ContinuityLimits, FreshReason, KeptCounts};
use model_turn::TurnEnd;
use testkit::{TestPool, codex_binary, until};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::conversation::{Conversation, OUTPUT};

/// Turns that are begun together.
const AT_ONCE: usize = 10;

/// The real Codex, with these limits.
async fn keeping(limits: ContinuityLimits) -> TestPool {
    let codex = TestPool::with(codex_binary().await, |config| config.continuity = limits).await;
    codex.until_ready().await;
    codex
}

/// A conversation whose next request answers the call that its turn waits with.
async fn hold(codex: &TestPool, owner: &str, text: &str) -> Conversation {
    let mut conversation = Conversation::begin(codex, owner, &format!("{text}[[round-trip]]"));
    let (outcome, continued) = conversation.go_on(codex).await;
    assert_eq!((outcome.calls.len(), outcome.end), (1, Ok(TurnEnd::ToolCalls)));
    assert_eq!(continued, Continued::Fresh(FreshReason::First));
    conversation
}

/// So many of them, one after the other.
async fn hold_all(codex: &TestPool, owner: &str, count: usize) -> Vec<Conversation> {
    let mut conversations = Vec::new();
    for number in 0..count {
        conversations.push(hold(codex, owner, &format!("{owner} {number}")).await);
    }
    conversations
}

/// So many of them, some at once.
async fn hold_at_once(codex: &Arc<TestPool>, text: &str, count: usize) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for number in 0..count {
        let (codex, places) = (Arc::clone(codex), Arc::clone(&places));
        let text = format!("{text} {number}");
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            hold(&codex, "owner", &text).await;
            // What the scripted model remembers of its requests is in our memory.
            codex.model.reset();
        });
    }
    running.join_all().await;
}

/// Brings the output of its call, and is answered with it.
async fn bring_output(codex: &TestPool, conversation: &mut Conversation) -> Continued {
    let (outcome, continued) = conversation.go_on(codex).await;
    let expected = (format!("get_weather: {OUTPUT}"), Ok(TurnEnd::Completed));
    assert_eq!((outcome.text, outcome.end), expected, "{continued:?}");
    continued
}

fn kept(codex: &TestPool) -> (usize, usize) {
    let KeptCounts { idle, held, .. } = codex.pool.kept_threads();
    (idle, held)
}

/// Waits until Codex has so many threads in memory.
async fn until_loaded(codex: &TestPool, threads: usize) {
    let client = codex.pool.client().unwrap();
    let are_loaded = async || client.loaded_threads().await.unwrap().len() == threads;
    until(&format!("{threads} threads are loaded"), are_loaded).await;
}

/// Every turn that was let go was interrupted, and Codex has said so; and nothing else has happened.
fn assert_confirmed(codex: &TestPool) {
    let stats = codex.pool.stats();
    assert_eq!((stats.unconfirmed_ends, stats.extra_model_requests, stats.probes), (0, 0, 0));
}
