//! The canary of a child: what waits for it, and what it decides.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use codex_app_server::account::LoginMethod;
use codex_app_server::{
    CanaryConfig, CanaryModel, CanaryState, CodexBinary, Promise, RenewError, WorkerState,
};
use model_turn::{FailureKind, TurnEnd, TurnRequest, Upstream};
use serde_json::Value;
use testkit::{
    Outcome, ScriptedIssuer, TestCodex, TestPool, canary, codex_binary, write_altered_codex,
};
use tokio::sync::Semaphore;

fn canary_of(state: &WorkerState) -> Option<&CanaryState> {
    match state {
        WorkerState::Ready { canary, .. } => Some(canary),
        _ => None,
    }
}

#[tokio::test]
async fn row_24_real_models_wait_for_the_canary_and_demo_does_not() {
    let gate = Arc::new(Semaphore::new(0));
    let held = gate.clone();
    let codex = TestPool::with(codex_binary().await, |config| {
        let start = canary().model;
        config.client.canary = Some(CanaryConfig {
            model: Arc::new(move || {
                let (gate, start) = (held.clone(), start.clone());
                Box::pin(async move {
                    let _permit = gate.acquire().await.map_err(io::Error::other)?;
                    start().await
                })
            }),
            ..canary()
        });
    })
    .await;
    let states = codex.until_ready().await;
    assert_eq!(canary_of(&states[0]), Some(&CanaryState::Checking { allowed: false }));
    let real = codex.start("[[text]]");
    let demo = TurnRequest { model: "demo".to_owned(), ..codex.ask("[[text]]") };
    let demo = Outcome::of(codex.pool.start_turn(demo).unwrap()).await;
    assert_eq!((demo.end, codex.model.requests()), (Ok(TurnEnd::Completed), 1));
    gate.add_permits(1);
    assert_eq!(Outcome::of(real).await.end, Ok(TurnEnd::Completed));
    let passed = CanaryState::Passed { git_attribution: false };
    assert_eq!(canary_of(&codex.pool.states().borrow()[0]), Some(&passed));
    assert_eq!((codex.model.requests(), codex.pool.stats().turns), (2, 2));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_24_a_canary_that_could_not_be_played_is_played_again() {
    let failed = Arc::new(AtomicBool::new(false));
    let codex = TestPool::with(codex_binary().await, |config| {
        let start = canary().model;
        config.client.canary = Some(CanaryConfig {
            model: Arc::new(move || {
                let is_first = !failed.swap(true, Ordering::Relaxed);
                if is_first {
                    Box::pin(async { Err(io::Error::other("no port")) })
                } else {
                    start()
                }
            }),
            ..canary()
        });
    })
    .await;
    let broken = |states: &[WorkerState]| {
        states[0].broken_promise().is_some_and(|broken| broken.promise == Promise::Checked)
    };
    codex.until(broken).await;
    // Such a turn waits, because the next canary may pass.
    assert_eq!(codex.run("[[text]]").await.end, Ok(TurnEnd::Completed));
    assert!(codex.pool.states().borrow()[0].takes_turns());
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn row_24_a_codex_that_fails_its_canary_does_not_replace_one_that_has_passed() {
    let folder = tempfile::tempdir().unwrap();
    let (path, newer) = (folder.path().join("codex"), folder.path().join("newer"));
    let pipeline = format!(
        "if [ -e '{0}' ]; then sed -u -f '{0}' | CODEX; else exec CODEX; fi",
        newer.display()
    );
    write_altered_codex(&path, codex_binary().await.path(), &pipeline);
    let binary = CodexBinary::at(&path).await.unwrap();
    let codex = TestPool::with(binary, |config| config.client.canary = Some(canary())).await;
    codex.until(|states| states[0].takes_turns()).await;
    let before = codex.process_ids();
    // One with a prompt of its own, and one that ends in its canary.
    for (command, reason) in [
        (r#"s/"baseInstructions":""/"baseInstructions":"You are Codex"/"#, "You are Codex"),
        (r#"/"turn\/start"/Q"#, "Codex has gone"),
    ] {
        std::fs::write(&newer, command).unwrap();
        let Err(RenewError::DidNotStart(found)) = codex.pool.renew().await else { panic!() };
        assert!(found.starts_with("the new Codex has failed its canary: "), "{found}");
        assert!(found.contains(reason), "{found}");
        assert_eq!(codex.process_ids(), before);
        assert_eq!(codex.run("[[text]]").await.end, Ok(TurnEnd::Completed));
    }
    std::fs::remove_file(&newer).unwrap();
    codex.pool.renew().await.unwrap();
    assert_ne!(codex.process_ids(), before);
    assert!(codex.pool.states().borrow()[0].takes_turns());
    codex.pool.shutdown().await;
}

/// A model that can pretend to have been asked twice.
struct AskedTwice {
    model: Box<dyn CanaryModel>,
    twice: Arc<AtomicBool>,
}

impl CanaryModel for AskedTwice {
    fn upstream(&self) -> Upstream {
        self.model.upstream()
    }

    fn message(&self) -> String {
        self.model.message()
    }

    fn requests(&self) -> Vec<Value> {
        let requests = self.model.requests();
        let twice = self.twice.load(Ordering::Relaxed);
        if twice { [requests.clone(), requests].concat() } else { requests }
    }
}

#[tokio::test]
async fn row_24_a_request_after_the_turn_is_found_too() {
    let twice = Arc::new(AtomicBool::new(false));
    let asked_twice = twice.clone();
    let codex = TestPool::with(codex_binary().await, |config| {
        let start = canary().model;
        config.client.canary = Some(CanaryConfig {
            model: Arc::new(move || {
                let (starting, twice) = (start(), asked_twice.clone());
                Box::pin(async move {
                    let model = starting.await?;
                    Ok(Box::new(AskedTwice { model, twice }) as Box<dyn CanaryModel>)
                })
            }),
            ..canary()
        });
    })
    .await;
    codex.until(|states| states[0].takes_turns()).await;
    twice.store(true, Ordering::Relaxed);
    let broken = |states: &[WorkerState]| {
        states[0].broken_promise().is_some_and(|broken| broken.promise == Promise::Requests)
    };
    codex.until(broken).await;
    let refused = codex.run("[[text]]").await;
    assert_eq!(refused.failure(), FailureKind::Untested, "{refused:?}");
    codex.pool.shutdown().await;
}

/// No key of Codex's configuration prevents it: the account decides.
#[tokio::test]
async fn row_24_an_attribution_of_commits_is_reported_and_breaks_nothing() {
    for enabled in [false, true] {
        let issuer = ScriptedIssuer::start().await;
        issuer.change(|script| script.commit_attribution = enabled);
        let codex = TestCodex::with(|config| {
            issuer.configure(config);
            config.canary = Some(canary());
        })
        .await;
        let mut login = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
        login.finished().await.unwrap();
        let passed = CanaryState::Passed { git_attribution: enabled };
        assert_eq!(codex.client.play_canary().await, passed);
        codex.run(codex.ask("[[text]]")).await;
        let body = codex.model.last_request().unwrap().body;
        assert_eq!(body.to_string().contains("<git_attribution>"), enabled, "{body}");
        codex.client.shutdown().await;
    }
}
