//! Conversations that are long enough for Codex to do something about it: it would replace the history of a
//! thread that has grown by a summary of its own.

use codex_app_server::{Continued, FreshReason};
use serde_json::Value;
use testkit::{TestPool, codex_binary};

use crate::conversation::Conversation;

/// Not in the catalog, like every model of somebody's own upstream.
const OWN_MODEL: &str = "llama-9";

async fn ready() -> TestPool {
    let codex = TestPool::with(codex_binary().await, |_| {}).await;
    codex.until_ready().await;
    codex
}

/// How a conversation goes on that has cost so many tokens by then, if that much more is said. The model is
/// asked once each time, and sees everything.
async fn after(codex: &TestPool, model: &str, tokens: u64, more_bytes: usize) -> Continued {
    codex.model.reset();
    let text = format!("one[[usage:{tokens}]]");
    let mut conversation = Conversation::begin(codex, "owner", &text).with_model(model);
    conversation.go_on(codex).await;
    let more = format!("{}[[text:two]]", "x".repeat(more_bytes));
    conversation.say(&more);
    let (outcome, continued) = conversation.go_on(codex).await;
    assert_eq!(outcome.text, "two", "{model}, {tokens}, {more_bytes}: {outcome:?}, {continued:?}");
    let requests = codex.model.recorded();
    assert_eq!(requests.len(), 2);
    let said = |item: &Value| item["content"][0]["text"].as_str().map(str::to_owned);
    let items = requests[1].body["input"].as_array().unwrap().iter();
    let said: Vec<_> = items.filter_map(said).collect();
    assert_eq!(said.len(), 3);
    assert_eq!((&said[0], &said[2]), (&text, &more));
    continued
}

#[tokio::test]
async fn a_long_history_stays_what_it_is() {
    let codex = ready().await;
    for model in ["gpt-5.5", OWN_MODEL] {
        assert_eq!(after(&codex, model, 1_000, 10).await, Continued::Reused);
        assert_eq!(after(&codex, model, 900_000, 10).await, Continued::Reused);
        assert_eq!(after(&codex, model, 99_000_000, 4_000_000).await, Continued::Reused);
        // There is no such model.
        let unknown = Continued::Fresh(FreshReason::Unknown);
        assert_eq!(after(&codex, model, 950_000_000, 10).await, unknown);
    }
    codex.pool.shutdown().await;
}

/// Codex cuts outputs in the middle unless it is told otherwise.
#[tokio::test]
async fn the_output_of_a_tool_reaches_any_model_whole() {
    let codex = ready().await;
    let numbers: Vec<_> = (0..60_000).map(|number| number.to_string()).collect();
    let output = numbers.join(" ");
    for model in ["gpt-5.5", OWN_MODEL] {
        codex.model.reset();
        let mut conversation =
            Conversation::begin(&codex, "owner", "[[round-trip]]").with_model(model);
        conversation.go_on_with(&codex, &output).await;
        let (outcome, continued) = conversation.go_on(&codex).await;
        assert_eq!(continued, Continued::Resumed);
        assert!(outcome.text.contains(&output), "{model}: {} bytes", outcome.text.len());
    }
    codex.pool.shutdown().await;
}
