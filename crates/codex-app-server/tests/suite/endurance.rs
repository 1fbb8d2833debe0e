//! Turns through one child leave nothing behind: not with it, and not with us.
//!
//! `TIMES=5 ./test endurance` has a thousand. Our own memory and files are those of this process, which nextest gives to each test alone.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use model_turn::{TurnEnd, TurnEvent};
use testkit::{Outcome, TestCodex, file_sizes, process, times, tools};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const STAGES: usize = 5;
const TURNS_A_STAGE: usize = 40;
const AT_ONCE: usize = 10;
const NAMES: [&str; 3] = ["get_weather", "get_time", "lookup"];

/// Large enough that memory grows visibly if a turn's history is kept, by Codex or by us.
const INSTRUCTIONS: usize = 150_000;

/// Codex opens connections to its databases as it needs them, up to a few each.
const DATABASE_FILES: usize = 20;

/// Codex tidies its databases from time to time, with a lock of its own.
const FILES_IN_HOME: usize = 5;

/// What is held while no turn is running.
struct Reading {
    child_kilobytes: u64,
    own_kilobytes: u64,
    child_files: usize,
    own_files: usize,
    home: BTreeMap<PathBuf, u64>,
}

impl Reading {
    /// The least of several looks: what is about to be given back is no loss.
    async fn take(codex: &TestCodex) -> Self {
        codex.model.until(|counters| counters.in_flight == 0).await;
        codex.until_no_thread_is_loaded().await;
        let (child, own) = (codex.client.process_id().unwrap(), std::process::id());
        let home = file_sizes(codex.home.path());
        let mut least = Self {
            child_kilobytes: u64::MAX,
            own_kilobytes: u64::MAX,
            child_files: usize::MAX,
            own_files: usize::MAX,
            home,
        };
        for _ in 0..50 {
            codex.client.loaded_threads().await.unwrap();
            least.child_kilobytes = least.child_kilobytes.min(process::resident_kilobytes(child));
            least.own_kilobytes = least.own_kilobytes.min(process::resident_kilobytes(own));
            least.child_files = least.child_files.min(process::open_files(child));
            least.own_files = least.own_files.min(process::open_files(own));
        }
        least
    }

    fn home_bytes(&self) -> u64 {
        self.home.values().sum()
    }

    fn print(&self, turns: usize) {
        println!(
            "{turns:>5} {:>10} {:>8} {:>11} {:>9} {:>11}",
            self.child_kilobytes,
            self.own_kilobytes,
            self.child_files,
            self.own_files,
            self.home_bytes(),
        );
    }
}

/// Text, reasoning, a call, three calls, or an interrupt, by the turn's number.
async fn run_turn(codex: &TestCodex, number: usize) {
    let mark = ["echo", "parallel:1", "echo-reasoning", "parallel:3", "echo-hang"][number % 5];
    let text = format!("turn {number} of many");
    let mut request = codex.ask(&format!("{text}[[{mark}]]"));
    request.tools = tools(&NAMES);
    request.instructions = "x".repeat(INSTRUCTIONS);
    let mut turn = codex.client.start_turn(request).unwrap();
    if mark == "echo-hang" {
        assert!(matches!(turn.next().await, Some(TurnEvent::Text(_))));
        turn.interrupt();
    }
    let outcome = Outcome::of(turn).await;
    let expected = match mark {
        "echo-hang" => (0, Ok(TurnEnd::Interrupted)),
        "parallel:1" => (1, Ok(TurnEnd::ToolCalls)),
        "parallel:3" => (3, Ok(TurnEnd::ToolCalls)),
        _ => (0, Ok(TurnEnd::Completed)),
    };
    assert_eq!((outcome.calls.len(), outcome.end), expected, "turn {number}");
    // What the scripted model remembers of its requests is in our memory too.
    codex.model.reset();
}

async fn run_stage(codex: &Arc<TestCodex>, first: usize, turns: usize) {
    let places = Arc::new(Semaphore::new(AT_ONCE));
    let mut running = JoinSet::new();
    for number in first..first + turns {
        let (codex, places) = (Arc::clone(codex), Arc::clone(&places));
        running.spawn(async move {
            let _place = places.acquire().await.unwrap();
            run_turn(&codex, number).await;
        });
    }
    running.join_all().await;
}

#[tokio::test]
async fn many_turns_leave_no_memory_no_file_and_no_thread() {
    let turns = TURNS_A_STAGE * times();
    let codex = Arc::new(TestCodex::start().await);
    let started = Instant::now();
    println!("turns   child kB   own kB child files own files  home bytes");
    Reading::take(&codex).await.print(0);
    let mut readings = Vec::new();
    for stage in 0..STAGES {
        run_stage(&codex, stage * turns, turns).await;
        let reading = Reading::take(&codex).await;
        reading.print((stage + 1) * turns);
        readings.push(reading);
    }
    println!("{} turns, {AT_ONCE} at once: {:?}", STAGES * turns, started.elapsed());
    let stats = codex.client.stats();
    println!("{stats:?}");

    let (early, late) = (&readings[0], &readings[STAGES - 1]);
    let grown = |early: u64, late: u64| late * 100 > early * 115;
    assert!(!grown(early.child_kilobytes, late.child_kilobytes), "the child's memory grows");
    assert!(!grown(early.own_kilobytes, late.own_kilobytes), "our memory grows");
    assert!(late.child_files <= early.child_files + DATABASE_FILES, "the child's files pile up");
    assert!(late.own_files <= early.own_files, "our files pile up");
    let (before, after) = (&early.home, &late.home);
    assert!(late.home_bytes() <= early.home_bytes() + 100_000, "{before:#?} grew to {after:#?}");
    assert!(after.len() <= before.len() + FILES_IN_HOME, "{before:#?} became {after:#?}");
    assert_eq!((stats.unreadable_messages, stats.unconfirmed_ends), (0, 0));
    codex.client.shutdown().await;
}
