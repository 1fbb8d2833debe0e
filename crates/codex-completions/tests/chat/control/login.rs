//! Signing in and out, for somebody at the page.

use serde_json::{Value, json};
use testkit::{Consent, ScriptedIssuer, until};

use super::send;
use crate::asking::{ask, with};
use crate::proxy::Proxy;

/// A server whose Codex signs in at this issuer.
pub(super) async fn start(issuer: &ScriptedIssuer, more: &[(&str, &str)]) -> Proxy {
    let environment = issuer.environment();
    let base_url = issuer.chatgpt_base_url();
    let mut settings: Vec<_> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    settings.push(("PROXY_CHATGPT_BASE_URL", &base_url));
    settings.extend(more);
    Proxy::start(&settings).await
}

pub(super) async fn login(proxy: &Proxy, body: Value) -> Value {
    let answer = send(proxy, "POST", "/v1/proxy/login", Some(&body)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// The state, once it is as wanted.
pub(super) async fn until_status(proxy: &Proxy, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let status = async || send(proxy, "GET", "/v1/proxy/status", None).await.json();
    until("another status", async || Some(status().await).filter(&is_wanted)).await
}

pub(super) async fn until_login(proxy: &Proxy, state: &str) -> Value {
    until_status(proxy, |status| status["login"]["state"] == state).await
}

#[tokio::test]
async fn a_code_signs_in_and_the_account_is_shown() {
    let issuer = ScriptedIssuer::start().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let proxy = start(&issuer, &[]).await;
    let begun = login(&proxy, json!({"method": "device_code"})).await;
    assert_eq!(begun["url"], format!("{}/codex/device", issuer.url()));
    assert!(begun["code"].as_str().is_some_and(|code| !code.is_empty()), "{begun}");
    assert_eq!(until_login(&proxy, "waiting").await["login"], begun);

    issuer.change(|script| script.consent = Consent::Given);
    let mut status = until_login(&proxy, "succeeded").await;
    assert_eq!(status["account"]["signed_in"], true);
    let done = status["login"].take();
    let expected = with(begun, json!({"state": "succeeded", "url": null, "code": null}));
    assert_eq!(done, expected);
    let status = until_status(&proxy, |status| status["account"]["signed_in"] == true).await;
    let account = &status["account"];
    assert_eq!(account["type"], "chatgpt");
    assert!(account["email"].as_str().is_some_and(|email| email.contains('@')), "{account}");
    let status = until_status(&proxy, |status| !status["account"]["primary"].is_null()).await;
    assert_eq!(status["account"]["primary"]["used_percent"], 12);

    let out = send(&proxy, "POST", "/v1/proxy/logout", None).await;
    assert_eq!((out.status, out.json()), (200, json!({"signed_in": false})));
    let status = until_status(&proxy, |status| status["account"]["signed_in"] == false).await;
    assert_eq!((&status["login"], &status["account"]["email"]), (&Value::Null, &Value::Null));
    assert_eq!(issuer.requests_at("/oauth/revoke").len(), 1);
    // Whatever happened to the login, turns are served.
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
}

#[tokio::test]
async fn a_login_can_be_cancelled_denied_and_begun_anew() {
    let issuer = ScriptedIssuer::start().await;
    issuer.change(|script| script.consent = Consent::Pending);
    let proxy = start(&issuer, &[]).await;
    let cancel = async || send(&proxy, "DELETE", "/v1/proxy/login", None).await.json();
    assert_eq!(cancel().await, Value::Null);
    login(&proxy, json!({"method": "device_code"})).await;
    let cancelled = cancel().await;
    assert_eq!((&cancelled["state"], &cancelled["code"]), (&json!("cancelled"), &Value::Null));

    let first = login(&proxy, json!({"method": "device_code"})).await;
    // Another one takes the place of the first.
    let second = login(&proxy, json!({"method": "device_code"})).await;
    assert_eq!((&first["state"], &second["state"]), (&json!("waiting"), &json!("waiting")));
    assert_eq!(until_login(&proxy, "waiting").await["login"], second);
    issuer.change(|script| script.consent = Consent::Denied);
    let failed = until_login(&proxy, "failed").await["login"].take();
    assert!(failed["message"].as_str().unwrap().starts_with("device auth failed"), "{failed}");

    let with_key = login(&proxy, json!({"method": "api_key", "api_key": " sk-canary "})).await;
    assert_eq!(with_key["state"], "succeeded");
    assert!(!with_key.to_string().contains("canary"));
    let status = until_status(&proxy, |status| status["account"]["signed_in"] == true).await;
    assert_eq!(status["account"]["type"], "api_key");
}

#[tokio::test]
async fn what_is_wrong_about_a_login_is_told() {
    let issuer = ScriptedIssuer::start().await;
    let proxy = start(&issuer, &[]).await;
    for (body, param) in [
        (json!({}), "method"),
        (json!({"method": "password"}), "method"),
        (json!({"method": "api_key"}), "api_key"),
        (json!({"method": "api_key", "api_key": "  "}), "api_key"),
        (json!({"method": "api_key", "api_key": "sk-a\nb"}), "api_key"),
        (json!([]), "method"),
    ] {
        let answer = send(&proxy, "POST", "/v1/proxy/login", Some(&body)).await;
        assert_eq!(answer.error(), (400, json!(param), json!("invalid_value")), "{body}");
    }
}
