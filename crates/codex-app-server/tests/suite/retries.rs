//! Retries are ours, come only before any output, and are counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use codex_app_server::Direction;
use model_turn::{FailureKind, TurnEnd};
use testkit::{Outcome, TestCodex};

#[tokio::test]
async fn a_passing_failure_is_tried_again_and_the_consumer_never_knows() {
    let codex = TestCodex::with(|config| config.turns.retries = 2).await;
    let outcome = codex.run(codex.ask("[[http:503,x2]] please")).await;
    assert_eq!(outcome.end, Ok(TurnEnd::Completed));
    assert!(!outcome.text.is_empty());
    assert_eq!((codex.model.requests(), codex.client.stats().retries), (3, 2));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn retries_end_with_the_last_failure() {
    let codex = TestCodex::with(|config| config.turns.retries = 2).await;
    assert_eq!(codex.run(codex.ask("[[http:500]]")).await.failure(), FailureKind::ServerError);
    assert_eq!((codex.model.requests(), codex.client.stats().retries), (3, 2));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_failure_that_a_retry_cannot_help_is_reported_at_once() {
    let codex = TestCodex::with(|config| config.turns.retries = 2).await;
    for mark in ["[[http:400]]", "[[http:401]]", "[[http:429,usage]]"] {
        let before = codex.model.requests();
        assert!(codex.run(codex.ask(mark)).await.end.is_err());
        assert_eq!(codex.model.requests() - before, 1, "{mark}");
    }
    assert_eq!(codex.client.stats().retries, 0);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn nothing_is_tried_again_after_output() {
    let codex = TestCodex::with(|config| config.turns.retries = 2).await;
    let outcome = codex.run(codex.ask("[[cut-once]]")).await;
    assert_eq!(outcome.failure(), FailureKind::StreamCut);
    assert!(!outcome.text.is_empty());
    assert_eq!((codex.model.requests(), codex.client.stats().retries), (1, 0));
    codex.client.shutdown().await;
}

/// The failure and the interrupt cross on their way, and the failure may come first.
#[tokio::test]
async fn a_failing_attempt_of_a_turn_that_was_interrupted_is_its_last() {
    const TURNS: usize = 20;
    let threads = Arc::new(AtomicUsize::new(0));
    let codex = TestCodex::with(|config| {
        config.turns.retries = 2;
        let threads = Arc::clone(&threads);
        config.tap = Some(Arc::new(move |direction, line| {
            let line = String::from_utf8_lossy(line);
            if direction == Direction::ToCodex && line.contains(r#""method":"thread/start""#) {
                threads.fetch_add(1, Ordering::Relaxed);
            }
        }));
    })
    .await;
    for _ in 0..TURNS {
        let before = codex.model.requests();
        let turn = codex.client.start_turn(codex.ask("[[http:500]]")).unwrap();
        codex.model.until(|counters| counters.requests > before).await;
        turn.interrupt();
        assert_eq!(Outcome::of(turn).await.end, Ok(TurnEnd::Interrupted));
    }
    assert_eq!(threads.load(Ordering::Relaxed), TURNS, "an interrupted turn was tried again");
    codex.client.shutdown().await;
}
