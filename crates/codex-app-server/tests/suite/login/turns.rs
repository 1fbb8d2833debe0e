//! Turns at the upstream of the login itself, and turns without any login.

use std::time::Instant;

use codex_app_server::{Client, ClientConfig, DEMO_MODEL};
use model_turn::{FailureKind, TurnEnd, TurnRequest};
use testkit::{IssuerRequest, Outcome, ScriptedIssuer, TestCodex, codex_binary};

use super::{signed_in, signed_out};

/// A child that is signed in, and whose login's own upstream is the issuer instead of a host that
/// Codex knows. Codex reads its configuration anew for every thread.
async fn at_its_own_upstream() -> (TestCodex, ScriptedIssuer) {
    let (codex, issuer) = signed_in().await;
    let file = codex.home.path().join("config.toml");
    let section = "[model_providers.upstream]\n";
    let here = format!("{section}base_url = \"{}\"\n", issuer.responses_base_url());
    let config = std::fs::read_to_string(&file).expect("a configuration");
    let changed = config.replace(section, &here);
    assert_ne!(changed, config);
    std::fs::write(&file, changed).expect("a writable home");
    (codex, issuer)
}

/// A request to the upstream of the login, whatever that is.
fn ask(codex: &TestCodex) -> TurnRequest {
    TurnRequest { upstream: None, ..codex.ask("Hello") }
}

/// Numbers of the access tokens with which a response was asked for.
fn tokens_used(issuer: &ScriptedIssuer) -> Vec<Option<u64>> {
    issuer.requests_at("/responses").iter().map(IssuerRequest::token).collect()
}

#[tokio::test]
async fn a_turn_goes_out_with_the_token_of_the_login() {
    let (codex, issuer) = at_its_own_upstream().await;
    let outcome = codex.run(ask(&codex)).await;
    assert_eq!((outcome.text.as_str(), outcome.end), ("signed in", Ok(TurnEnd::Completed)));
    assert_eq!(tokens_used(&issuer), [Some(1)]);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_token_that_is_refused_is_replaced_within_the_turn() {
    let (codex, issuer) = at_its_own_upstream().await;
    // Codex first looks whether somebody else has written a new token into the file.
    issuer.change(|script| script.unauthorized_responses = 2);
    let outcome = codex.run(ask(&codex)).await;
    assert_eq!((outcome.text.as_str(), outcome.end), ("signed in", Ok(TurnEnd::Completed)));
    assert_eq!(tokens_used(&issuer), [Some(1), Some(1), Some(2)]);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_turn_with_an_expired_login_is_not_authorised() {
    let (codex, issuer) = at_its_own_upstream().await;
    issuer.change(|script| {
        script.unauthorized_responses = u64::MAX;
        script.login_expired = true;
    });
    let failure = codex.run(ask(&codex)).await.end.unwrap_err();
    println!("{failure}");
    assert_eq!(failure.kind, FailureKind::Unauthorized);
    assert_eq!(tokens_used(&issuer), [Some(1), Some(1)]);
    assert_eq!(codex.client.account().await, Ok(None));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn without_a_login_only_other_upstreams_are_asked() {
    let (codex, issuer) = signed_out().await;
    let asked = Instant::now();
    let failure = codex.run(ask(&codex)).await.end.unwrap_err();
    println!("{failure}, after {:?}", asked.elapsed());
    assert_eq!(failure.kind, FailureKind::Unauthorized);
    assert_eq!(failure.message, "not signed in to Codex");
    let mut demo = codex.ask("[[text:here]]");
    demo.model = DEMO_MODEL.to_owned();
    for request in [codex.ask("[[text:here]]"), demo] {
        let outcome = codex.run(request).await;
        assert_eq!((outcome.text.as_str(), outcome.end), ("here", Ok(TurnEnd::Completed)));
    }
    assert_eq!(issuer.requests(), []);
    codex.client.shutdown().await;
}

/// Codex does so by itself, for every upstream. A child that is signed in already would not notice
/// what happens elsewhere; the children of a pool are replaced then.
#[tokio::test]
async fn a_login_ends_the_turns_of_its_child_and_of_those_without_one() {
    let issuer = ScriptedIssuer::start().await;
    let codex = TestCodex::with(|config| {
        issuer.configure(config);
        config.turns.retries = 1;
    })
    .await;
    let mut config = ClientConfig::new(codex_binary().await, codex.home.path());
    issuer.configure(&mut config);
    let elsewhere = Client::start(config).await.unwrap();

    let with_text = codex.hanging_turn().await;
    let silent = codex.client.start_turn(codex.ask("[[silent]]")).unwrap();
    codex.model.until(|counters| counters.requests == 2).await;
    elsewhere.login_with_api_key("sk-of-the-owner").await.unwrap();
    let failure = Outcome::of(with_text).await.end.unwrap_err();
    assert_eq!(failure.kind, FailureKind::StreamCut);
    assert!(failure.message.contains("login was changed"), "{failure}");
    // What has not said anything yet begins again.
    codex.model.until(|counters| counters.requests == 3).await;
    silent.interrupt();
    assert_eq!(Outcome::of(silent).await.end, Ok(TurnEnd::Interrupted));

    let turn = codex.hanging_turn().await;
    codex.client.logout().await.unwrap();
    assert_eq!(Outcome::of(turn).await.failure(), FailureKind::StreamCut);
    elsewhere.shutdown().await;
    codex.client.shutdown().await;
}
