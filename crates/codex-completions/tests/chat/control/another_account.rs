//! Another account takes the place of the one before only if the owner confirms it, and every
//! change of the account is logged.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Consent, IssuedAccount, ScriptedIssuer, codex_binary, write_script};

use super::login::{login, start, until_login, until_status};
use super::owned_sign_in::{homes, login_file};
use super::send;
use crate::asking::{ask, streamed};
use crate::proxy::Proxy;

const SIGNED_IN: &str = "signed in";
const SIGNED_OUT: &str = "signed out";
const CHANGED: &str = "the account has changed, not through this server";

/// Confirms the sign-in that is shown.
async fn confirm(proxy: &Proxy) -> Value {
    let status = send(proxy, "GET", "/v1/proxy/status", None).await.json();
    let shown = json!({"id": status["login"]["id"]});
    let answer = send(proxy, "POST", "/v1/proxy/login/confirm", Some(&shown)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Account, key and method of a log line.
fn named(line: &Value) -> [Value; 3] {
    ["account", "key", "method"].map(|name| line[name].clone())
}

fn count(proxy: &Proxy, message: &str) -> usize {
    let log = proxy.log();
    log.as_array().unwrap().iter().filter(|line| line["message"] == message).count()
}

/// A server where the issuer's first account is signed in.
async fn signed_in(issuer: &ScriptedIssuer) -> Proxy {
    let proxy = start(issuer, &[]).await;
    login(&proxy, json!({"method": "device_code"})).await;
    until_login(&proxy, "succeeded").await;
    assert_eq!(count(&proxy, CHANGED), 0);
    proxy
}

/// Signs in as another account, which has to be confirmed.
async fn ask_for_another(proxy: &Proxy, issuer: &ScriptedIssuer) -> Value {
    issuer.change(|script| script.account = IssuedAccount::another());
    login(proxy, json!({"method": "device_code"})).await;
    until_login(proxy, "confirming").await["login"].take()
}

#[tokio::test]
async fn row_21_another_account_is_installed_once_it_is_confirmed() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    let asked = ask_for_another(&proxy, &issuer).await;
    let shown = ["account", "replaces", "url", "code", "message"].map(|name| asked[name].clone());
    let expected = [json!("you@example.com"), json!("me@example.com")];
    assert_eq!(shown, [expected.as_slice(), &[const { Value::Null }; 3]].concat()[..]);
    let status = send(&proxy, "GET", "/v1/proxy/status", None).await.json();
    assert_eq!(status["account"]["email"], "me@example.com");
    assert_eq!(count(&proxy, SIGNED_IN), 1);

    assert_eq!(confirm(&proxy).await["state"], "succeeded");
    let status = send(&proxy, "GET", "/v1/proxy/status", None).await.json();
    assert_eq!(status["account"]["email"], "you@example.com");
    let line = proxy.logged_times(SIGNED_IN, 2).await;
    assert_eq!(named(&line), ["you@example.com", "default", "device_code"]);
    assert_eq!(homes(&proxy), [""; 0]);
    assert_eq!(issuer.requests_at("/oauth/revoke"), []);

    let again = send(&proxy, "POST", "/v1/proxy/login/confirm", Some(&json!({"id": 2}))).await;
    assert_eq!(again.error(), (400, Value::Null, json!("login_not_confirming")));
    let unnamed = send(&proxy, "POST", "/v1/proxy/login/confirm", Some(&json!({}))).await;
    assert_eq!(unnamed.status, 400, "{unnamed:?}");
    assert_eq!(count(&proxy, CHANGED), 0);
}

#[tokio::test]
async fn row_21_another_account_that_is_declined_changes_nothing_and_is_revoked() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    let before = std::fs::read(login_file(&proxy)).unwrap();
    ask_for_another(&proxy, &issuer).await;
    let declined = send(&proxy, "DELETE", "/v1/proxy/login", None).await.json();
    assert_eq!((&declined["state"], &declined["account"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(std::fs::read(login_file(&proxy)).unwrap(), before);
    assert_eq!(homes(&proxy), [""; 0]);
    let status = send(&proxy, "GET", "/v1/proxy/status", None).await.json();
    assert_eq!(status["account"]["email"], "me@example.com");
    let revoked = issuer.requests_at("/oauth/revoke");
    assert!(revoked.len() == 1 && revoked[0].body.contains("refresh-2"), "{revoked:?}");
}

#[tokio::test]
async fn row_21_the_same_account_needs_no_confirmation() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    login(&proxy, json!({"method": "device_code"})).await;
    until_login(&proxy, "succeeded").await;
    assert_eq!(named(&proxy.logged_times(SIGNED_IN, 2).await)[0], "me@example.com");
    let tokens = std::fs::read_to_string(login_file(&proxy)).unwrap();
    assert!(tokens.contains("refresh-2"), "{tokens}");
    for token in ["refresh-1", "refresh-2", "access-1", "access-2"] {
        assert!(!proxy.log().to_string().contains(token), "{token}");
    }
}

#[tokio::test]
async fn row_21_an_api_key_in_the_place_of_an_account_is_confirmed_too() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    let asked = login(&proxy, json!({"method": "api_key", "api_key": "sk-goldfinch"})).await;
    let shown = ["state", "account", "replaces"].map(|name| asked[name].clone());
    assert_eq!(shown, ["confirming", "an API key", "me@example.com"]);
    assert_eq!(confirm(&proxy).await["state"], "succeeded");
    let status = send(&proxy, "GET", "/v1/proxy/status", None).await.json();
    assert_eq!(status["account"]["type"], "api_key");
    assert_eq!(
        named(&proxy.logged_times(SIGNED_IN, 2).await),
        ["an API key", "default", "api_key"]
    );
    assert!(!proxy.log().to_string().contains("goldfinch"));
}

#[tokio::test]
async fn row_21_a_login_that_was_changed_meanwhile_is_not_replaced() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    ask_for_another(&proxy, &issuer).await;
    proxy.run(&["login", "--with-api-key"], "sk-from-a-terminal\n").await;
    let failed = confirm(&proxy).await;
    let expected = "the login was changed elsewhere meanwhile; sign in again";
    assert_eq!((&failed["state"], &failed["message"]), (&json!("failed"), &json!(expected)));
    let in_place = std::fs::read_to_string(login_file(&proxy)).unwrap();
    assert!(in_place.contains("sk-from-a-terminal"));
    assert_eq!(homes(&proxy), [""; 0]);
}

#[tokio::test]
async fn row_21_a_running_turn_survives_a_sign_in() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    let mut turn = proxy.open(&streamed(ask("[[hang]]"))).await;
    let id = turn.headers["x-request-id"].to_str().unwrap().to_owned();
    turn.until("content").await;
    let before = proxy.children();
    ask_for_another(&proxy, &issuer).await;
    assert_eq!(confirm(&proxy).await["state"], "succeeded");
    let children = proxy.children();
    assert!(children.contains(&before[0]) && children.len() == 2, "{before:?}, {children:?}");
    assert_eq!(proxy.model.counters().in_flight, 1);
    // The new child serves beside it, until it ends for a reason of its own.
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    drop(turn);
    let line = &proxy.turn_lines(&id, 1).await[0];
    assert_eq!(line["stop_reason"], "client_gone");
}

#[tokio::test]
async fn row_21_signing_out_is_logged_and_ends_a_sign_in() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    issuer.change(|script| script.consent = Consent::Pending);
    login(&proxy, json!({"method": "device_code"})).await;
    let out = send(&proxy, "POST", "/v1/proxy/logout", None).await;
    assert_eq!(out.status, 200, "{out:?}");
    assert_eq!(proxy.logged("a sign-in was discarded").await["why"], "the owner signed out");
    let line = proxy.logged(SIGNED_OUT).await;
    assert_eq!(named(&line)[..2], ["me@example.com", "default"]);
    assert!(homes(&proxy).is_empty() && !login_file(&proxy).exists());
    until_status(&proxy, |status| status["account"]["signed_in"] == false).await;
    assert_eq!(count(&proxy, CHANGED), 0);
}

#[tokio::test]
async fn row_21_a_change_that_was_made_at_a_terminal_is_logged() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    proxy.run(&["login", "--with-api-key"], "sk-goldfinch\n").await;
    assert_eq!(proxy.logged(CHANGED).await["account"], "an API key");
    proxy.run(&["logout"], "").await;
    assert_eq!(proxy.logged_times(CHANGED, 2).await["account"], "none");
    assert_eq!((count(&proxy, SIGNED_IN), count(&proxy, SIGNED_OUT)), (1, 0));
    assert!(!proxy.log().to_string().contains("goldfinch"));
}

#[tokio::test]
async fn row_21_a_confirmation_is_for_the_sign_in_that_was_shown() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    let before = std::fs::read(login_file(&proxy)).unwrap();
    let shown = ask_for_another(&proxy, &issuer).await;
    let later = ask_for_another(&proxy, &issuer).await;
    assert_ne!(shown["id"], later["id"]);
    let outdated = json!({"id": shown["id"]});
    let answer = send(&proxy, "POST", "/v1/proxy/login/confirm", Some(&outdated)).await;
    assert_eq!(answer.error(), (400, Value::Null, json!("login_not_confirming")));
    assert_eq!(std::fs::read(login_file(&proxy)).unwrap(), before);
    assert_eq!(confirm(&proxy).await["state"], "succeeded");
}

/// In whichever order the server takes them: what is under way afterwards is shown.
#[tokio::test]
async fn row_21_no_sign_in_is_hidden_by_a_sign_out() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = signed_in(&issuer).await;
    ask_for_another(&proxy, &issuer).await;
    issuer.change(|script| script.consent = Consent::Pending);
    let way = json!({"method": "device_code"});
    let both = async {
        tokio::join!(
            send(&proxy, "POST", "/v1/proxy/logout", None),
            send(&proxy, "POST", "/v1/proxy/login", Some(&way)),
        )
    };
    let (out, begun) = tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
    assert_eq!((out.status, begun.status), (200, 200), "{out:?} {begun:?}");
    let login = send(&proxy, "GET", "/v1/proxy/status", None).await.json()["login"].take();
    let under_way = usize::from(login["state"] == "waiting");
    assert!(under_way == 1 || login.is_null(), "{login}");
    assert_eq!(homes(&proxy).len(), under_way, "{login}");
    assert!(!login_file(&proxy).exists());
}

#[tokio::test]
async fn row_21_a_login_that_no_codex_takes_up_is_not_reported_as_discarded() {
    let issuer = ScriptedIssuer::start().await;
    let folder = tempfile::tempdir().unwrap();
    let codex = folder.path().join("codex");
    let good = format!("exec '{}' \"$@\"", codex_binary().await.path().display());
    write_script(&codex, &good);
    issuer.change(|script| script.consent = Consent::Pending);
    let proxy = start(&issuer, &[("CODEX_BIN", codex.to_str().unwrap())]).await;
    login(&proxy, json!({"method": "device_code"})).await;
    until_login(&proxy, "waiting").await;
    write_script(&codex, "exit 1");
    issuer.change(|script| script.consent = Consent::Given);
    let status = until_login(&proxy, "succeeded").await;
    let message = status["login"]["message"].as_str().unwrap();
    assert!(message.starts_with("The new login is in place, but Codex did not start"), "{message}");
    assert!(login_file(&proxy).exists());
    assert_eq!(count(&proxy, SIGNED_IN), 1);
    // The pool takes it up when it can.
    write_script(&codex, &good);
    until_status(&proxy, |status| status["account"]["email"] == "me@example.com").await;
    assert_eq!((count(&proxy, "a sign-in was discarded"), count(&proxy, CHANGED)), (0, 0));
}
