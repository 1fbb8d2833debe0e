//! A disk that takes no more, for a while.

use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use store::{StoreError, StoredResponse};

use crate::folder::{Folder, report, turn};
use crate::responses::{found, response};

/// Files can grow so large from now on.
fn limit_files(bytes: Option<u64>) {
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum }).unwrap();
}

/// Runs in a process of its own, which does not die of its first byte too many.
#[tokio::test]
#[ignore = "the other test starts it"]
async fn rows_wait_until_there_is_room() {
    let folder = Folder::new();
    let usage = folder.open().usage();
    usage.record(turn("before"));
    assert_eq!(report(&usage).await.totals.turns, 1);
    limit_files(Some(64 * 1024));
    for round in 0..2_000 {
        usage.record(turn(&round.to_string()));
    }
    let flushed = tokio::time::timeout(Duration::from_secs(2), usage.flush()).await;
    assert!(flushed.is_err(), "there is no room");
    limit_files(None);
    assert_eq!((report(&usage).await.totals.turns, usage.lost()), (2_001, 0));
}

/// Who wants to keep a response learns that there is no room, and is believed.
#[tokio::test]
#[ignore = "the other test starts it"]
async fn responses_do_not_wait_until_there_is_room() {
    let folder = Folder::new();
    let store = folder.open();
    let responses = store.responses();
    let large = |id: &str| StoredResponse { body: "x".repeat(300_000), ..response(id, None) };
    responses.keep(large("before")).await.unwrap();
    limit_files(Some(512 * 1024));
    for round in 0..2_000 {
        store.usage().record(turn(&round.to_string()));
    }
    let error = responses.keep(large("meanwhile")).await.unwrap_err();
    assert!(matches!(error, StoreError::NotWritten(_)), "{error:?}");
    assert_eq!(responses.find("default", "before").await.unwrap(), found(&large("before")));
    limit_files(None);
    responses.keep(large("after")).await.unwrap();
    assert_eq!((report(&store.usage()).await.totals.turns, store.usage().lost()), (2_000, 0));
    assert_eq!(responses.find("default", "after").await.unwrap(), found(&large("after")));
    assert_eq!(responses.find("default", "meanwhile").await.unwrap(), None);
    assert_eq!(responses.held().await.unwrap().responses, 2);
}

/// Runs one of the tests above.
fn run_alone(test: &str) {
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

#[test]
fn a_full_disk_is_waited_for_by_nobody_else() {
    run_alone("full_disk::rows_wait_until_there_is_room");
}

#[test]
fn a_response_for_which_there_is_no_room_is_not_kept() {
    run_alone("full_disk::responses_do_not_wait_until_there_is_room");
}
