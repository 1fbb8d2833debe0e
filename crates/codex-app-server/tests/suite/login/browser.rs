//! Signing in with a browser on this machine. It comes back to a port that is fixed, so these
//! tests run one at a time.

use codex_app_server::account::{Login, LoginError, LoginMethod, LoginPrompt};
use testkit::{Consent, Routing, TestCodex, browse};

use super::{account_of_the_issuer, assert_half_a_login, signed_out};

async fn begin(codex: &TestCodex) -> (Login, String) {
    let login = codex.client.login(LoginMethod::Browser).await.expect("a login");
    let LoginPrompt::Browser { url } = login.prompt().clone() else {
        panic!("{:?}", login.prompt())
    };
    (login, url)
}

#[tokio::test]
async fn a_page_in_a_browser_signs_in() {
    let (codex, issuer) = signed_out().await;
    let (mut login, url) = begin(&codex).await;
    assert!(url.starts_with(&format!("{}/oauth/authorize?", issuer.url())), "{url}");
    let page = browse(&url).await;
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.url.contains("/success"), "{page:?}");
    assert_eq!(login.finished().await, Ok(()));
    assert_eq!(codex.client.account().await, Ok(Some(account_of_the_issuer())));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn who_says_no_in_a_browser_is_not_signed_in() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::Denied);
    let (mut login, url) = begin(&codex).await;
    let page = browse(&url).await;
    assert!(page.text.contains("the user said no"), "{page:?}");
    let outcome = login.finished().await.unwrap_err();
    assert_eq!(outcome, LoginError::Failed("Sign-in failed: the user said no".to_owned()));
    assert_eq!(codex.client.account().await, Ok(None));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_browser_login_can_be_given_up_and_begun_again() {
    let (codex, _issuer) = signed_out().await;
    let (mut login, _) = begin(&codex).await;
    login.cancel().await.unwrap();
    assert_eq!(login.finished().await, Err(LoginError::Cancelled));
    // The port is free again.
    let (mut login, url) = begin(&codex).await;
    browse(&url).await;
    assert_eq!(login.finished().await, Ok(()));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_page_of_another_login_is_turned_away_and_the_login_goes_on() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.consent = Consent::ForAnotherLogin);
    let (mut login, url) = begin(&codex).await;
    let page = browse(&url).await;
    assert_eq!((page.status, page.text.as_str()), (400, "State mismatch"));
    assert_eq!(codex.client.account().await, Ok(None));
    issuer.change(|script| script.consent = Consent::Given);
    browse(&url).await;
    assert_eq!(login.finished().await, Ok(()));
    assert_eq!(codex.client.account().await, Ok(Some(account_of_the_issuer())));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn a_browser_login_in_another_child_cancels_the_first() {
    let (codex, issuer) = signed_out().await;
    let other = TestCodex::with(|config| issuer.configure(config)).await;
    let (mut first, _) = begin(&codex).await;
    let (mut second, url) = begin(&other).await;
    assert_eq!(first.finished().await, Err(LoginError::Cancelled));
    browse(&url).await;
    assert_eq!(second.finished().await, Ok(()));
    assert_eq!(codex.client.account().await, Ok(None));
    codex.client.shutdown().await;
    other.client.shutdown().await;
}

#[tokio::test]
async fn a_browser_login_whose_account_cannot_be_looked_up_is_neither_there_nor_away() {
    let (codex, issuer) = signed_out().await;
    issuer.change(|script| script.routing = Routing::Fails);
    let (mut login, url) = begin(&codex).await;
    browse(&url).await;
    let outcome = login.finished().await.unwrap_err();
    assert_half_a_login(&codex, &issuer, outcome).await;
    codex.client.shutdown().await;
}
