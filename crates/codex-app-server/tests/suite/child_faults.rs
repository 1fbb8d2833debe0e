//! Everything that a child can do wrong, played by the scripted app-server: it is survived, it is
//! seen, and no turn is left waiting.

mod hangs;
mod held_calls;
mod lines;
mod slow_images;
mod standard_error;
mod starts;

use std::time::{Duration, Instant};

use codex_app_server::{CodexBinary, PoolConfig, Turn, WorkerState};
use model_turn::{Failure, FailureKind, TurnEnd, TurnEvent};
use tempfile::TempDir;
use testkit::{Outcome, TestPool, until, workspace_program};

/// No turn takes longer, whatever happens to it.
const LONG: Duration = Duration::from_secs(20);

/// A pool of scripted children that restart quickly, but not so quickly that it is not seen.
async fn scripted(change: impl FnOnce(&mut PoolConfig)) -> TestPool {
    let path = workspace_program("scripted-app-server");
    let binary = CodexBinary::at(&path).await.unwrap();
    TestPool::with(binary, |config| {
        config.backoff_initial = Duration::from_millis(200);
        change(config);
    })
    .await
}

/// The end of a turn, which comes in any case.
async fn ended(turn: Turn) -> Outcome {
    tokio::time::timeout(LONG, Outcome::of(turn)).await.expect("a turn is left waiting")
}

/// A pool, and a turn of its that has said its first word and goes on after `[[finish]]`.
async fn with_neighbour(change: impl FnOnce(&mut PoolConfig)) -> (TestPool, Turn) {
    let codex = scripted(change).await;
    codex.until_ready().await;
    let mut turn = codex.start("[[open]]");
    assert_eq!(turn.next().await, Some(TurnEvent::Text("word0 ".to_owned())));
    (codex, turn)
}

/// The next turn works.
async fn assert_works(codex: &TestPool) {
    let next = ended(codex.start("[[finish]]")).await;
    assert_eq!((next.text.as_str(), next.end), ("word0 ", Ok(TurnEnd::Completed)));
}

/// Lets the turn of [`with_neighbour`] end, and checks that it was not disturbed.
async fn assert_undisturbed(codex: &TestPool, neighbour: Turn) {
    assert_works(codex).await;
    let neighbour = ended(neighbour).await;
    assert_eq!((neighbour.text.as_str(), neighbour.end), ("word1 ", Ok(TurnEnd::Completed)));
}

/// Runs a turn that costs the child: the turn fails, and the child is brought back. Says why.
async fn failure_of_the_child(codex: &TestPool, mark: &str) -> Failure {
    codex.until_ready().await;
    let (child, asked) = (codex.process_ids()[0], Instant::now());
    let is_restarting =
        |states: &[WorkerState]| matches!(states[0], WorkerState::Restarting { .. });
    let (outcome, states) = tokio::join!(ended(codex.start(mark)), codex.until(is_restarting));
    let failure = outcome.end.unwrap_err();
    println!("{mark} failed after {:?}: {failure}", asked.elapsed());
    assert_eq!(failure.kind, FailureKind::ChildGone);
    let WorkerState::Restarting { reason, failures, .. } = &states[0] else { panic!("{states:?}") };
    assert_eq!((&**reason, *failures), (failure.message.as_str(), 1));
    // There is never a new child beside one that was lost.
    assert_works(codex).await;
    assert!(!testkit::process::is_running(child));
    assert_eq!(codex.pool.stats().restarts, 1);
    failure
}

/// What becomes of each start of a child, and the list that the children keep of them.
struct Starts {
    faults: String,
    folder: TempDir,
}

/// One start of a child.
struct Start {
    process_id: u32,
    /// Since 1970.
    at: Duration,
}

// === impl Starts ===

impl Starts {
    /// The faults of the first starts, with commas in between; all others go well.
    fn new(faults: &str) -> Self {
        Self { faults: faults.to_owned(), folder: tempfile::tempdir().unwrap() }
    }

    fn set(&self, config: &mut PoolConfig) {
        let folder = self.folder.path().to_str().unwrap().to_owned();
        config.client.environment = vec![
            ("SCRIPTED_FAULTS".to_owned(), self.faults.clone()),
            ("SCRIPTED_STATE".to_owned(), folder),
        ];
    }

    fn list(&self) -> Vec<Start> {
        let list = std::fs::read_to_string(self.folder.path().join("starts")).unwrap_or_default();
        let start = |line: &str| {
            let (process_id, at) = line.split_once(' ').unwrap();
            let at = Duration::from_millis(at.parse().unwrap());
            Start { process_id: process_id.parse().unwrap(), at }
        };
        list.lines().map(start).collect()
    }

    /// Waits until a child has been started so many times.
    async fn until(&self, count: usize) {
        until(&format!("{count} starts"), async || self.list().len() >= count).await;
    }
}
