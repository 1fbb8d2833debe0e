//! A disk that takes no more, for a while.

use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::folder::{Folder, report, turn};

const INSIDE: &str = "full_disk::rows_wait_until_there_is_room";

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

#[test]
fn a_full_disk_is_waited_for_by_nobody_else() {
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", INSIDE, "--ignored", "--nocapture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}
