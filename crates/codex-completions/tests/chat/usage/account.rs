//! The account beside the turns: who is signed in, and what is left.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::ScriptedIssuer;
use testkit::until;

use super::usage;
use crate::asking::{ask, with};
use crate::proxy::Proxy;

/// Runs a command of ours on the server's own data folder.
pub(crate) async fn run(proxy: &Proxy, issuer: &ScriptedIssuer, arguments: &[&str]) {
    let mut command = proxy.command(arguments).await;
    command.env("PROXY_CHATGPT_BASE_URL", issuer.chatgpt_base_url()).envs(issuer.environment());
    let output = command.output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Waits until the account is told like this.
async fn until_account(proxy: &Proxy, is_wanted: impl Fn(&Value) -> bool) -> Value {
    let look = async || Some(usage(proxy, "").await["account"].take()).filter(&is_wanted);
    until("another account", look).await
}

/// What `/metrics` says about the allowance.
async fn allowance_gauges(proxy: &Proxy) -> BTreeMap<String, String> {
    let metrics = proxy.metrics().await;
    let of_account = metrics.lines().filter(|line| line.starts_with("account_"));
    let gauges = of_account.map(|line| line.rsplit_once(' ').unwrap());
    gauges.map(|(series, value)| (series.to_owned(), value.to_owned())).collect()
}

#[tokio::test]
async fn the_allowance_is_told_while_somebody_is_signed_in() {
    let issuer = ScriptedIssuer::start().await;
    let environment = issuer.environment();
    let base_url = issuer.chatgpt_base_url();
    let mut settings: Vec<_> =
        environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    settings.push(("PROXY_CHATGPT_BASE_URL", &base_url));
    let proxy = Proxy::start(&settings).await;

    let nobody = until_account(&proxy, |account| !account["signed_in"].is_null()).await;
    assert_eq!(
        nobody,
        json!({
            "signed_in": false, "reason": "nobody is signed in to Codex", "plan": null,
            "primary": null, "secondary": null, "credits": null, "reached": null, "as_of": null,
        })
    );

    run(&proxy, &issuer, &["login", "--device-code"]).await;
    let mut account = until_account(&proxy, |account| account["signed_in"] == true).await;
    assert!(account["as_of"].take().as_u64().is_some_and(|seconds| seconds > 1_700_000_000));
    let [primary, secondary] = ScriptedIssuer::USED.map(|window| {
        json!({
            "used_percent": window.percent,
            "window_minutes": window.seconds / 60,
            "resets_at": window.resets_at,
        })
    });
    let expected = json!({
        "signed_in": true, "reason": null, "plan": "plus",
        "primary": primary, "secondary": secondary,
        "credits": null, "reached": null, "as_of": null,
    });
    assert_eq!(account, expected);
    assert_eq!(issuer.requests_at("/wham/usage").len(), 1);

    let gauges = allowance_gauges(&proxy).await;
    for (window, used) in ["primary", "secondary"].into_iter().zip(ScriptedIssuer::USED) {
        let of = |name: &str| gauges.get(&format!("{name}{{window=\"{window}\"}}"));
        assert_eq!(of("account_limit_used_percent"), Some(&used.percent.to_string()));
        assert_eq!(of("account_limit_resets_at_seconds"), Some(&used.resets_at.to_string()));
    }
    assert_eq!(gauges.len(), 4);

    // The limits that another upstream tells of itself are not those of the account.
    for request in [ask("[[text]]"), with(ask("[[text]]"), json!({"model": "demo"}))] {
        assert_eq!(proxy.chat(&request).await.status, 200);
    }
    let mut account = usage(&proxy, "").await["account"].take();
    account["as_of"] = Value::Null;
    assert_eq!(account, expected);
    assert_eq!(issuer.requests_at("/wham/usage").len(), 1, "it is not asked for every turn");

    run(&proxy, &issuer, &["logout"]).await;
    until_account(&proxy, |account| account["signed_in"] == false).await;
    assert_eq!(allowance_gauges(&proxy).await, BTreeMap::new());
}

#[tokio::test]
async fn an_api_key_has_no_allowance() {
    let home = tempfile::tempdir().unwrap();
    let login = json!({"auth_mode": "apikey", "OPENAI_API_KEY": "sk-of-the-owner"});
    std::fs::write(home.path().join("auth.json"), login.to_string()).unwrap();
    let settings = [("PROXY_CODEX_HOME", home.path().to_str().unwrap())];
    let proxy = Proxy::start(&settings).await;
    let account = until_account(&proxy, |account| account["signed_in"] == true).await;
    assert_eq!(account["reason"], "only a ChatGPT login has an allowance");
    assert_eq!(account["as_of"], Value::Null);
}
