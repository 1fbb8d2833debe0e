//! Children under supervision in a temporary home, with a scripted upstream.

use std::time::Duration;

use codex_app_server::{ClientConfig, CodexBinary, Pool, PoolConfig, Turn, WorkerState};
use model_turn::TurnRequest;
use scripted_model::ScriptedModel;
use tempfile::TempDir;

use crate::codex::until_no_thread_is_loaded;
use crate::outcome::{Outcome, speaking};

/// Running children, their upstream and their home.
pub struct TestPool {
    /// The pool under test.
    pub pool: Pool,
    /// The model behind it.
    pub model: ScriptedModel,
    /// The children's home.
    pub home: TempDir,
}

/// Lets a child that hangs be noticed soon.
pub fn quick_heartbeat(config: &mut PoolConfig) {
    config.heartbeat.interval = Duration::from_millis(50);
    config.heartbeat.timeout = Duration::from_millis(500);
}

// === impl TestPool ===

impl TestPool {
    /// Starts children of `binary` with changed settings, and does not wait for them.
    ///
    /// # Panics
    /// If there is no temporary folder, or no port for the model.
    #[allow(clippy::expect_used, reason = "a test without its surroundings cannot go on")]
    pub async fn with(binary: CodexBinary, change: impl FnOnce(&mut PoolConfig)) -> Self {
        let home = tempfile::tempdir().expect("no temporary folder");
        let model = ScriptedModel::start().await.expect("no scripted model");
        let mut client = ClientConfig::new(binary, home.path());
        client.turns.retries = 0;
        let mut config = PoolConfig::new(client);
        change(&mut config);
        Self { pool: Pool::start(config), model, home }
    }

    /// Waits until the children are as wanted.
    ///
    /// # Panics
    /// If they are not after a long time.
    #[allow(clippy::expect_used, clippy::panic, reason = "a broken contract fails the test")]
    pub async fn until(&self, wanted: impl Fn(&[WorkerState]) -> bool) -> Vec<WorkerState> {
        let mut states = self.pool.states();
        let reached = states.wait_for(|states| wanted(states));
        let Ok(reached) = tokio::time::timeout(Duration::from_secs(30), reached).await else {
            panic!("the children are {:?}", *self.pool.states().borrow())
        };
        reached.expect("the pool is there").clone()
    }

    /// Waits until every child is ready.
    pub async fn until_ready(&self) -> Vec<WorkerState> {
        self.until(|states| states.iter().all(|state| matches!(state, WorkerState::Ready { .. })))
            .await
    }

    /// Process ids of the children that are ready.
    pub fn process_ids(&self) -> Vec<u32> {
        let process_id = |state: &WorkerState| match state {
            WorkerState::Ready { process_id, .. } => *process_id,
            _ => None,
        };
        self.pool.states().borrow().iter().filter_map(process_id).collect()
    }

    /// Waits until every child has forgotten every thread, and with it every turn.
    ///
    /// # Panics
    /// If a child does not answer, or still has a thread after a long time.
    pub async fn until_no_thread_is_loaded(&self) {
        for client in self.pool.clients() {
            until_no_thread_is_loaded(&client).await;
        }
    }

    /// A request for one user message, to the scripted model.
    pub fn ask(&self, text: &str) -> TurnRequest {
        crate::ask(&self.model.base_url(), text)
    }

    /// Starts a turn for one user message.
    ///
    /// # Panics
    /// If the request is invalid.
    #[allow(clippy::expect_used, reason = "an invalid request is a mistake in the test")]
    pub fn start(&self, text: &str) -> Turn {
        self.pool.start_turn(self.ask(text)).expect("an invalid turn")
    }

    /// A turn that has said something and then says nothing more.
    ///
    /// # Panics
    /// If it says nothing.
    pub async fn hanging_turn(&self) -> Turn {
        speaking(self.start("[[hang]]")).await
    }

    /// Runs a turn for one user message to its end.
    pub async fn run(&self, text: &str) -> Outcome {
        Outcome::of(self.start(text)).await
    }
}
