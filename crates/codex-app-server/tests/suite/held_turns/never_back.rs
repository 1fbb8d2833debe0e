//! Clients that ask for a call and never come back.
//!
//! `TIMES=10 ./test never_back` has a thousand of them. Our own memory and files are those of this process, which nextest gives to each test alone.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codex_app_server::{ContinuityLimits, KeptCounts};
use testkit::{TestPool, process, times, until};

use super::{assert_confirmed, hold, hold_at_once, keeping, kept, until_loaded};

/// The first time, and once more.
const CLIENTS: [usize; 2] = [100, 40];

/// Long enough that most of the clients have come before the first is forgotten.
const MAX_AGE: Duration = Duration::from_secs(6);

/// Codex opens connections to its databases as it needs them, up to a few each.
const DATABASE_FILES: usize = 20;

/// What is held at some point.
#[derive(Clone, Copy)]
struct Reading {
    child_kilobytes: u64,
    own_kilobytes: u64,
    child_files: usize,
    own_files: usize,
}

// === impl Reading ===

impl Reading {
    fn take(codex: &TestPool, when: &str) -> Self {
        let (child, own) = (codex.process_ids()[0], std::process::id());
        let reading = Self {
            child_kilobytes: process::resident_kilobytes(child),
            own_kilobytes: process::resident_kilobytes(own),
            child_files: process::open_files(child),
            own_files: process::open_files(own),
        };
        println!(
            "{when:<14} held {:>4}, child {:>7} kB, {:>3} files; own {:>6} kB, {:>3} files",
            kept(codex).1,
            reading.child_kilobytes,
            reading.child_files,
            reading.own_kilobytes,
            reading.own_files,
        );
        reading
    }
}

#[tokio::test]
async fn clients_that_never_come_back_leave_nothing() {
    let times = times();
    let limits = ContinuityLimits {
        max_threads: CLIENTS[0] * times,
        max_age: MAX_AGE * u32::try_from(times).unwrap(),
        ..ContinuityLimits::default()
    };
    let codex = Arc::new(keeping(limits).await);
    let began = Instant::now();
    hold(&codex, "owner", "the first of all").await;
    Reading::take(&codex, "before");
    let mut gone = Vec::new();
    for (round, clients) in CLIENTS.map(|clients| clients * times).into_iter().enumerate() {
        hold_at_once(&codex, &format!("round {round},"), clients).await;
        let (_, held) = kept(&codex);
        Reading::take(&codex, "all have asked");
        println!("{clients} clients have asked after {:?}", began.elapsed());
        assert!(held > clients / 2, "{held} of {clients} are held at once");
        until("none is kept", async || codex.pool.kept_threads() == KeptCounts::default()).await;
        until_loaded(&codex, 0).await;
        println!("all are gone after {:?}", began.elapsed());
        gone.push(Reading::take(&codex, "all are gone"));
    }
    let [first, second] = gone.try_into().unwrap_or_else(|_| unreachable!("a round each"));
    let grown = |first: u64, second: u64| second * 100 > first * 150;
    assert!(!grown(first.child_kilobytes, second.child_kilobytes), "the child's memory grows");
    assert!(!grown(first.own_kilobytes, second.own_kilobytes), "our memory grows");
    assert!(second.child_files <= first.child_files + DATABASE_FILES, "the child's files pile up");
    assert!(second.own_files <= first.own_files, "our files pile up");
    assert_eq!(codex.model.in_flight(), 0);
    assert_confirmed(&codex);
    codex.pool.shutdown().await;
}
