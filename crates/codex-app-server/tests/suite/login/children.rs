//! Children under supervision share a login: whoever changes it, all others take it up.

use codex_app_server::account::{Account, LoginMethod};
use codex_app_server::{Client, ClientConfig, WorkerState};
use model_turn::{FailureKind, TurnEnd, TurnRequest};
use testkit::{Consent, Outcome, Routing, ScriptedIssuer, TestPool, codex_binary};

use super::{account_of_the_issuer, sign_in};

/// Two children, and nobody signed in.
async fn two_children(issuer: &ScriptedIssuer) -> TestPool {
    let codex = TestPool::with(codex_binary().await, |config| {
        config.workers = 2;
        issuer.configure(&mut config.client);
    })
    .await;
    codex.until_ready().await;
    codex
}

fn is_another(state: &WorkerState, old: u32) -> bool {
    matches!(state, WorkerState::Ready { process_id: Some(new), .. } if *new != old)
}

/// Waits until there is another second child. It looks at the login as often as the first does, so
/// that after the second time the first has looked as well.
async fn until_the_second_is_replaced(codex: &TestPool, old: &[u32]) {
    codex.until(|states| is_another(&states[1], old[1])).await;
}

/// Waits until both children are others.
async fn until_both_are_replaced(codex: &TestPool, old: &[u32]) {
    codex.until(|states| (0..2).all(|place| is_another(&states[place], old[place]))).await;
}

/// A child beside those of the pool, in the same home.
async fn child_elsewhere(codex: &TestPool, issuer: &ScriptedIssuer) -> Client {
    let mut config = ClientConfig::new(codex_binary().await, codex.home.path());
    issuer.configure(&mut config);
    Client::start(config).await.expect("Codex does not start")
}

#[tokio::test]
async fn a_login_made_elsewhere_is_taken_up() {
    let issuer = ScriptedIssuer::start().await;
    let codex = two_children(&issuer).await;
    let elsewhere = child_elsewhere(&codex, &issuer).await;
    let account = async || codex.pool.client().expect("a child").account().await;

    let old = codex.process_ids();
    elsewhere.login_with_api_key("sk-of-the-owner").await.unwrap();
    until_both_are_replaced(&codex, &old).await;
    assert_eq!(account().await, Ok(Some(Account::ApiKey)));

    let turn = codex.hanging_turn().await;
    let old = codex.process_ids();
    sign_in(&elsewhere).await;
    until_both_are_replaced(&codex, &old).await;
    assert_eq!(account().await, Ok(Some(account_of_the_issuer())));
    let old = codex.process_ids();
    elsewhere.logout().await.unwrap();
    until_both_are_replaced(&codex, &old).await;
    assert_eq!(account().await, Ok(None));

    turn.interrupt();
    assert_eq!(Outcome::of(turn).await.end, Ok(TurnEnd::Interrupted), "it was not disturbed");
    assert_eq!((codex.pool.stats().renewals, codex.pool.stats().restarts), (6, 0));
    elsewhere.shutdown().await;
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn the_child_that_signs_in_stays_and_the_other_follows() {
    let issuer = ScriptedIssuer::start().await;
    let codex = two_children(&issuer).await;
    let first = codex.process_ids()[0];
    let client = codex.pool.client().unwrap();
    assert_eq!(client.process_id(), Some(first));
    for key in ["sk-of-the-owner", "sk-of-another"] {
        let old = codex.process_ids();
        client.login_with_api_key(key).await.unwrap();
        until_the_second_is_replaced(&codex, &old).await;
        assert_eq!(codex.process_ids()[0], first);
    }
    let old = codex.process_ids();
    client.logout().await.unwrap();
    until_the_second_is_replaced(&codex, &old).await;
    assert_eq!(codex.process_ids()[0], first);
    codex.pool.shutdown().await;
}

/// Codex writes its file before it has looked up the account, which is part of the login.
#[tokio::test]
async fn a_child_is_left_alone_while_it_signs_in() {
    let issuer = ScriptedIssuer::start().await;
    let codex = two_children(&issuer).await;
    let old = codex.process_ids();
    issuer.change(|script| script.routing = Routing::Waits);
    let client = codex.pool.client().unwrap();
    let mut login = client.login(LoginMethod::DeviceCode).await.unwrap();
    until_the_second_is_replaced(&codex, &old).await;
    // Away and back again: something for the second child to notice.
    let (file, aside) = (codex.home.path().join("auth.json"), codex.home.path().join("aside"));
    for (from, to) in [(&file, &aside), (&aside, &file)] {
        let old = codex.process_ids();
        std::fs::rename(from, to).unwrap();
        until_the_second_is_replaced(&codex, &old).await;
    }
    assert_eq!(codex.process_ids()[0], old[0]);
    issuer.change(|script| script.routing = Routing::Works);
    assert_eq!(login.finished().await, Ok(()));
    assert_eq!(client.account().await, Ok(Some(account_of_the_issuer())));
    assert_eq!(codex.process_ids()[0], old[0]);
    assert_eq!((codex.pool.stats().renewals, codex.pool.stats().restarts), (3, 0));
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_child_that_is_replaced_finishes_its_login_first() {
    let issuer = ScriptedIssuer::start().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let codex = two_children(&issuer).await;
    let mut login = codex.pool.client().unwrap().login(LoginMethod::DeviceCode).await.unwrap();
    codex.pool.renew().await.unwrap();
    issuer.change(|script| script.consent = Consent::Given);
    assert_eq!(login.finished().await, Ok(()));
    codex.pool.shutdown().await;
}

/// Signed in, asked: the children need a moment in between.
#[tokio::test]
async fn a_turn_waits_for_a_child_that_has_the_login_which_it_needs() {
    let issuer = ScriptedIssuer::start().await;
    let codex = TestPool::with(codex_binary().await, |config| {
        issuer.configure(&mut config.client);
        // The upstream of the login is a host elsewhere, which this test does not want to meet.
        let nowhere = ("HTTPS_PROXY".to_owned(), "http://127.0.0.1:9".to_owned());
        config.client.environment.push(nowhere);
    })
    .await;
    codex.until_ready().await;
    let elsewhere = child_elsewhere(&codex, &issuer).await;
    elsewhere.login_with_api_key("sk-of-the-owner").await.unwrap();
    let turn = codex.pool.start_turn(TurnRequest { upstream: None, ..codex.ask("Hello") }).unwrap();
    assert_eq!(Outcome::of(turn).await.failure(), FailureKind::Unreachable);
    assert_eq!(codex.pool.stats().renewals, 1);
    elsewhere.shutdown().await;
    codex.pool.shutdown().await;
}

#[tokio::test]
async fn a_turn_does_not_wait_for_a_login_that_is_gone_again() {
    let issuer = ScriptedIssuer::start().await;
    let codex = two_children(&issuer).await;
    let file = codex.home.path().join("auth.json");
    std::fs::write(&file, r#"{"OPENAI_API_KEY":"sk-of-a-moment"}"#).unwrap();
    let turn = codex.pool.start_turn(TurnRequest { upstream: None, ..codex.ask("Hello") }).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(Outcome::of(turn).await.failure(), FailureKind::Unauthorized);
    codex.pool.shutdown().await;
}
