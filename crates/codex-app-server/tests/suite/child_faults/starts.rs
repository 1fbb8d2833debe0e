//! Children that do not start.

use std::time::{Duration, Instant};

use codex_app_server::WorkerState;
use model_turn::{FailureKind, TurnEnd};
use testkit::TestPool;
use testkit::process::{is_running, processor_time};

use super::{Starts, assert_works, ended, scripted};

/// What was seen of a try that failed.
#[derive(Debug)]
struct Try {
    failures: u32,
    reason: String,
    pause: Duration,
}

/// Everything that is said of the only child until it is ready.
async fn tries_until_ready(codex: &TestPool) -> Vec<Try> {
    let mut states = codex.pool.states();
    let mut tries = Vec::new();
    loop {
        match &states.borrow_and_update()[0] {
            WorkerState::Restarting { reason, failures, next_try } => tries.push(Try {
                failures: *failures,
                reason: reason.to_string(),
                pause: next_try.saturating_duration_since(Instant::now()),
            }),
            WorkerState::Ready { .. } => return tries,
            WorkerState::Starting | WorkerState::Stopped => {}
        }
        states.changed().await.unwrap();
    }
}

#[tokio::test]
async fn row_13_ten_starts_that_fail_in_turn_are_followed_by_one_that_works() {
    const FAULTS: [&str; 10] = [
        "complain", "exit", "mute", "complain", "babble", "exit", "complain", "exit", "complain",
        "complain",
    ];
    let (first, longest) = (Duration::from_millis(20), Duration::from_millis(400));
    let starts = Starts::new(&FAULTS.join(","));
    let codex = scripted(|config| {
        starts.set(config);
        config.client.handshake_timeout = Duration::from_millis(300);
        config.backoff_initial = first;
        config.backoff_max = longest;
        config.ready_timeout = Duration::from_mins(1);
    })
    .await;
    let begun = Instant::now();
    let (patient, tries) = tokio::join!(ended(codex.start("hello")), tries_until_ready(&codex));
    let (took, busy) = (begun.elapsed(), processor_time());
    println!("{} starts within {took:?}, with {busy:?} of processor time", starts.list().len());
    assert_eq!((patient.text.as_str(), patient.end), ("word0 ", Ok(TurnEnd::Completed)));

    for Try { failures, reason, pause } in &tries {
        println!("{failures} {pause:?} {reason}");
        let is_told = match FAULTS[*failures as usize - 1] {
            "complain" => reason.ends_with("(it said: scripted-app-server: this start is refused)"),
            // By whichever pipe it was noticed first.
            "exit" => reason.contains("closed its output") || reason.contains("cannot write"),
            _ => reason.contains("no answer within 300ms"),
        };
        assert!(is_told, "{reason}");
        assert!(*pause <= whole_pause(first, longest, *failures), "{pause:?} of try {failures}");
    }
    assert_eq!(tries.last().unwrap().failures, 10);
    assert!(tries.is_sorted_by_key(|seen| seen.failures), "{tries:?}");

    // No state says when a try really began, but the children do.
    let list = starts.list();
    assert_eq!((list.len(), codex.pool.stats().restarts), (11, 10));
    for (failures, pair) in (1..).zip(list.windows(2)) {
        let least = whole_pause(first, longest, failures) / 2;
        let gap = pair[1].at.saturating_sub(pair[0].at);
        assert!(gap >= least, "{gap:?} after try {failures}, and not {least:?}");
    }
    assert!(busy < took / 2, "{busy:?} of {took:?}");
    assert!(!list[..10].iter().any(|start| is_running(start.process_id)));
    assert_works(&codex).await;
    codex.pool.shutdown().await;
}

/// Each pause is shortened at random, by up to a half.
fn whole_pause(first: Duration, longest: Duration, failures: u32) -> Duration {
    (first * 2_u32.pow(failures - 1)).min(longest)
}

#[tokio::test]
async fn a_turn_that_has_waited_long_enough_says_why_there_is_no_child() {
    let starts = Starts::new(&["complain"; 100].join(","));
    let codex = scripted(|config| {
        starts.set(config);
        config.ready_timeout = Duration::from_millis(500);
    })
    .await;
    let asked = Instant::now();
    let failure = ended(codex.start("hello")).await.end.unwrap_err();
    println!("failed after {:?}, {} starts", asked.elapsed(), starts.list().len());
    assert_eq!(failure.kind, FailureKind::ChildGone);
    assert!(failure.message.starts_with("Codex is not ready: "), "{failure}");
    assert!(failure.message.contains("this start is refused"), "{failure}");
    codex.pool.shutdown().await;
}
