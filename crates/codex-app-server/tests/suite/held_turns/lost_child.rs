//! A child that goes takes its threads with it, and nobody waits for them.

use std::time::{Duration, Instant};

use codex_app_server::{Continued, ContinuityLimits, FreshReason, KeptCounts, WorkerState};
use testkit::process::{is_running, signal, until_gone};

use super::{bring_output, hold_all, keeping, kept};

const GONE: Continued = Continued::Fresh(FreshReason::ChildGone);

#[tokio::test]
async fn a_child_that_is_killed_takes_its_threads_with_it() {
    let codex = keeping(ContinuityLimits::default()).await;
    let mut conversations = hold_all(&codex, "owner", 5).await;
    bring_output(&codex, &mut conversations[0]).await;
    assert_eq!(kept(&codex), (1, 4));
    signal(codex.process_ids()[0], "-KILL");
    codex.until(|states| matches!(states[0], WorkerState::Restarting { .. })).await;
    codex.until_ready().await;
    assert_eq!(codex.pool.kept_threads(), KeptCounts::default());
    let asked = codex.model.requests();
    assert_eq!(bring_output(&codex, &mut conversations[1]).await, GONE);
    conversations[0].say("and then?[[text:that]]");
    let (outcome, continued) = conversations[0].go_on(&codex).await;
    assert_eq!((outcome.text.as_str(), continued), ("that", GONE));
    assert_eq!(codex.model.requests(), asked + 2);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_child_that_is_replaced_waits_for_no_output() {
    let codex = keeping(ContinuityLimits::default()).await;
    let mut conversations = hold_all(&codex, "owner", 50).await;
    let old = codex.process_ids();
    codex.pool.renew().await.unwrap();
    let renewed = Instant::now();
    assert_eq!(codex.pool.kept_threads(), KeptCounts::default());
    assert_eq!(bring_output(&codex, &mut conversations[49]).await, GONE);
    until_gone(&old).await;
    println!("the old child had gone {:?} after the new one was there", renewed.elapsed());
    assert!(renewed.elapsed() < Duration::from_secs(10));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_stop_waits_for_no_output() {
    let codex = keeping(ContinuityLimits::default()).await;
    hold_all(&codex, "owner", 50).await;
    let child = codex.process_ids()[0];
    let stopped = Instant::now();
    codex.pool.shutdown().await;
    println!("stopped with fifty held turns within {:?}", stopped.elapsed());
    assert!(stopped.elapsed() < Duration::from_secs(5));
    assert!(!is_running(child));
    assert_eq!(codex.pool.stats().unconfirmed_ends, 0);
}
