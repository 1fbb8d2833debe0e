//! A sign-in belongs to the key that began it.

use std::path::PathBuf;

use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};
use testkit::{Consent, IssuedAccount, Routing, ScriptedIssuer, until};

use super::login::{login, start};
use super::send;
use crate::http::Answer;
use crate::proxy::{KEY, Proxy};

/// Without a given key the server has one of its own, which can be rotated.
const OWN_KEY: &[(&str, &str)] = &[("PROXY_API_KEY", "")];

const DISCARDED: &str = "a sign-in was discarded";
const KEY_ENDED: &str = "the key or session that began it has ended";

/// The login in place.
pub(super) fn login_file(proxy: &Proxy) -> PathBuf {
    proxy.folder().join("codex-home/auth.json")
}

/// The homes of sign-ins that are there.
pub(super) fn homes(proxy: &Proxy) -> Vec<String> {
    let entries = std::fs::read_dir(proxy.folder().join("codex-home")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("sign-in")).collect()
}

fn key_file(proxy: &Proxy) -> PathBuf {
    proxy.folder().join("api-key")
}

fn own_key(proxy: &Proxy) -> String {
    std::fs::read_to_string(key_file(proxy)).unwrap().trim().to_owned()
}

/// A request with this key.
async fn with_key(proxy: &Proxy, key: &str, line: &str, body: Option<&Value>) -> Answer {
    let (method, path) = line.split_once(' ').unwrap();
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json");
    let body = body.map(Value::to_string).unwrap_or_default();
    proxy.send(request.body(Full::from(body)).unwrap()).await.whole().await
}

/// The login once it has ended, with whichever of these keys is accepted. One that is discarded may ask for
/// a confirmation until its child is gone.
async fn settled_login(proxy: &Proxy, keys: &[&str]) -> Value {
    let settled = async || {
        for key in keys {
            let answer = with_key(proxy, key, "GET /v1/proxy/status", None).await;
            if answer.status != 401 {
                let login = answer.json()["login"].take();
                let open = ["starting", "waiting", "confirming", "installing"];
                return Some(login).filter(|it| !open.map(Value::from).contains(&it["state"]));
            }
        }
        None
    };
    until("the login is settled", settled).await
}

/// Begins to sign in as another account with this key.
async fn begin(proxy: &Proxy, issuer: &ScriptedIssuer, key: &str) {
    issuer.change(|script| {
        script.consent = Consent::Pending;
        script.account = IssuedAccount::another();
    });
    let method = json!({"method": "device_code"});
    let begun = with_key(proxy, key, "POST /v1/proxy/login", Some(&method)).await.json();
    assert_eq!(begun["state"], "waiting", "{begun}");
    assert_eq!(homes(proxy).len(), 1);
}

/// Signs in as the first account, with this key.
async fn sign_in(proxy: &Proxy, key: &str) {
    let method = json!({"method": "device_code"});
    let begun = with_key(proxy, key, "POST /v1/proxy/login", Some(&method)).await;
    assert_eq!(begun.status, 200, "{begun:?}");
    assert_eq!(settled_login(proxy, &[key]).await["state"], "succeeded");
}

/// A server with a key of its own, that key, and the login of the first account in place.
async fn signed_in(issuer: &ScriptedIssuer) -> (Proxy, String, Vec<u8>) {
    let proxy = start(issuer, OWN_KEY).await;
    let key = own_key(&proxy);
    sign_in(&proxy, &key).await;
    let login = std::fs::read(login_file(&proxy)).unwrap();
    (proxy, key, login)
}

/// The sign-in was discarded for this reason, and all is as `before`.
async fn assert_discarded(proxy: &Proxy, key: &str, before: &[u8]) {
    let login = settled_login(proxy, &[key]).await;
    assert_eq!((&login["state"], &login["message"]), (&json!("cancelled"), &json!(KEY_ENDED)));
    let line = proxy.logged(DISCARDED).await;
    let fields = ["level", "why", "key", "method"].map(|name| line[name].as_str().unwrap());
    assert_eq!(fields, ["INFO", KEY_ENDED, "default", "device_code"]);
    assert_eq!(std::fs::read(login_file(proxy)).unwrap(), before);
    assert_eq!(homes(proxy), [""; 0]);
    let status = with_key(proxy, key, "GET /v1/proxy/status", None).await.json();
    assert_eq!(status["account"]["email"], "me@example.com");
}

#[tokio::test]
async fn row_21_a_sign_in_does_not_survive_the_rotation_of_the_key_that_began_it() {
    let issuer = ScriptedIssuer::start().await;
    let (proxy, old, before) = signed_in(&issuer).await;
    begin(&proxy, &issuer, &old).await;
    let new = proxy.run(&["key", "rotate"], "").await;
    issuer.change(|script| script.consent = Consent::Given);
    assert_discarded(&proxy, &new, &before).await;
    // The new key begins another one.
    issuer.change(|script| script.account = IssuedAccount::default());
    sign_in(&proxy, &new).await;
}

#[tokio::test]
async fn row_21_a_sign_in_does_not_survive_a_change_of_the_given_key() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = start(&issuer, OWN_KEY).await;
    let settings = proxy.folder().join(".env");
    std::fs::write(&settings, "PROXY_API_KEY=sk-given-first\n").unwrap();
    proxy.logged("keys have changed").await;
    sign_in(&proxy, "sk-given-first").await;
    let before = std::fs::read(login_file(&proxy)).unwrap();
    begin(&proxy, &issuer, "sk-given-first").await;
    std::fs::write(&settings, "PROXY_API_KEY=sk-given-second\n").unwrap();
    assert_discarded(&proxy, "sk-given-second", &before).await;
    issuer.change(|script| script.consent = Consent::Given);
    assert_eq!(std::fs::read(login_file(&proxy)).unwrap(), before);
}

/// Consent was given, and only the lookup of the account is missing when the key is rotated.
#[tokio::test]
async fn row_21_a_rotation_counts_before_the_server_has_noticed_it() {
    let issuer = ScriptedIssuer::start().await;
    let (proxy, old, before) = signed_in(&issuer).await;
    let lookups = issuer.requests_at("/accounts/check").len();
    begin(&proxy, &issuer, &old).await;
    issuer.change(|script| {
        script.account = IssuedAccount::default();
        script.routing = Routing::Waits;
        script.consent = Consent::Given;
    });
    issuer.until_asked("/accounts/check", lookups + 1).await;
    let new = proxy.run(&["key", "rotate"], "").await;
    issuer.change(|script| script.routing = Routing::Works);
    assert_discarded(&proxy, &new, &before).await;
}

/// The key is written under another name of its file, which the server does not watch.
#[tokio::test]
async fn row_21_the_keys_on_disk_decide_whether_a_login_is_installed() {
    let issuer = ScriptedIssuer::start().await;
    let (proxy, old, before) = signed_in(&issuer).await;
    begin(&proxy, &issuer, &old).await;
    let elsewhere = tempfile::tempdir().unwrap();
    let other_name = elsewhere.path().join("same-file");
    std::fs::hard_link(key_file(&proxy), &other_name).unwrap();
    std::fs::write(&other_name, "sk-that-was-not-noticed\n").unwrap();
    let settings = with_key(&proxy, &old, "GET /v1/proxy/settings", None).await;
    assert_eq!(settings.status, 200, "the change was noticed too early");
    issuer.change(|script| {
        script.account = IssuedAccount::default();
        script.consent = Consent::Given;
    });
    let new = "sk-that-was-not-noticed";
    assert_eq!(settled_login(&proxy, &[&old, new]).await["state"], "cancelled");
    assert_discarded(&proxy, new, &before).await;
}

#[tokio::test]
async fn row_21_without_readable_keys_no_login_is_installed() {
    let issuer = ScriptedIssuer::start().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let proxy = start(&issuer, &[]).await;
    login(&proxy, json!({"method": "device_code"})).await;
    std::fs::write(proxy.folder().join("keys.json"), "not JSON").unwrap();
    issuer.change(|script| script.consent = Consent::Given);
    let failed = settled_login(&proxy, &[KEY]).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    let message = failed["message"].as_str().unwrap();
    assert!(message.starts_with("the keys could not be read again"), "{message}");
    assert!(message.contains("keys.json"), "{message}");
    assert!(!login_file(&proxy).exists() && homes(&proxy).is_empty());
}

#[tokio::test]
async fn row_21_a_cancelled_sign_in_leaves_nothing() {
    let issuer = ScriptedIssuer::start().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let proxy = start(&issuer, &[]).await;
    let before = proxy.children();
    login(&proxy, json!({"method": "device_code"})).await;
    assert_eq!((homes(&proxy).len(), proxy.children().len()), (1, before.len() + 1));
    let cancelled = send(&proxy, "DELETE", "/v1/proxy/login", None).await.json();
    assert_eq!((&cancelled["state"], &cancelled["message"]), (&json!("cancelled"), &Value::Null));
    assert_eq!(proxy.logged(DISCARDED).await["why"], "cancelled");
    assert_eq!(homes(&proxy), [""; 0]);
    assert_eq!(proxy.children(), before, "its child has ended, the others stay");
    assert!(!login_file(&proxy).exists());
}

#[tokio::test]
async fn row_21_a_server_that_stops_ends_the_sign_in() {
    let issuer = ScriptedIssuer::start().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let mut proxy = start(&issuer, &[]).await;
    login(&proxy, json!({"method": "device_code"})).await;
    proxy.stop().await;
    assert_eq!(proxy.logged(DISCARDED).await["why"], "the server is stopping");
    assert_eq!(homes(&proxy), [""; 0]);
}
