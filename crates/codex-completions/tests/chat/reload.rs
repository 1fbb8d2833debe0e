//! Settings that change while the server runs.

use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::process::signal;

use crate::asking::{ask, streamed, with_tools};
use crate::proxy::Proxy;
use crate::reply::Reply;

const CHANGED: &str = "settings have changed";
const REFUSED: &str = "the settings stay as they were";

fn config(proxy: &Proxy) -> PathBuf {
    proxy.folder().join("config.toml")
}

fn env_file(proxy: &Proxy) -> PathBuf {
    proxy.folder().join(".env")
}

async fn change(proxy: &Proxy, toml: &str, times: usize) -> Value {
    std::fs::write(config(proxy), toml).unwrap();
    proxy.logged_times(CHANGED, times).await["changed"].clone()
}

/// How many calls of three are forwarded.
async fn calls(proxy: &Proxy) -> usize {
    let reply = Reply::of(&proxy.chat(&with_tools(ask("[[parallel:3]]"))).await);
    reply.choice().calls.len()
}

#[tokio::test]
async fn a_changed_file_counts_for_the_next_turn() {
    let proxy = Proxy::start(&[("PROXY_XML_ESCAPE", "entities")]).await;
    assert_eq!(calls(&proxy).await, 3);
    // The environment wins over the file, also later.
    let changed = change(&proxy, "tool_block_max = 2\nxml_escape = \"verbatim\"\n", 1).await;
    assert_eq!(changed, "PROXY_TOOL_BLOCK_MAX=2");
    assert_eq!(calls(&proxy).await, 2);

    // As editors do it.
    let new = proxy.folder().join("config.toml~");
    std::fs::write(&new, "tool_block_max = 1\nmodel_aliases = \"fast=gpt-5.5:low\"\n").unwrap();
    std::fs::rename(new, config(&proxy)).unwrap();
    proxy.logged_times(CHANGED, 2).await;
    assert_eq!(calls(&proxy).await, 1);
    let mut by_alias = ask("[[text]]");
    by_alias["model"] = "fast".into();
    assert_eq!(proxy.chat(&by_alias).await.header("x-proxy-model"), Some("gpt-5.5"));

    std::fs::write(env_file(&proxy), "PROXY_TOOL_BLOCK_MAX=2\n").unwrap();
    proxy.logged_times(CHANGED, 3).await;
    assert_eq!(calls(&proxy).await, 2);

    std::fs::remove_file(config(&proxy)).unwrap();
    std::fs::write(env_file(&proxy), "").unwrap();
    let changed = proxy.logged_times(CHANGED, 4).await["changed"].clone();
    assert_eq!(changed, "PROXY_MODEL_ALIASES= PROXY_TOOL_BLOCK_MAX=0");
    assert_eq!(calls(&proxy).await, 3);
    assert_eq!(proxy.chat(&by_alias).await.header("x-proxy-model"), Some("fast"));
}

#[tokio::test]
async fn row_20_a_named_file_is_read_again_and_must_stay() {
    let proxy = Proxy::start(&[]).await;
    std::fs::write(env_file(&proxy), "PROXY_TOOL_BLOCK_MAX=2\n").unwrap();
    proxy.logged(CHANGED).await;
    assert_eq!(calls(&proxy).await, 2);
    std::fs::remove_file(env_file(&proxy)).unwrap();
    let line = proxy.logged(REFUSED).await;
    assert!(line["error"].as_str().unwrap().ends_with("(--env-file)"), "{line}");
    assert_eq!(calls(&proxy).await, 2);
    std::fs::write(env_file(&proxy), "PROXY_TOOL_BLOCK_MAX=1\n").unwrap();
    proxy.logged_times(CHANGED, 2).await;
    assert_eq!(calls(&proxy).await, 1);
}

#[tokio::test]
async fn a_running_turn_keeps_what_it_started_with() {
    let proxy = Proxy::start(&[]).await;
    std::fs::write(config(&proxy), "sse_keepalive_ms = 50\n").unwrap();
    proxy.logged(CHANGED).await;
    let mut silent = proxy.open(&streamed(ask("[[hang]]"))).await;
    silent.until("This").await;
    let mut calling = proxy.open(&streamed(with_tools(ask("[[parallel-slow:1500]]")))).await;
    calling.until("get_weather").await;

    let toml = "sse_keepalive_ms = 0\nidle_timeout_ms = 300\ntool_block_max = 1\n";
    change(&proxy, toml, 2).await;
    let late = proxy.chat(&ask("[[hang]]")).await;
    assert_eq!(late.status, 504, "{late:?}");
    assert_eq!(calls(&proxy).await, 1);

    // Both began before: two calls are forwarded, and silence is not too long yet.
    let told = calling.whole().await.body;
    assert!(told.contains(r#""tool_call_count":2,"tool_call_truncated":false"#), "{told}");
    let comments = silent.until("This").await.matches(": keep-alive").count() + 3;
    silent.until(&": keep-alive\n\n".repeat(comments)).await;
    assert_eq!(proxy.model.counters().in_flight, 1);
}

#[tokio::test]
async fn an_invalid_file_changes_nothing_and_is_reported() {
    let proxy = Proxy::start(&[]).await;
    change(&proxy, "tool_block_max = 2\n", 1).await;
    std::fs::write(config(&proxy), "tool_block_max = 1\nmax_chat_choices = 0\n").unwrap();
    let line = proxy.logged(REFUSED).await;
    let path = config(&proxy);
    assert_eq!(
        (&line["level"], &line["error"]),
        (
            &json!("ERROR"),
            &json!(format!(
                "PROXY_MAX_CHAT_CHOICES=\"0\": expected a whole number from 1 to 128 (from: {})",
                path.display()
            ))
        )
    );
    assert_eq!(calls(&proxy).await, 2);
    std::fs::write(&path, "half = [").unwrap();
    proxy.logged_times(REFUSED, 2).await;
    assert_eq!(calls(&proxy).await, 2);
    change(&proxy, "tool_block_max = 1\n", 2).await;
    assert_eq!(calls(&proxy).await, 1);
}

/// Written under another name, which nobody watches.
#[tokio::test]
async fn sighup_reads_what_was_not_noticed() {
    let proxy = Proxy::start(&[]).await;
    change(&proxy, "tool_block_max = 2\n", 1).await;
    let elsewhere = tempfile::tempdir_in(proxy.folder()).unwrap();
    let other_name = elsewhere.path().join("same-file");
    std::fs::hard_link(config(&proxy), &other_name).unwrap();
    std::fs::write(&other_name, "tool_block_max = 1\nworker_count = 2\n").unwrap();
    signal(proxy.process_id(), "-HUP");
    assert_eq!(proxy.logged_times(CHANGED, 2).await["changed"], "PROXY_TOOL_BLOCK_MAX=1");
    let waiting = proxy.logged("settings have changed that count at the next start").await;
    assert_eq!((&waiting["level"], &waiting["names"]), (&json!("WARN"), &json!("WORKER_COUNT")));
    assert_eq!(calls(&proxy).await, 1);
}

#[tokio::test]
async fn logs_change_too() {
    let proxy = Proxy::start(&[]).await;
    change(&proxy, "log = \"server=debug,codex_completions=info\"\n", 1).await;
    let refused = proxy.chat_with(&ask("[[text]]"), &[("origin", "https://evil.example")]).await;
    assert_eq!(refused.status, 403);
    assert_eq!(proxy.logged("a request was refused").await["level"], "DEBUG");
}
