//! With a login present, neither `demo` nor an upstream of the user's own ever receives its token.

use std::collections::BTreeSet;

use codex_app_server::DEMO_MODEL;
use model_turn::{TurnEnd, Upstream};
use serde_json::{Value, json};
use testkit::{ScriptedIssuer, TestCodex, files_with, unsigned_token};

/// The token of the login.
const CANARY: &str = "sk-canary-b0a71e5c0ffee";

/// The key of the user's own upstream.
const OWN_KEY: &str = "sk-own-5eed5eed5eed";

/// The account of the ChatGPT login, which is part of that login's headers.
const CANARY_ACCOUNT: &str = "account-canary-77";

async fn request(codex: &TestCodex, method: &'static str, params: Value) -> Value {
    let answer = codex.client.request(method, &params).await;
    let answer = answer.unwrap_or_else(|error| panic!("{error}"));
    serde_json::from_str(answer.expect("a result").get()).expect("JSON")
}

async fn with_api_key_login() -> TestCodex {
    let codex = TestCodex::start().await;
    let login = json!({"type": "apiKey", "apiKey": CANARY});
    request(&codex, "account/login/start", login).await;
    let account = request(&codex, "account/read", json!({})).await;
    assert_eq!(account["account"]["type"], "apiKey");
    codex
}

/// A child whose home holds a ChatGPT login, as Codex itself would have left it there; and the only
/// issuer that it knows.
async fn with_chatgpt_login() -> (TestCodex, ScriptedIssuer) {
    let issuer = ScriptedIssuer::start().await;
    let codex = TestCodex::with(|config| {
        issuer.configure(config);
        let login = json!({
            "auth_mode": "chatgpt",
            "OPENAI_API_KEY": null,
            "tokens": {
                "id_token": token("id"),
                "access_token": token(CANARY),
                "refresh_token": format!("refresh-{CANARY}"),
                "account_id": CANARY_ACCOUNT,
            },
            "last_refresh": "2100-01-01T00:00:00Z",
        });
        let file = config.home.join("auth.json");
        std::fs::write(file, login.to_string()).expect("a writable home");
    })
    .await;
    (codex, issuer)
}

/// A token that does not end in this century, with a readable signature.
fn token(signature: &str) -> String {
    let claims = json!({
        "exp": 4_102_444_800_u64,
        "email": "a@example.com",
        "https://api.openai.com/auth": {
            "chatgpt_account_id": CANARY_ACCOUNT,
            "chatgpt_plan_type": "pro",
        },
    });
    unsigned_token(&claims, signature)
}

/// Runs turns with and without a key, and gives the keys that the upstream received.
async fn keys_received_in_turns(codex: &TestCodex) -> Vec<Option<String>> {
    let mut received = Vec::new();
    for model in ["gpt-5.5", "gpt-6.1-sol", DEMO_MODEL] {
        for api_key in [None, Some(OWN_KEY.to_owned())] {
            let mut turn = codex.ask("[[text]]");
            turn.model = model.to_owned();
            turn.upstream = Some(Upstream { base_url: codex.model.base_url(), api_key });
            assert_eq!(codex.run(turn).await.end, Ok(TurnEnd::Completed));
            let sent = codex.model.last_request().expect("a request");
            received.push(sent.header("authorization").map(str::to_owned));
        }
    }
    assert_eq!(codex.model.requests(), 6);
    received
}

fn own_key_only() -> Vec<Option<String>> {
    let pair = [None, Some(format!("Bearer {OWN_KEY}"))];
    pair.iter().cycle().take(6).cloned().collect()
}

/// Everything that the upstream received, in one text.
fn everything_received(codex: &TestCodex) -> String {
    let requests = codex.model.recorded();
    let readable = requests.iter().all(|request| request.body.is_object());
    assert!(readable, "a secret could hide in a compressed body: {requests:?}");
    format!("{requests:?}")
}

/// A turn at an upstream that is set by its address alone, which is all that the documentation of
/// Codex asks for; gives the login that the upstream received.
async fn login_received_at_a_bare_address(codex: &TestCodex) -> Option<String> {
    let thread = json!({
        "model": "gpt-5.5",
        "ephemeral": true,
        "environments": [],
        "config": {"model_providers.upstream.base_url": codex.model.base_url()},
    });
    let thread = request(codex, "thread/start", thread).await;
    let turn = json!({
        "threadId": thread["thread"]["id"],
        "input": [{"type": "text", "text": "[[text]]"}],
    });
    request(codex, "turn/start", turn).await;
    codex.model.until(|counters| counters.requests > 0).await;
    let sent = codex.model.last_request().expect("a request");
    sent.header("authorization").map(str::to_owned)
}

#[tokio::test]
async fn row_9_the_key_of_a_login_stays_away_from_other_upstreams() {
    let codex = with_api_key_login().await;
    assert_eq!(keys_received_in_turns(&codex).await, own_key_only());
    assert!(!everything_received(&codex).contains(CANARY));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn row_9_the_token_of_a_chatgpt_login_stays_away_from_other_upstreams() {
    let (codex, _issuer) = with_chatgpt_login().await;
    assert_eq!(keys_received_in_turns(&codex).await, own_key_only());
    let received = everything_received(&codex);
    for secret in [CANARY, CANARY_ACCOUNT] {
        assert!(!received.contains(secret), "{secret} in {received}");
    }
    codex.client.shutdown().await;
}

/// Without what we override beside the address, the two tests above would fail.
#[tokio::test]
async fn an_upstream_set_by_its_address_alone_would_receive_the_key() {
    let codex = with_api_key_login().await;
    let login = format!("Bearer {CANARY}");
    assert_eq!(login_received_at_a_bare_address(&codex).await, Some(login));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn an_upstream_set_by_its_address_alone_would_receive_the_chatgpt_token() {
    let (codex, _issuer) = with_chatgpt_login().await;
    let login = format!("Bearer {}", token(CANARY));
    assert_eq!(login_received_at_a_bare_address(&codex).await, Some(login));
    codex.client.shutdown().await;
}

#[tokio::test]
async fn row_9_keys_are_in_no_file_but_that_of_the_login() {
    let codex = with_api_key_login().await;
    keys_received_in_turns(&codex).await;
    codex.client.shutdown().await;
    let home = codex.home.path();
    assert_eq!(files_with(CANARY, home), [home.join("auth.json")].into());
    assert_eq!(files_with(OWN_KEY, home), BTreeSet::new());
}
