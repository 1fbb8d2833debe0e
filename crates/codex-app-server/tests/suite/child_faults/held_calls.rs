//! Children that do something to a turn whose calls wait for their outputs, or to a thread that is kept.

use codex_app_server::{Continued, FreshReason};
use testkit::TestPool;
use testkit::process::is_running;

use super::scripted;
use crate::conversation::{Conversation, OUTPUT};

/// Asks for what the mark says, and goes on; says how.
async fn go_on_after(codex: &TestPool, mark: &str) -> (String, Continued) {
    let mut conversation = Conversation::begin(codex, "owner", mark);
    let (first, continued) = conversation.go_on(codex).await;
    assert_eq!(continued, Continued::Fresh(FreshReason::First));
    if first.calls.is_empty() {
        conversation.say("and then?");
    }
    let (outcome, continued) = conversation.go_on(codex).await;
    assert!(outcome.end.is_ok(), "{outcome:?}");
    (outcome.text, continued)
}

#[tokio::test]
async fn a_thread_that_does_as_it_should_is_gone_on_with() {
    let codex = scripted(|_| {}).await;
    assert_eq!(go_on_after(&codex, "[[deltas:3]]").await, ("word0 ".to_owned(), Continued::Reused));
    let outputs = OUTPUT.repeat(2);
    assert_eq!(go_on_after(&codex, "[[calls:2]]").await, (outputs, Continued::Resumed));
    codex.pool.shutdown().await;
}

/// A fresh thread plays a text, because the last item of its history has no mark.
#[tokio::test]
async fn whatever_becomes_of_a_held_turn_its_client_is_answered() {
    let codex = scripted(|_| {}).await;
    codex.until_ready().await;
    let child = codex.process_ids()[0];
    for (mark, extra_requests) in
        [("[[unasked-calls:2]]", 0), ("[[ended-calls:2]]", 0), ("[[doubled-calls:2]]", 1)]
    {
        let before = codex.pool.stats();
        let fresh = Continued::Fresh(FreshReason::NotReady);
        assert_eq!(go_on_after(&codex, mark).await, ("word0 ".to_owned(), fresh), "{mark}");
        let after = codex.pool.stats();
        let extra = after.extra_model_requests - before.extra_model_requests;
        assert_eq!(extra, extra_requests, "{mark}");
    }
    assert_eq!(codex.pool.stats().unconfirmed_ends, 0);
    assert!(is_running(child));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_thread_that_takes_no_more_items_is_left() {
    let codex = scripted(|_| {}).await;
    let fresh = Continued::Fresh(FreshReason::Failed);
    assert_eq!(go_on_after(&codex, "[[last-words]]").await, ("word0 ".to_owned(), fresh));
    codex.pool.shutdown().await;
}
