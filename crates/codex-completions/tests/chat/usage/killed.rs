//! A server that is killed at any moment.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde_json::Value;
use tempfile::tempdir;
use testkit::process::signal;

use super::{connect, until_turns};
use crate::asking::{ask, streamed};
use crate::proxy::Proxy;

/// What was logged so long before the end is on disk.
const WRITTEN_WITHIN: Duration = Duration::from_secs(1);

/// When each turn's line was written, by its request.
fn logged(proxy: &Proxy) -> BTreeMap<String, SystemTime> {
    let turn = |line: &Value| {
        let text = |name: &str| Some(line.get(name)?.as_str()?.to_owned());
        let at: Timestamp = text("timestamp")?.parse().ok()?;
        (line["target"] == "turn").then_some((text("request_id")?, SystemTime::from(at)))
    };
    proxy.log().as_array().unwrap().iter().filter_map(turn).collect()
}

/// Turns until the moment has come, and then the end, in the middle of some.
async fn work_until_killed(proxy: &Proxy) -> SystemTime {
    // However slow the machine is, one turn is old enough in the end.
    proxy.chat(&ask("[[text]]")).await;
    let lasts = WRITTEN_WITHIN + Duration::from_millis(fastrand::u64(100..1_100));
    let turns = async {
        loop {
            let requests = ["[[text]]", "[[http:500]]", "[[slow:40]]", "[[text]]"];
            let requests = requests.map(|mark| streamed(ask(mark)));
            let answers = requests.iter().map(|request| proxy.chat(request));
            futures_util::future::join_all(answers).await;
        }
    };
    let ended = tokio::time::timeout(lasts, turns).await;
    assert!(ended.is_err());
    let at = SystemTime::now();
    signal(proxy.process_id(), "-KILL");
    at
}

#[tokio::test]
async fn rows_survive_a_kill_at_any_moment() {
    let folder = tempdir().unwrap();
    let settings = [("PROXY_DATA_DIR", folder.path().to_str().unwrap())];
    let mut written = BTreeMap::new();
    let mut all = BTreeMap::new();
    for _ in 0..4 {
        let mut proxy = Proxy::start(&settings).await;
        let killed = work_until_killed(&proxy).await;
        proxy.end().await;
        let logged = logged(&proxy);
        let mut before = logged.clone();
        before.retain(|_, at| *at + WRITTEN_WITHIN < killed);
        println!("{} turns, {} of them well before the end", logged.len(), before.len());
        assert!(!before.is_empty());
        written.extend(before);
        all.extend(logged);

        let database = connect(folder.path());
        let check: String =
            database.query_row("PRAGMA integrity_check", (), |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
        let mut select = database.prepare("SELECT request_id FROM usage").unwrap();
        let rows = select.query_map((), |row| row.get::<_, String>(0)).unwrap();
        let mut rows: Vec<_> = rows.map(Result::unwrap).collect();
        rows.sort();
        let missing: Vec<_> = written.keys().filter(|id| rows.binary_search(id).is_err()).collect();
        assert_eq!(missing, Vec::<&String>::new());
        assert!(rows.windows(2).all(|pair| pair[0] != pair[1]), "a row is there twice");
    }
    // The last one that starts tells of all of them.
    let proxy = Proxy::start(&settings).await;
    let database = connect(folder.path());
    let count: i64 =
        database.query_row("SELECT COUNT(*) FROM usage", (), |row| row.get(0)).unwrap();
    until_turns(&proxy, count.cast_unsigned()).await;
    println!("{count} rows of {} turns", all.len());
}
