//! Turns that end before their time leave nothing behind.

use model_turn::{FailureKind, InvalidTurn, ToolInput, TurnEnd, TurnEvent, TurnRequest};
use testkit::{Outcome, TestCodex, tools};

#[tokio::test]
async fn row_11_dropping_a_turn_ends_it_upstream() {
    let codex = TestCodex::start().await;
    drop(codex.hanging_turn().await);
    codex.model.until(|counters| counters.disconnects == 1 && counters.in_flight == 0).await;
    codex.until_no_thread_is_loaded().await;
    codex.client.shutdown().await;
}

#[tokio::test]
async fn row_11_turns_dropped_while_they_start_leave_no_thread() {
    let codex = TestCodex::start().await;
    for _ in 0..20 {
        drop(codex.client.start_turn(codex.ask("[[hang]]")).unwrap());
    }
    for _ in 0..5 {
        let turn = codex.client.start_turn(codex.ask("[[hang]]")).unwrap();
        // Far enough to be on its way, not far enough to have said anything.
        codex.client.loaded_threads().await.unwrap();
        drop(turn);
    }
    let outcome = codex.run(codex.ask("[[text:still here]]")).await;
    assert_eq!(outcome.text, "still here");
    codex.until_no_thread_is_loaded().await;
    codex.model.until(|counters| counters.in_flight == 0).await;
    codex.client.shutdown().await;
}

#[tokio::test]
async fn an_interrupt_ends_the_turn_and_keeps_what_was_said() {
    let codex = TestCodex::start().await;
    let mut turn = codex.client.start_turn(codex.ask("[[hang]]")).unwrap();
    let Some(TurnEvent::Text(text)) = turn.next().await else { panic!("no text") };
    assert!(!text.is_empty());
    turn.interrupt();
    assert_eq!(Outcome::of(turn).await.end, Ok(TurnEnd::Interrupted));
    codex.model.until(|counters| counters.disconnects == 1).await;
    codex.until_no_thread_is_loaded().await;

    let early = codex.client.start_turn(codex.ask("[[hang]]")).unwrap();
    early.interrupt();
    assert_eq!(Outcome::of(early).await.end, Ok(TurnEnd::Interrupted));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_consumer_that_does_not_read_fails_alone() {
    let codex = TestCodex::with(|config| config.turns.max_waiting_bytes = 200_000).await;
    let asleep = codex.client.start_turn(codex.ask("[[big:2000000]]")).unwrap();
    let awake = codex.run(codex.ask("[[big:2000000]]")).await;
    assert_eq!((awake.text.len(), awake.end), (2_000_000, Ok(TurnEnd::Completed)));
    codex.model.until(|counters| counters.in_flight == 0).await;
    codex.until_no_thread_is_loaded().await;
    let late = Outcome::of(asleep).await;
    assert_eq!(late.failure(), FailureKind::SlowConsumer);
    assert!(late.text.len() <= 200_000, "{} bytes were kept", late.text.len());
    codex.client.shutdown().await;
}

#[tokio::test]
async fn an_answer_with_a_hole_is_no_success() {
    let codex = TestCodex::with(|config| config.turns.max_waiting_bytes = 250).await;
    let mut request = codex.ask("[[tool]]");
    request.tools = tools(&["get_weather"]);
    let asleep = codex.client.start_turn(request).unwrap();
    codex.model.until(|counters| counters.requests == 1 && counters.in_flight == 0).await;
    codex.until_no_thread_is_loaded().await;
    let late = Outcome::of(asleep).await;
    assert_eq!((late.calls.len(), late.failure()), (1, FailureKind::SlowConsumer));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn many_large_histories_wait_for_each_other() {
    let codex = TestCodex::start().await;
    let mut turns = Vec::new();
    for number in 0..8 {
        let mut request = codex.ask(&format!("[[echo]]{number}"));
        request.instructions = "x".repeat(6_000_000);
        turns.push(codex.client.start_turn(request).unwrap());
    }
    for (number, turn) in turns.into_iter().enumerate() {
        assert_eq!(Outcome::of(turn).await.text, number.to_string());
    }
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_line_over_the_limit_fails_its_own_turn_only() {
    let codex = TestCodex::with(|config| config.max_line_bytes = 100_000).await;
    let neighbour = codex.client.start_turn(codex.ask("[[slow:1000]]")).unwrap();
    for mark in ["[[big-delta:500000]]", "[[big-delta:3000000]]"] {
        assert_eq!(
            codex.run(codex.ask(mark)).await.failure(),
            FailureKind::OutputTooLarge,
            "{mark}"
        );
    }
    assert_eq!(Outcome::of(neighbour).await.end, Ok(TurnEnd::Completed));
    assert!(codex.client.stats().oversize_lines > 0);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_history_over_the_limit_is_echoed_without_harm() {
    let codex = TestCodex::with(|config| config.max_line_bytes = 100_000).await;
    let mut request = codex.ask("[[text:fine]]");
    let long = "x".repeat(500_000);
    request.instructions = long.clone();
    assert_eq!(codex.run(request).await.text, "fine");
    let body = codex.model.last_request().unwrap().body;
    assert_eq!(body["input"][0]["content"][0]["text"].as_str(), Some(long.as_str()));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_turn_that_codex_would_not_take_is_refused_by_name() {
    let codex = TestCodex::start().await;
    let mut twice = codex.ask("x");
    twice.tools = tools(&["a", "a"]);
    assert_eq!(codex.client.start_turn(twice).unwrap_err(), InvalidTurn::DuplicateTool("a".into()));
    let mut wrong = codex.ask("x");
    wrong.tools = tools(&["a"]);
    wrong.tools[0].input = ToolInput::Json(serde_json::json!(null).into());
    assert_eq!(
        codex.client.start_turn(wrong).unwrap_err(),
        InvalidTurn::ToolParameters("a".into())
    );
    assert_eq!(codex.client.start_turn(TurnRequest::default()).unwrap_err(), InvalidTurn::Empty);
    codex.client.shutdown().await;
}
