//! Children that answer nothing, read nothing, or do not go.

use std::time::{Duration, Instant};

use codex_app_server::WorkerState;
use model_turn::FailureKind;
use testkit::process::{is_running, processor_time};
use testkit::quick_heartbeat;
use tokio::task::JoinSet;

use super::{LONG, Starts, assert_works, ended, failure_of_the_child, scripted, with_neighbour};

#[tokio::test]
async fn row_13_a_child_that_hangs_in_a_turn_is_replaced() {
    let codex = scripted(quick_heartbeat).await;
    codex.until_ready().await;
    let (begun, busy_before) = (Instant::now(), processor_time());
    let failure = failure_of_the_child(&codex, "[[hang]]").await;
    assert!(failure.message.contains("hangs"), "{failure}");
    let (took, busy) = (begun.elapsed(), processor_time().saturating_sub(busy_before));
    println!("{busy:?} of processor time in {took:?}");
    assert!(busy < took / 2, "{busy:?} of {took:?}");
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_a_child_that_hangs_in_the_middle_of_a_line_is_replaced() {
    let codex = scripted(quick_heartbeat).await;
    let failure = failure_of_the_child(&codex, "[[half-line-then-hang]]").await;
    assert!(failure.message.contains("hangs"), "{failure}");
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_child_that_talks_but_answers_nothing_is_replaced() {
    let codex = scripted(quick_heartbeat).await;
    let failure = failure_of_the_child(&codex, "[[talk]]").await;
    assert!(failure.message.contains("hangs"), "{failure}");
    codex.pool.shutdown().await;
}

/// A turn's clock runs although there is always something to read.
#[tokio::test]
async fn an_endless_flood_does_not_stop_the_clock_of_a_turn() {
    let codex = scripted(|config| {
        quick_heartbeat(config);
        config.client.turns.limits.timeout = Duration::from_millis(300);
    })
    .await;
    codex.until_ready().await;
    let asked = Instant::now();
    let outcome = ended(codex.start("[[torrent]]")).await;
    println!("failed after {:?}: {:?}", asked.elapsed(), outcome.end);
    assert_eq!(outcome.failure(), FailureKind::Timeout);
    codex.until(|states| matches!(states[0], WorkerState::Restarting { .. })).await;
    println!("replaced after {:?}", asked.elapsed());
    codex.until_ready().await;
    assert_works(&codex).await;
    assert_eq!(codex.pool.stats().restarts, 1);
    codex.pool.shutdown().await;
}

/// It ignores SIGTERM, too.
#[tokio::test]
async fn a_child_that_closes_its_output_and_stays_is_killed() {
    let (codex, neighbour) = with_neighbour(|_| {}).await;
    let failure = failure_of_the_child(&codex, "[[close-output]]").await;
    assert!(failure.message.contains("closed its output"), "{failure}");
    assert_eq!(ended(neighbour).await.failure(), FailureKind::ChildGone);
    codex.pool.shutdown().await;
}

/// Four histories of 5 MB, of which the pipe takes 64 kB and the queue before it 16 MB.
async fn failures_of_large_turns(codex: &testkit::TestPool) -> Vec<FailureKind> {
    let text = "x".repeat(5 * 1024 * 1024);
    let mut turns = JoinSet::new();
    for _ in 0..4 {
        turns.spawn(ended(codex.start(&text)));
    }
    turns.join_all().await.iter().map(testkit::Outcome::failure).collect()
}

#[tokio::test]
async fn turns_for_a_child_that_does_not_read_run_out_of_time() {
    let starts = Starts::new("deaf");
    let codex = scripted(|config| {
        starts.set(config);
        config.client.request_timeout = Duration::from_millis(500);
        config.client.shutdown_grace = Duration::from_millis(200);
    })
    .await;
    codex.until_ready().await;
    let asked = Instant::now();
    assert_eq!(failures_of_large_turns(&codex).await, [FailureKind::Timeout; 4]);
    println!("failed after {:?}", asked.elapsed());
    let (child, stopping) = (codex.process_ids()[0], Instant::now());
    assert!(is_running(child));
    codex.pool.shutdown().await;
    println!("stopped after {:?}", stopping.elapsed());
    assert!(!is_running(child));
    assert!(stopping.elapsed() < Duration::from_secs(5), "{:?}", stopping.elapsed());
}

#[tokio::test]
async fn a_child_that_does_not_read_is_replaced() {
    let starts = Starts::new("deaf");
    let codex = scripted(|config| {
        starts.set(config);
        quick_heartbeat(config);
    })
    .await;
    codex.until_ready().await;
    let (child, asked) = (codex.process_ids()[0], Instant::now());
    assert_eq!(failures_of_large_turns(&codex).await, [FailureKind::ChildGone; 4]);
    println!("failed after {:?}", asked.elapsed());
    assert_works(&codex).await;
    assert!(!is_running(child));
    assert_eq!(codex.pool.stats().restarts, 1);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_stop_takes_its_graces_for_a_child_that_hangs_and_no_longer() {
    let grace = Duration::from_millis(200);
    let codex = scripted(|config| config.client.shutdown_grace = grace).await;
    codex.until_ready().await;
    let child = codex.process_ids()[0];
    let mut turn = codex.start("[[hang]]");
    assert!(turn.next().await.is_some());
    let stopping = Instant::now();
    codex.pool.shutdown().await;
    let took = stopping.elapsed();
    println!("stopped after {took:?}");
    assert!(!is_running(child));
    assert_eq!(ended(turn).await.failure(), FailureKind::Stopping);
    // One second for the interrupts, and then it was asked twice.
    assert!(took >= Duration::from_secs(1) + 2 * grace, "{took:?}");
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[tokio::test]
async fn a_stop_in_the_middle_of_a_start_leaves_no_process() {
    let starts = Starts::new("mute");
    let codex = scripted(|config| starts.set(config)).await;
    starts.until(1).await;
    let stopping = Instant::now();
    codex.pool.shutdown().await;
    println!("stopped after {:?}", stopping.elapsed());
    assert!(!is_running(starts.list()[0].process_id));
    assert!(stopping.elapsed() < Duration::from_secs(5), "{:?}", stopping.elapsed());
}

#[tokio::test]
async fn a_stop_does_not_wait_for_a_new_child_that_hangs() {
    let starts = Starts::new("none,mute");
    let codex = scripted(|config| starts.set(config)).await;
    codex.until_ready().await;
    let pool = codex.pool.clone();
    let mut renewal = JoinSet::new();
    renewal.spawn(async move { pool.renew().await });
    starts.until(2).await;
    let stopping = Instant::now();
    codex.pool.shutdown().await;
    println!("stopped after {:?}", stopping.elapsed());
    assert!(!starts.list().iter().any(|start| is_running(start.process_id)));
    assert!(stopping.elapsed() < Duration::from_secs(5), "{:?}", stopping.elapsed());
    let renewed = tokio::time::timeout(LONG, renewal.join_next()).await.unwrap().unwrap();
    assert!(renewed.unwrap().is_err());
}
