//! `/v1/usage`, and the rows behind it.

pub(crate) mod account;
mod kept;
mod keys;
mod killed;

use std::path::{Path, PathBuf};

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use rusqlite::Connection;
use serde_json::{Value, json};
use testkit::until;

use crate::asking::{ask, streamed, with, with_tools};
use crate::proxy::Proxy;

/// Where the rows are.
fn database(folder: &Path) -> PathBuf {
    folder.join("store/codex-completions.sqlite3")
}

fn connect(folder: &Path) -> Connection {
    Connection::open(database(folder)).unwrap()
}

/// How many rows there are.
fn rows(folder: &Path) -> u64 {
    let count: i64 =
        connect(folder).query_row("SELECT COUNT(*) FROM usage", (), |row| row.get(0)).unwrap();
    count.cast_unsigned()
}

/// What a key used, by its id.
pub(crate) fn of_key(report: &Value, id: &str) -> Value {
    let keys = report["by_key"].as_array().unwrap();
    keys.iter().find(|key| key["key_id"] == id).unwrap_or_else(|| panic!("{report}")).clone()
}

async fn usage(proxy: &Proxy, query: &str) -> Value {
    let answer = proxy.get(&format!("/v1/usage{query}")).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// Waits until so many turns are told of.
pub(crate) async fn until_turns(proxy: &Proxy, turns: u64) -> Value {
    let look = async || Some(usage(proxy, "").await).filter(|it| it["totals"]["turns"] == turns);
    until(&format!("{turns} turns are in the report"), look).await
}

/// Names of groups and their turns.
fn turns_of(told: &Value, groups: &str, name: &str) -> Vec<(String, u64)> {
    let group = |group: &Value| {
        (group[name].as_str().unwrap().to_owned(), group["turns"].as_u64().unwrap())
    };
    told[groups].as_array().unwrap().iter().map(group).collect()
}

fn named(names: &[(&str, u64)]) -> Vec<(String, u64)> {
    names.iter().map(|(name, turns)| ((*name).to_owned(), *turns)).collect()
}

#[tokio::test]
async fn every_turn_is_summed_up_however_it_ended() {
    let proxy = Proxy::start(&[]).await;
    let key = format!("Bearer {}", proxy.add_key("phone").await);
    // Two turns with two calls each; one that fails; one whose tokens nobody told.
    let calls = with(with_tools(ask("[[parallel:2]]")), json!({"n": 2, "model": "chat"}));
    assert_eq!(proxy.chat(&calls).await.status, 200);
    let phone = [("authorization", key.as_str())];
    assert_eq!(proxy.chat_with(&ask("[[http:500]]"), &phone).await.status, 502);
    let cut = with(ask("[[text:one two three]]"), json!({"stop": "two"}));
    assert_eq!(proxy.chat(&streamed(cut)).await.status, 200);
    // One whose client leaves.
    let mut left = proxy.open(&streamed(ask("[[hang]]"))).await;
    left.until("This").await;
    drop(left);

    let told = until_turns(&proxy, 5).await;
    let totals = json!({
        "turns": 5, "requests": 4, "failed": 1, "truncated": 3, "tool_calls": 4,
        "prompt_tokens": 246, "cached_tokens": 200, "completion_tokens": 90,
        "reasoning_tokens": 14, "turns_without_tokens": 3,
    });
    assert_eq!(told["totals"], totals);
    let mut today = totals.clone();
    today["day"] = told["to"].clone();
    assert_eq!(told["by_day"], json!([today]), "unless midnight was just now");
    let (model, real) = (turns_of(&told, "by_model", "model"), "by_backend_model");
    assert_eq!(model, named(&[("gpt-5.5", 3), ("chat", 2)]));
    let real: u64 = turns_of(&told, real, "backend_model").iter().map(|(_, turns)| turns).sum();
    assert_eq!(real, 5);
    assert_eq!(turns_of(&told, "by_key", "key"), named(&[("default", 4), ("phone", 1)]));
    assert_eq!(of_key(&told, "default")["turns"], 4);
    assert_eq!(
        turns_of(&told, "by_stop_reason", "stop_reason"),
        named(&[("tool_calls", 2), ("client_gone", 1), ("failed", 1), ("stop_sequence", 1)])
    );
    let members: Vec<_> = told.as_object().unwrap().keys().collect();
    let groups = ["by_day", "by_model", "by_backend_model", "by_key", "by_stop_reason"];
    let expected = ["object", "from", "to", "totals"].into_iter().chain(groups).chain(["account"]);
    assert_eq!(members, expected.collect::<Vec<_>>());

    for (query, turns) in [
        ("?key=phone", 1),
        ("?key=nobody", 0),
        ("?model=chat", 2),
        ("?model=chat&key=phone", 0),
        ("?to=2020-01-31", 0),
        ("?from=2020-01-01", 5),
    ] {
        assert_eq!(usage(&proxy, query).await["totals"]["turns"], turns, "{query}");
    }
    let past = usage(&proxy, "?to=2020-01-31").await;
    assert_eq!((&past["from"], &past["to"]), (&json!("2020-01-02"), &json!("2020-01-31")));
}

/// The columns that no sum shows.
#[tokio::test]
async fn a_row_tells_what_the_log_line_tells() {
    let proxy = Proxy::start(&[("PROXY_STOP_AFTER_TOOLS_MODE", "first")]).await;
    let request = streamed(with_tools(ask("[[parallel:2]]")));
    let headers = [("x-proxy-output-mode", "obsidian-xml")];
    let answer = proxy.chat_with(&request, &headers).await;
    let request_id = answer.header("x-request-id").unwrap();
    let line = proxy.turn_lines(request_id, 1).await.remove(0);
    until_turns(&proxy, 1).await;
    let row = connect(proxy.folder())
        .query_row("SELECT * FROM usage", (), |row| {
            let text = |name: &str| row.get::<_, String>(name);
            let number = |name: &str| row.get::<_, i64>(name);
            let flag = |name: &str| row.get::<_, bool>(name);
            Ok(json!({
                "request_id": text("request_id")?, "choice": number("choice")?,
                "key": text("key_name")?, "model": text("model")?,
                "backend_model": text("backend_model")?, "stream": flag("stream")?,
                "output_mode": text("output_mode")?, "stop_after_tools_mode": text("stop_mode")?,
                "stop_reason": text("stop_reason")?, "tool_call_count": number("tool_call_count")?,
                "tool_call_truncated": flag("truncated")?, "queue_ms": number("queue_ms")?,
                "first_token_ms": number("first_token_ms")?, "duration_ms": number("duration_ms")?,
            }))
        })
        .unwrap();
    for (name, value) in row.as_object().unwrap() {
        assert_eq!(line[name], *value, "{name}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_refused() {
    let proxy = Proxy::start(&[]).await;
    for (query, param, code) in [
        ("?days=7", "days", "unknown_parameter"),
        ("?from=2026-02-30", "from", "invalid_value"),
        ("?from=2026-02-02&to=2026-02-01", "from", "invalid_value"),
    ] {
        let answer = proxy.get(&format!("/v1/usage{query}")).await;
        assert_eq!(answer.error(), (400, json!(param), json!(code)));
    }
}

#[tokio::test]
async fn row_17_usage_needs_the_key() {
    let settings = [("PROXY_PROTECT_MODELS", "false"), ("PROXY_METRICS_ALLOW_LOOPBACK", "true")];
    let proxy = Proxy::start(&settings).await;
    for path in ["/v1/usage", "/usage", "/usage?from=x"] {
        let request = || Request::get(path).body(Full::<Bytes>::default()).unwrap();
        let answer = proxy.send_without_key(request()).await.whole().await;
        assert_eq!(answer.error(), (401, Value::Null, json!("invalid_api_key")));
    }
    assert_eq!(proxy.get("/usage").await.status, 200);
}
