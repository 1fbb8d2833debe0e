//! Who is told that a response is kept, or that it is not, can rely on it.

use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use store::StoreError;

use super::{found, response};
use crate::folder::{Folder, report, turn};

/// More than the five seconds that anybody waits, for a busy machine.
const BOUND: Duration = Duration::from_secs(9);

#[tokio::test]
async fn what_a_locked_database_does_not_take_in_time_is_not_kept_later() {
    let folder = Folder::new();
    let store = folder.open();
    let responses = store.responses();
    responses.keep(response("a", None)).await.unwrap();
    let other = folder.other();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    // Rows wait for as long as it takes, and responses do not wait for them.
    store.usage().record(turn("a"));
    assert!(store.flush().now_or_never().is_none());
    let begun = Instant::now();
    let (kept, deleted) =
        tokio::join!(responses.keep(response("b", None)), responses.delete("default", "a"),);
    println!("given up after {:?}", begun.elapsed());
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    for error in [kept.unwrap_err(), deleted.unwrap_err()] {
        assert!(matches!(error, StoreError::TooLate | StoreError::NotWritten(_)), "{error:?}");
    }
    other.execute_batch("ROLLBACK").unwrap();
    // Comes after everything that could still be waiting.
    responses.keep(response("c", None)).await.unwrap();
    assert_eq!((report(&store.usage()).await.totals.turns, store.usage().lost()), (1, 0));
    assert_eq!(responses.find("default", "b").await.unwrap(), None);
    for id in ["a", "c"] {
        let kept = found(&response(id, None));
        assert_eq!(responses.find("default", id).await.unwrap(), kept);
    }
}

#[tokio::test]
async fn a_database_that_is_locked_for_a_moment_is_waited_for() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    let other = folder.other();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut keeping = Box::pin(responses.keep(response("a", None)));
    let early = tokio::time::timeout(Duration::from_millis(300), &mut keeping).await;
    assert!(early.is_err(), "{early:?}");
    other.execute_batch("ROLLBACK").unwrap();
    keeping.await.unwrap();
    assert_eq!(responses.find("default", "a").await.unwrap(), found(&response("a", None)));
}

/// Whoever leaves while it waits has not kept anything.
#[tokio::test]
async fn what_nobody_waits_for_any_more_is_given_up() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    let other = folder.other();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert!(responses.keep(response("a", None)).now_or_never().is_none());
    other.execute_batch("ROLLBACK").unwrap();
    responses.keep(response("b", None)).await.unwrap();
    assert_eq!(responses.find("default", "a").await.unwrap(), None);
    assert_eq!(responses.held().await.unwrap().responses, 1);
}

/// One that can never be written does not cost those beside it, nor do rows.
#[tokio::test]
async fn what_cannot_be_written_harms_nothing_else() {
    let folder = Folder::new();
    let store = folder.open();
    let responses = store.responses();
    responses.keep(response("a", None)).await.unwrap();
    let other = folder.other();
    other.execute_batch("DROP TABLE usage; BEGIN EXCLUSIVE").unwrap();
    store.usage().record(turn("a"));
    let together = ["b", "a", "c"].map(|id| responses.keep(response(id, None)));
    let mut together = futures_util::future::join_all(together);
    assert!((&mut together).now_or_never().is_none());
    other.execute_batch("ROLLBACK").unwrap();
    let kept: Vec<_> = together.await.iter().map(Result::is_ok).collect();
    assert_eq!(kept, [true, false, true]);
    store.flush().await;
    assert_eq!(store.usage().lost(), 1);
    assert_eq!(responses.held().await.unwrap().responses, 3);
}

/// Rows are gathered for a while; a response has them written with it.
#[tokio::test]
async fn a_response_does_not_wait_for_rows_that_gather() {
    let folder = Folder::new();
    let store = folder.open();
    let responses = store.responses();
    let begun = Instant::now();
    for round in 0..100 {
        store.usage().record(turn("a"));
        responses.keep(response(&round.to_string(), None)).await.unwrap();
    }
    let took = begun.elapsed();
    println!("one after another: {:?} a response", took / 100);
    // Gathering alone would have taken ten seconds.
    assert!(took < Duration::from_secs(5), "{took:?}");
}

/// SQLite would go on writing to a file that nobody can find.
#[tokio::test]
async fn what_goes_to_a_file_that_was_removed_is_not_acknowledged() {
    let folder = Folder::new();
    let responses = folder.open().responses();
    responses.keep(response("a", None)).await.unwrap();
    std::fs::rename(folder.path(), folder.path().with_extension("away")).unwrap();
    let kept = responses.keep(response("b", None)).await;
    assert!(matches!(kept, Err(StoreError::Gone)), "{kept:?}");
    std::fs::rename(folder.path().with_extension("away"), folder.path()).unwrap();
    responses.keep(response("c", None)).await.unwrap();
}
