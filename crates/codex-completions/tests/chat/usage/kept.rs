//! What becomes of the rows when something is in the way.

use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::tempdir;

use super::{connect, database, rows, until_turns, usage};
use crate::asking::{ask, streamed};
use crate::proxy::Proxy;
use crate::reply::Reply;

#[tokio::test]
async fn a_stop_loses_no_turn_and_a_start_finds_them() {
    let folder = tempdir().unwrap();
    let settings = [("PROXY_DATA_DIR", folder.path().to_str().unwrap())];
    for start in 1..=2 {
        let mut proxy = Proxy::start(&settings).await;
        until_turns(&proxy, 2 * (start - 1)).await;
        // Right before the end, and cut off by it.
        assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
        let mut stream = proxy.open(&streamed(ask("[[slow:300]]"))).await;
        stream.until("data: ").await;
        proxy.stop().await;
        assert_eq!(rows(folder.path()), 2 * start);
        // The file alone is everything.
        let log = database(folder.path()).with_extension("sqlite3-wal");
        assert_eq!(std::fs::metadata(log).map_or(0, |log| log.len()), 0);
    }
    let mode = |path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let file = database(folder.path());
    assert_eq!((mode(file.parent().unwrap()), mode(&file)), (0o700, 0o600));
}

#[tokio::test]
async fn two_servers_share_a_folder() {
    let folder = tempdir().unwrap();
    let settings = [("PROXY_DATA_DIR", folder.path().to_str().unwrap())];
    let (one, other) = (Proxy::start(&settings).await, Proxy::start(&settings).await);
    for proxy in [&one, &other, &one] {
        assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    }
    for proxy in [&one, &other] {
        until_turns(proxy, 3).await;
    }
}

#[tokio::test]
async fn a_locked_database_slows_no_answer_down() {
    let mut proxy = Proxy::start(&[]).await;
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    until_turns(&proxy, 1).await;
    let other = connect(proxy.folder());
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let begun = Instant::now();
    for _ in 0..10 {
        assert_eq!(Reply::of(&proxy.chat(&streamed(ask("[[text]]"))).await).error, None);
    }
    println!("10 turns took {:?} beside a locked database", begun.elapsed());
    assert!(begun.elapsed() < Duration::from_secs(5), "SQLite alone would wait for longer");
    // Who asks is told what there was.
    assert_eq!(usage(&proxy, "").await["totals"]["turns"], 1);
    other.execute_batch("ROLLBACK").unwrap();
    until_turns(&proxy, 11).await;

    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    let begun = Instant::now();
    proxy.stop().await;
    println!("stopped within {:?} beside a locked database", begun.elapsed());
}

#[tokio::test]
async fn without_a_database_only_usage_is_missing() {
    let folder = tempdir().unwrap();
    let file = database(folder.path());
    std::fs::create_dir(file.parent().unwrap()).unwrap();
    let notes = "not a database. ".repeat(500);
    std::fs::write(&file, &notes).unwrap();
    let settings = [("PROXY_DATA_DIR", folder.path().to_str().unwrap())];
    let mut proxy = Proxy::start(&settings).await;
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    let answer = proxy.get("/v1/usage").await;
    assert_eq!(answer.error(), (503, Value::Null, json!("usage_unavailable")));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    let message = "There are no figures of usage: file is not a database.";
    assert_eq!(answer.json()["error"]["message"], message);
    proxy.stop().await;
    let log = proxy.log();
    let warned = log.as_array().unwrap().iter().filter(|line| {
        line["level"] == "WARN" && line["message"].to_string().contains("usage is not recorded")
    });
    let files: Vec<_> = warned.map(|line| line["file"].clone()).collect();
    assert_eq!(files, [json!(file.to_str().unwrap())]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), notes, "nobody has touched it");
}

#[tokio::test]
async fn old_rows_go_and_how_old_can_change() {
    let proxy = Proxy::start(&[]).await;
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    until_turns(&proxy, 1).await;
    connect(proxy.folder())
        .execute_batch("UPDATE usage SET ended_at = ended_at - 10 * 24 * 3600 * 1000")
        .unwrap();
    assert_eq!(proxy.chat(&ask("[[text]]")).await.status, 200);
    let told = until_turns(&proxy, 2).await;
    assert_eq!(told["by_day"].as_array().unwrap().len(), 2);
    std::fs::write(proxy.folder().join("config.toml"), "usage_max_age_days = 9\n").unwrap();
    let told = until_turns(&proxy, 1).await;
    assert_eq!(told["by_day"].as_array().unwrap().len(), 1);
}
