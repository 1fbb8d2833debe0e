//! A real child that dies or hangs is brought back, and only its own turns fail.

use std::fs::File;
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, Instant};

use codex_app_server::{CodexBinary, WorkerState};
use model_turn::{FailureKind, TurnEnd};
use testkit::process::{is_running, signal, until_gone};
use testkit::{Outcome, TestPool, codex_binary, quick_heartbeat, until, write_script};
use tokio::task::JoinSet;

#[tokio::test]
async fn row_13_a_child_killed_in_the_middle_of_twenty_turns_is_back_for_the_next() {
    let codex = TestPool::with(codex_binary().await, |_| {}).await;
    codex.until_ready().await;
    let mut turns = Vec::new();
    for _ in 0..20 {
        turns.push(codex.hanging_turn().await);
    }
    let mut failing = JoinSet::new();
    let killed = Instant::now();
    signal(codex.process_ids()[0], "-KILL");
    for turn in turns {
        failing.spawn(async move { (Outcome::of(turn).await.failure(), killed.elapsed()) });
    }
    let failures = failing.join_all().await;
    let slowest = failures.iter().map(|(_, after)| *after).max().unwrap();
    println!("20 turns failed within {slowest:?}");
    assert!(failures.iter().all(|(kind, _)| *kind == FailureKind::ChildGone), "{failures:?}");
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");

    let next = codex.run("[[text:back]]").await;
    println!("the next turn ended {:?} after the kill", killed.elapsed());
    assert_eq!((next.text.as_str(), next.end), ("back", Ok(TurnEnd::Completed)));
    assert!(killed.elapsed() < Duration::from_secs(3), "{:?}", killed.elapsed());
    assert_eq!(codex.pool.stats().restarts, 1);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_13_one_child_of_three_takes_only_its_own_turns_with_it() {
    let codex = TestPool::with(codex_binary().await, |config| config.workers = 3).await;
    codex.until_ready().await;
    let mut turns = Vec::new();
    for _ in 0..9 {
        turns.push(codex.hanging_turn().await);
    }
    let before = codex.process_ids();
    signal(before[1], "-KILL");
    let states = codex.until(|states| matches!(states[1], WorkerState::Restarting { .. })).await;
    assert!(matches!(states[0], WorkerState::Ready { .. }), "{states:?}");
    let WorkerState::Restarting { reason, failures, .. } = &states[1] else { panic!("{states:?}") };
    assert!(reason.contains("closed its output"), "{reason}");
    assert_eq!(*failures, 1);
    codex.until_ready().await;
    let after = codex.process_ids();
    assert_eq!((before[0], before[2]), (after[0], after[2]));
    assert_ne!(before[1], after[1]);
    let mut failed = 0;
    for turn in turns {
        turn.interrupt();
        match Outcome::of(turn).await.end {
            Ok(end) => assert_eq!(end, TurnEnd::Interrupted),
            Err(failure) => {
                assert_eq!(failure.kind, FailureKind::ChildGone);
                failed += 1;
            }
        }
    }
    assert_eq!(failed, 3, "turns are spread evenly");
    codex.pool.shutdown().await;
    assert!(!after.into_iter().any(is_running));
}

#[tokio::test]
async fn row_13_a_child_that_hangs_is_noticed_and_replaced() {
    let codex = TestPool::with(codex_binary().await, quick_heartbeat).await;
    codex.until_ready().await;
    let turn = codex.hanging_turn().await;
    let child = codex.process_ids()[0];
    let stopped = Instant::now();
    signal(child, "-STOP");
    let failure = Outcome::of(turn).await.end.unwrap_err();
    println!("noticed after {:?}", stopped.elapsed());
    assert_eq!(failure.kind, FailureKind::ChildGone);
    assert!(failure.message.contains("hangs"), "{failure}");
    assert_eq!(codex.run("[[text:back]]").await.text, "back");
    assert!(!is_running(child));
    codex.pool.shutdown().await;
}

/// Turns that run go on in the old child, new ones go to the new child.
#[tokio::test]
async fn renewing_a_child_disturbs_no_turn() {
    let codex = TestPool::with(codex_binary().await, |config| config.workers = 2).await;
    codex.until_ready().await;
    let old = codex.process_ids();
    let turn = codex.hanging_turn().await;
    let version = codex.pool.renew().await.unwrap();
    assert_eq!(&version, codex_binary().await.version());
    let new = codex.process_ids();
    assert!(new.iter().all(|pid| !old.contains(pid)), "{old:?} {new:?}");
    assert_eq!(codex.run("[[text:new]]").await.text, "new");
    let has_ended = async || old.iter().filter(|pid| is_running(**pid)).count() <= 1;
    until("the end of the child without a turn", has_ended).await;
    turn.interrupt();
    assert_eq!(Outcome::of(turn).await.end, Ok(TurnEnd::Interrupted));
    until_gone(&old).await;
    assert_eq!((codex.pool.stats().renewals, codex.pool.stats().restarts), (2, 0));
    codex.pool.shutdown().await;
    assert!(!new.into_iter().any(is_running));
}

/// A Codex that says its version only when `hold` is not there any more, and `held` while it waits.
async fn slow_to_tell_its_version(folder: &Path) -> CodexBinary {
    let (path, real) = (folder.join("codex"), codex_binary().await);
    let script = format!(
        "if [ \"$1\" = --version ]; then\nwhile [ -e '{0}/hold' ]; do touch '{0}/held'; sleep 0.02; done\nfi\nexec '{1}' \"$@\"",
        folder.display(),
        real.path().display()
    );
    write_script(&path, &script);
    CodexBinary::at(&path).await.unwrap()
}

#[tokio::test]
async fn a_child_that_is_lost_while_it_is_renewed_is_missed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let codex = TestPool::with(slow_to_tell_its_version(folder.path()).await, |_| {}).await;
    codex.until_ready().await;
    let old = codex.process_ids()[0];
    std::fs::write(folder.path().join("hold"), "").unwrap();
    let (renewed, ()) = tokio::join!(codex.pool.renew(), async {
        until("the new child waits", async || folder.path().join("held").exists()).await;
        signal(old, "-KILL");
        codex.until(|states| matches!(states[0], WorkerState::Restarting { .. })).await;
        let turn = codex.start("[[text:patience]]");
        std::fs::remove_file(folder.path().join("hold")).unwrap();
        assert_eq!(Outcome::of(turn).await.text, "patience");
    });
    assert!(renewed.is_ok(), "{renewed:?}");
    assert_ne!(codex.process_ids(), [old]);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_child_that_hangs_while_it_finishes_its_turns_is_noticed_too() {
    let codex = TestPool::with(codex_binary().await, quick_heartbeat).await;
    codex.until_ready().await;
    let old = codex.process_ids()[0];
    let turn = codex.hanging_turn().await;
    codex.pool.renew().await.unwrap();
    signal(old, "-STOP");
    let failure = Outcome::of(turn).await.end.unwrap_err();
    assert!(failure.message.contains("hangs"), "{failure}");
    codex.pool.shutdown().await;
    assert!(!is_running(old));
}

#[tokio::test]
async fn a_child_that_is_replaced_answers_what_it_was_asked() {
    let codex = TestPool::with(codex_binary().await, |_| {}).await;
    codex.until_ready().await;
    let renewals = async {
        for _ in 0..3 {
            codex.pool.renew().await.unwrap();
        }
    };
    let mut renewals = pin!(renewals);
    let mut answers = 0;
    loop {
        let client = codex.pool.client().expect("there is always a child");
        tokio::select! {
            () = &mut renewals => break,
            models = client.models() => assert!(models.is_ok_and(|models| !models.is_empty())),
        }
        answers += 1;
    }
    println!("{answers} answers during three renewals");
    assert!(answers > 0);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_child_that_cannot_be_replaced_stays_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let codex = TestPool::with(slow_to_tell_its_version(folder.path()).await, |_| {}).await;
    codex.until_ready().await;
    let child = codex.process_ids();
    let (path, aside) = (folder.path().join("codex"), folder.path().join("aside"));
    std::fs::rename(&path, &aside).unwrap();
    let refused = codex.pool.renew().await.unwrap_err();
    assert!(refused.to_string().starts_with("no Codex at"), "{refused}");
    let states = codex.pool.states().borrow().clone();
    assert!(
        matches!(&states[0], WorkerState::Ready { not_renewed: Some(reason), .. }
            if reason.starts_with("no Codex at")),
        "{states:?}"
    );
    assert_eq!(codex.run("[[text:still here]]").await.text, "still here");
    assert_eq!(codex.process_ids(), child);
    std::fs::rename(&aside, &path).unwrap();
    codex.pool.renew().await.unwrap();
    let states = codex.pool.states().borrow().clone();
    assert!(matches!(states[0], WorkerState::Ready { not_renewed: None, .. }), "{states:?}");
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn children_start_one_after_the_other_and_wait_for_nobody_for_ever() {
    let codex = TestPool::with(codex_binary().await, |config| {
        config.client.handshake_timeout = Duration::from_millis(300);
        config.ready_timeout = Duration::MAX;
    })
    .await;
    codex.until_ready().await;
    // Somebody else is starting a child in this home, and never gets done with it.
    let lock = File::create(codex.home.path().join("start.lock")).unwrap();
    lock.lock().unwrap();
    signal(codex.process_ids()[0], "-KILL");
    let waiting = |state: &WorkerState| {
        matches!(state, WorkerState::Restarting { reason, .. }
            if reason.starts_with("another Codex is still starting in"))
    };
    codex.until(|states| waiting(&states[0])).await;
    let turn = codex.start("[[text:at last]]");
    drop(lock);
    codex.until_ready().await;
    assert_eq!(Outcome::of(turn).await.text, "at last");
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn whoever_stops_a_child_waits_for_its_end() {
    let codex = TestPool::with(codex_binary().await, |_| {}).await;
    codex.until_ready().await;
    let (client, child) = (codex.pool.client().unwrap(), codex.process_ids()[0]);
    let mut events = client.account_events();
    let stopped = async || {
        client.shutdown().await;
        assert!(!is_running(child));
    };
    tokio::join!(stopped(), stopped());
    assert_eq!(events.next().await, None);
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_stop_leaves_nothing_whatever_the_children_do() {
    let codex = TestPool::with(codex_binary().await, |config| config.workers = 2).await;
    codex.until_ready().await;
    let (children, turn) = (codex.process_ids(), codex.hanging_turn().await);
    codex.pool.shutdown().await;
    assert_eq!(Outcome::of(turn).await.failure(), FailureKind::Stopping);
    assert_eq!(codex.run("late").await.failure(), FailureKind::Stopping);
    assert!(codex.pool.states().borrow().iter().all(|state| *state == WorkerState::Stopped));
    assert!(!children.into_iter().any(is_running));
    // Codex was told to let go before it was told to go.
    codex.model.until(|counters| counters.in_flight == 0).await;
}
