//! A child that is flooded, killed or stopped.

use std::time::{Duration, Instant};

use model_turn::FailureKind;
use testkit::process::{is_running, signal, until_gone};
use testkit::{Outcome, TestCodex};
use tokio::task::JoinSet;

#[tokio::test]
async fn a_flood_of_requests_is_answered_in_full() {
    let codex = TestCodex::start().await;
    let mut requests = JoinSet::new();
    for _ in 0..3000 {
        let client = codex.client.clone();
        requests.spawn(async move { client.loaded_threads().await });
    }
    let answers = requests.join_all().await;
    assert!(
        answers.iter().all(Result::is_ok),
        "{:?}",
        answers.iter().find(|answer| answer.is_err())
    );
    println!("3000 requests at once, {} sent again", codex.client.stats().flood_retries);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_killed_child_fails_its_turns_at_once() {
    let codex = TestCodex::start().await;
    let turn = codex.hanging_turn().await;
    let killed = Instant::now();
    signal(codex.client.process_id().unwrap(), "-KILL");
    assert_eq!(Outcome::of(turn).await.failure(), FailureKind::ChildGone);
    println!("the turn failed {:?} after the kill", killed.elapsed());
    assert!(killed.elapsed() < Duration::from_secs(5));
    assert_eq!(codex.run(codex.ask("hello")).await.failure(), FailureKind::ChildGone);
    let reason = codex.client.gone().borrow().clone();
    assert!(reason.is_some_and(|reason| reason.contains("closed its output")));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn no_process_is_left_after_a_shutdown_or_a_drop() {
    let codex = TestCodex::start().await;
    let pid = codex.client.process_id().unwrap();
    let turn = codex.client.start_turn(codex.ask("[[hang]]")).unwrap();
    codex.model.until(|counters| counters.in_flight == 1).await;
    assert!(is_running(pid));
    let stopping = Instant::now();
    codex.client.shutdown().await;
    println!("stopped after {:?}", stopping.elapsed());
    assert!(!is_running(pid));
    assert_eq!(Outcome::of(turn).await.failure(), FailureKind::Stopping);

    let codex = TestCodex::start().await;
    let (mut gone, pid) = (codex.client.gone(), codex.client.process_id().unwrap());
    let TestCodex { client, model: _model, home: _home } = codex;
    drop(client);
    gone.wait_for(Option::is_some).await.unwrap();
    until_gone(&[pid]).await;
}
