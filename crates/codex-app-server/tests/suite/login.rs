//! Signing in and out with the real Codex, at an issuer of our own.

mod browser;
mod children;
mod turns;

use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt as _;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use codex_app_server::account::{
    Account, AccountEvent, LimitWindow, LoginError, LoginMethod, LoginPrompt, RateLimits,
};
use codex_app_server::{Client, Direction, RequestError};
use testkit::{Consent, IssuedAccount, Routing, ScriptedIssuer, TestCodex, within};
use tokio::sync::Notify;

/// A child and an issuer, and nobody signed in.
async fn signed_out() -> (TestCodex, ScriptedIssuer) {
    let issuer = ScriptedIssuer::start().await;
    let codex = TestCodex::with(|config| issuer.configure(config)).await;
    (codex, issuer)
}

/// The same after a login with ChatGPT.
async fn signed_in() -> (TestCodex, ScriptedIssuer) {
    let (codex, issuer) = signed_out().await;
    sign_in(&codex.client).await;
    (codex, issuer)
}

/// Signs in as a user who has already entered the code, and waits for everything that is said about
/// it.
async fn sign_in(client: &Client) {
    let mut events = client.account_events();
    let mut login = client.login(LoginMethod::DeviceCode).await.expect("a login");
    login.finished().await.expect("a good end");
    let is_changed = |event: Option<_>| matches!(event.unwrap(), AccountEvent::Changed { .. });
    within("another account", async { while !is_changed(events.next().await) {} }).await;
}

/// The account that the issuer gives out unless it is told otherwise.
fn account_of_the_issuer() -> Account {
    let IssuedAccount { email, plan, workspace, .. } = IssuedAccount::default();
    Account::ChatGpt { email: Some(email), plan: Some(plan), workspace: Some(workspace) }
}

fn changed(mode: Option<&str>, plan: Option<&str>) -> AccountEvent {
    AccountEvent::Changed { mode: mode.map(ToOwned::to_owned), plan: plan.map(ToOwned::to_owned) }
}

/// A login that has come to an end although its account could not be looked up.
async fn assert_half_a_login(codex: &TestCodex, issuer: &ScriptedIssuer, outcome: LoginError) {
    let LoginError::Failed(words) = outcome else { panic!("{outcome:?}") };
    assert!(words.contains("workspace routing"), "{words}");
    let account = codex.client.account().await;
    assert!(matches!(&account, Err(RequestError::Rejected { .. })), "{account:?}");
    issuer.change(|script| script.routing = Routing::Works);
    assert_eq!(codex.client.account().await, Ok(Some(account_of_the_issuer())));
    codex.client.logout().await.expect("a logout");
    assert_eq!(codex.client.account().await, Ok(None));
    assert!(!codex.home.path().join("auth.json").exists());
}

#[tokio::test]
async fn a_code_entered_anywhere_signs_in() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let mut events = codex.client.account_events();
    let mut login = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
    let url = format!("{}/codex/device", issuer.url());
    let code = "ABCD-12345".to_owned();
    assert_eq!(login.prompt(), &LoginPrompt::DeviceCode { url, code });
    issuer.until_asked("/deviceauth/token", 1).await;
    assert_eq!(codex.client.account().await, Ok(None));
    issuer.change(|script| script.consent = Consent::Given);
    assert_eq!(login.finished().await, Ok(()));
    assert_eq!(codex.client.account().await, Ok(Some(account_of_the_issuer())));

    let ended = events.next().await;
    let Some(AccountEvent::LoginEnded { login_id: Some(_), outcome: Ok(()) }) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(events.next().await, Some(changed(Some("chatgpt"), Some("plus"))));
    let file = std::fs::metadata(codex.home.path().join("auth.json")).unwrap();
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn what_is_used_of_the_allowance_is_told() {
    let (codex, issuer) = signed_in().await;
    let [primary, secondary] = ScriptedIssuer::USED.map(|window| {
        Some(LimitWindow {
            used_percent: window.percent,
            length: Some(Duration::from_secs(window.seconds)),
            resets_at: Some(window.resets_at),
        })
    });
    let plan = Some("plus".to_owned());
    let expected = RateLimits { primary, secondary, plan, ..RateLimits::default() };
    assert_eq!(codex.client.rate_limits().await, Ok(expected));
    assert_eq!(issuer.requests_at("/wham/usage").len(), 1);
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_login_can_be_given_up() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let mut login = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
    login.cancel().await.unwrap();
    assert_eq!(login.finished().await, Err(LoginError::Cancelled));
    assert_eq!(login.cancel().await, Ok(()), "once more does no harm");
    assert_eq!(codex.client.account().await, Ok(None));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_login_that_nobody_waits_for_is_given_up() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let mut events = codex.client.account_events();
    drop(codex.client.login(LoginMethod::DeviceCode).await.unwrap());
    let ended = events.next().await;
    let Some(AccountEvent::LoginEnded { outcome: Err(words), .. }) = ended else {
        panic!("{ended:?}")
    };
    assert_eq!(words, "Login was not completed");
    codex.client.shutdown().await;
}

#[tokio::test]
async fn another_login_cancels_the_first() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let mut first = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
    let mut second = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
    assert_eq!(first.finished().await, Err(LoginError::Cancelled));
    issuer.change(|script| script.consent = Consent::Given);
    assert_eq!(second.finished().await, Ok(()));
    drop(first);
    assert_eq!(codex.client.account().await, Ok(Some(account_of_the_issuer())));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_login_that_is_denied_fails_with_words() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::Denied);
    let mut login = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
    let outcome = login.finished().await.unwrap_err();
    let LoginError::Failed(words) = outcome else { panic!("{outcome:?}") };
    assert!(words.contains("400"), "{words}");
    assert_eq!(codex.client.account().await, Ok(None));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_login_ends_with_its_child() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let mut login = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
    codex.client.shutdown().await;
    assert_eq!(login.finished().await, Err(LoginError::ChildGone));
}

#[tokio::test]
async fn a_login_whose_account_cannot_be_looked_up_is_neither_there_nor_away() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.routing = Routing::Fails);
    let mut login = codex.client.login(LoginMethod::DeviceCode).await.unwrap();
    let outcome = login.finished().await.unwrap_err();
    assert_half_a_login(&codex, &issuer, outcome).await;
    codex.client.shutdown().await;
}

#[tokio::test]
async fn without_a_network_no_login_begins() {
    let nobody = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let codex = TestCodex::with(|config| {
        let issuer = ("CODEX_APP_SERVER_LOGIN_ISSUER".to_owned(), format!("http://{nobody}"));
        config.environment.push(issuer);
    })
    .await;
    let asked = Instant::now();
    let refused = codex.client.login(LoginMethod::DeviceCode).await.unwrap_err();
    println!("after {:?}: {refused}", asked.elapsed());
    assert!(matches!(refused, RequestError::Rejected { .. }), "{refused:?}");
    assert!(asked.elapsed() < Duration::from_secs(10), "{:?}", asked.elapsed());
    assert_eq!(codex.client.account().await, Ok(None));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_logout_leaves_nothing_and_tells_the_issuer() {
    let (codex, issuer) = signed_in().await;
    let file = codex.home.path().join("auth.json");
    assert!(file.exists());
    let mut events = codex.client.account_events();
    codex.client.logout().await.unwrap();
    assert_eq!(codex.client.account().await, Ok(None));
    assert!(!file.exists());
    assert_eq!(events.next().await, Some(changed(None, None)));
    issuer.until_asked("/oauth/revoke", 1).await;
    let revoked = issuer.requests_at("/oauth/revoke");
    assert!(revoked[0].body.contains(r#""refresh-1""#), "{revoked:?}");
    codex.client.shutdown().await;
}

#[tokio::test]
async fn an_api_key_signs_in_at_once() {
    let (codex, issuer) = signed_out().await;
    let mut events = codex.client.account_events();
    codex.client.login_with_api_key("sk-of-the-owner").await.unwrap();
    assert_eq!(codex.client.account().await, Ok(Some(Account::ApiKey)));
    let ended = AccountEvent::LoginEnded { login_id: None, outcome: Ok(()) };
    assert_eq!(events.next().await, Some(ended));
    assert_eq!(events.next().await, Some(changed(Some("apikey"), None)));
    let limits = codex.client.rate_limits().await;
    assert!(matches!(&limits, Err(RequestError::Rejected { .. })), "{limits:?}");
    codex.client.logout().await.unwrap();
    assert_eq!(codex.client.account().await, Ok(None));
    assert_eq!(events.next().await, Some(changed(None, None)));
    assert_eq!(issuer.requests(), [], "a key is nobody else's business");
    codex.client.shutdown().await;
}

#[tokio::test]
async fn another_account_takes_the_place_of_the_first() {
    let (codex, issuer) = signed_in().await;
    issuer.change(|script| script.account = IssuedAccount::another());
    sign_in(&codex.client).await;
    let expected = Account::ChatGpt {
        email: Some("you@example.com".to_owned()),
        plan: Some("pro".to_owned()),
        workspace: Some("Work".to_owned()),
    };
    assert_eq!(codex.client.account().await, Ok(Some(expected)));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn new_tokens_are_asked_for_until_the_login_has_expired() {
    let (codex, issuer) = signed_in().await;
    let refreshed_with = || {
        let asked = issuer.requests_at("/oauth/token").pop().expect("a request");
        let asked: serde_json::Value = serde_json::from_str(&asked.body).expect("JSON");
        assert_eq!(asked["grant_type"], "refresh_token");
        asked["refresh_token"].clone()
    };
    assert_eq!(codex.client.refresh_account().await, Ok(Some(account_of_the_issuer())));
    assert_eq!(refreshed_with(), "refresh-1");
    issuer.change(|script| script.login_expired = true);
    assert_eq!(codex.client.refresh_account().await, Ok(None));
    assert_eq!(refreshed_with(), "refresh-2");
    assert_eq!(codex.client.account().await, Ok(None));
    sign_in(&codex.client).await;
    assert_eq!(codex.client.account().await, Ok(Some(account_of_the_issuer())));
    codex.client.shutdown().await;
}

/// Codex has begun the login, and whoever asked for it has gone before hearing of that.
#[tokio::test]
async fn a_login_whose_beginning_nobody_hears_of_is_given_up() {
    let issuer = ScriptedIssuer::start().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let begun = Arc::new(Notify::new());
    let codex = TestCodex::with(|config| {
        issuer.configure(config);
        let begun = Arc::clone(&begun);
        config.tap = Some(Arc::new(move |direction, line: &[u8]| {
            let line = String::from_utf8_lossy(line);
            if direction == Direction::FromCodex && line.contains("userCode") {
                begun.notify_one();
            }
        }));
    })
    .await;
    let mut events = codex.client.account_events();
    {
        let mut login = pin!(codex.client.login(LoginMethod::DeviceCode));
        tokio::select! {
            biased;
            () = begun.notified() => {}
            login = &mut login => panic!("{login:?} was not to be waited for"),
        }
    }
    let ended = events.next().await;
    assert!(matches!(ended, Some(AccountEvent::LoginEnded { outcome: Err(_), .. })), "{ended:?}");
    codex.client.shutdown().await;
}
