//! `/v1/proxy/…`: what the owner sees and does.

mod another_account;
mod login;
mod owned_sign_in;
mod watching;

use http_body_util::Full;
use hyper::Request;
use hyper::header::AUTHORIZATION;
use serde_json::{Value, json};

use crate::http::Answer;
use crate::proxy::{KEY, Proxy};

const READ: [&str; 5] = [
    "/v1/proxy/status",
    "/v1/proxy/turns",
    "/v1/proxy/models",
    "/v1/proxy/settings",
    "/v1/proxy/events",
];

async fn send(proxy: &Proxy, method: &str, path: &str, body: Option<&Value>) -> Answer {
    let mut request = Request::builder().method(method).uri(path);
    if body.is_some() {
        request = request.header("content-type", "application/json");
    }
    let body = body.map(Value::to_string).unwrap_or_default();
    proxy.send(request.body(Full::from(body)).unwrap()).await.whole().await
}

#[tokio::test]
async fn row_17_only_the_owner_sees_and_does_what_the_page_shows() {
    let proxy = Proxy::start(&[]).await;
    let phone = format!("Bearer {}", proxy.add_key("phone").await);
    let acts = [
        ("POST", "/v1/proxy/login"),
        ("POST", "/v1/proxy/login/confirm"),
        ("DELETE", "/v1/proxy/login"),
        ("POST", "/proxy/logout"),
    ];
    let all = READ.map(|path| ("GET", path)).into_iter().chain(acts);
    for (method, path) in all {
        let request = || Request::builder().method(method).uri(path);
        let without = request().body(Full::default()).unwrap();
        let without = proxy.send_without_key(without).await.whole().await;
        assert_eq!(without.error(), (401, Value::Null, json!("invalid_api_key")), "{path}");
        let client = request().header(AUTHORIZATION, &phone).body(Full::default()).unwrap();
        let client = proxy.send(client).await.whole().await;
        assert_eq!(client.error(), (403, Value::Null, json!("owner_key_required")), "{path}");
        let page =
            request().header("origin", "https://evil.example").body(Full::default()).unwrap();
        let page = proxy.send(page).await.whole().await;
        assert_eq!(page.error(), (403, Value::Null, json!("origin_not_allowed")), "{path}");
    }
}

#[tokio::test]
async fn settings_in_force_are_shown_with_where_they_come_from_and_no_secrets() {
    let proxy = Proxy::start(&[("PROXY_UPSTREAM_API_KEY", "sk-canary-upstream")]).await;
    let file = proxy.folder().join("config.toml");
    std::fs::write(&file, "tool_block_max = 2\n").unwrap();
    proxy.logged("settings have changed").await;
    let answer = send(&proxy, "GET", "/v1/proxy/settings", None).await;
    for secret in [KEY, "sk-canary-upstream"] {
        assert!(!answer.body.contains(secret));
    }
    let shown = answer.json();
    let of = |name: &str| {
        let mut settings = shown["settings"].as_array().unwrap().iter();
        let setting = settings.find(|setting| setting["name"] == name).unwrap();
        ["value", "source", "is_default", "live"].map(|member| setting[member].clone())
    };
    let source = std::fs::canonicalize(&file).unwrap();
    assert_eq!(of("PROXY_TOOL_BLOCK_MAX"), [json!("2"), json!(source), json!(false), json!(true)]);
    assert_eq!(of("PORT"), [json!("0"), json!("--port"), json!(false), json!(false)]);
    assert_eq!(of("PROXY_API_KEY")[..2], [json!("(hidden)"), json!("environment")]);
    assert_eq!(of("PROXY_HOST"), [json!(null), json!("default"), json!(true), json!(false)]);
    assert_eq!(shown["warnings"], json!([]));
}

#[tokio::test]
async fn models_are_described_with_what_their_other_names_stand_for() {
    let proxy =
        Proxy::start(&[("PROXY_MODEL_ALIASES", "fast=gpt-5.5:low"), ("CODEX_MODEL", "gpt-5.5")])
            .await;
    let shown = send(&proxy, "GET", "/v1/proxy/models", None).await.json();
    assert_eq!(shown["default"], "gpt-5.5");
    let ids: Vec<_> =
        shown["models"].as_array().unwrap().iter().map(|model| &model["id"]).collect();
    assert!(ids.contains(&&json!("gpt-5.5")) && ids.contains(&&json!("demo")), "{ids:?}");
    let aliases = shown["aliases"].as_array().unwrap();
    assert!(aliases.contains(&json!({"name": "fast", "model": "gpt-5.5", "effort": "low"})));
    assert!(aliases.contains(&json!({"name": "chat", "model": "gpt-5.5", "effort": null})));
}
