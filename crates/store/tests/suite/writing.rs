//! Rows on their way to the disk.

use std::time::{Duration, Instant};

use store::UsageRow;
use testkit::until;

use crate::folder::{Folder, everything, report, turn};

/// Every column of the one row that there is, as text.
fn columns(folder: &Folder) -> Vec<String> {
    let database = folder.other();
    let mut select = database.prepare("SELECT * FROM usage").unwrap();
    let names: Vec<_> = select.column_names().map(str::to_owned).collect();
    select
        .query_row((), |row| {
            let told = |(index, name): (usize, &String)| {
                let value: rusqlite::types::Value = row.get(index)?;
                Ok(format!("{name}: {value:?}"))
            };
            names.iter().enumerate().map(told).collect()
        })
        .unwrap()
}

#[tokio::test]
async fn a_row_has_everything_of_its_turn() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    usage.record(UsageRow { key_id: "key_1".to_owned(), ..turn("req_1") });
    usage.flush().await;
    let expected = [
        "id: Integer(1)",
        "ended_at: Integer(1772323200000)",
        "request_id: Text(\"req_1\")",
        "choice: Integer(0)",
        "key_name: Text(\"default\")",
        "model: Text(\"chat\")",
        "backend_model: Text(\"gpt-5.5\")",
        "endpoint: Text(\"chat\")",
        "stream: Integer(1)",
        "output_mode: Text(\"openai-json\")",
        "stop_mode: Text(\"burst\")",
        "stop_reason: Text(\"tool_calls\")",
        "failed: Integer(0)",
        "tool_call_count: Integer(2)",
        "truncated: Integer(0)",
        "prompt_tokens: Integer(123)",
        "cached_tokens: Integer(100)",
        "completion_tokens: Integer(45)",
        "reasoning_tokens: Integer(7)",
        "queue_ms: Integer(0)",
        "first_token_ms: Integer(12)",
        "duration_ms: Integer(34)",
        "key_id: Text(\"key_1\")",
    ];
    assert_eq!(columns(&folder), expected);
}

#[tokio::test]
async fn two_servers_write_to_the_same_file() {
    let folder = Folder::new();
    let stores = [folder.open(), folder.open()];
    for round in 0..1_000 {
        for store in &stores {
            store.usage().record(turn(&round.to_string()));
        }
        // Many transactions, in turns.
        if round % 100 == 0 {
            stores[0].flush().await;
        }
    }
    for store in &stores {
        store.flush().await;
        assert_eq!(store.usage().lost(), 0);
    }
    assert_eq!(report(&stores[0].usage()).await.totals.turns, 2_000);
}

/// They need nobody who waits for them, nor more rows that come after them.
#[tokio::test]
async fn rows_are_written_soon_and_when_everybody_has_left() {
    let folder = Folder::new();
    let reader = folder.open().usage();
    let written = async |rows| {
        let turns = async || reader.report(everything()).await.unwrap().totals.turns;
        until(&format!("{rows} rows are written"), async || turns().await == rows).await;
    };
    let usage = folder.open().usage();
    usage.record(turn("a"));
    written(1).await;
    // The first of a batch, its last, and some after that.
    for _ in 0..300 {
        usage.record(turn("a"));
    }
    written(301).await;
    usage.record(turn("a"));
    drop(usage);
    written(302).await;
}

/// Somebody holds the database for longer than SQLite waits.
#[tokio::test]
async fn a_locked_database_is_waited_for_by_nobody_else() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    let other = folder.other();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let begun = Instant::now();
    for round in 0..1_000 {
        usage.record(turn(&round.to_string()));
    }
    let took = begun.elapsed();
    println!("1000 rows were handed over in {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    // Who asks gets what was there before.
    let query = everything();
    assert_eq!(usage.report(query).await.unwrap().totals.turns, 0);
    let flushed = tokio::time::timeout(Duration::from_secs(6), usage.flush()).await;
    assert!(flushed.is_err(), "nothing can be written yet");
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!((report(&usage).await.totals.turns, usage.lost()), (1_000, 0));
}

#[tokio::test]
async fn what_does_not_fit_is_counted() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    let other = folder.other();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut recorded = 0;
    while usage.lost() < 10 {
        usage.record(turn("a"));
        recorded += 1;
    }
    assert!(recorded > 4_000, "{recorded}");
    other.execute_batch("ROLLBACK").unwrap();
    let kept = report(&usage).await.totals.turns;
    assert_eq!(kept + usage.lost(), recorded);
}

/// No retry can mend that; the rows are gone, and nobody waits for them.
#[tokio::test]
async fn rows_that_can_never_be_written_are_counted() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    folder.other().execute_batch("DROP TABLE usage").unwrap();
    usage.record(turn("a"));
    usage.flush().await;
    assert_eq!(usage.lost(), 1);
    let error = usage.report(everything()).await.unwrap_err();
    assert!(error.to_string().contains("no such table: usage"), "{error}");
}
