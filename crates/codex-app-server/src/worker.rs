//! One child that is always brought back.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use semver::Version;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::backoff::Backoff;
use crate::client::{Client, StartError};
use crate::client_config::ClientConfig;
use crate::pool::{PoolConfig, RenewError};
use crate::stats::{Counter, Stats};
use crate::turn::plan::PlannedTurn;

/// How often the login file is looked at.
const LOGIN_CHECK: Duration = Duration::from_secs(1);

/// Where a child stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkerState {
    /// It is starting for the first time.
    Starting,
    /// It has finished its handshake and takes turns.
    Ready {
        /// Version of Codex.
        version: Version,
        /// Process id of the child.
        process_id: Option<u32>,
    },
    /// It was lost, or did not start, and is being brought back.
    Restarting {
        /// Why.
        reason: Arc<str>,
        /// Tries that failed since it was last ready.
        failures: u32,
        /// When it is tried again; in the past while a try is under way.
        next_try: Instant,
    },
    /// It was told to stop.
    Stopped,
}

/// What a worker says about itself, at its place among all workers.
#[derive(Debug, Clone)]
pub(crate) struct StateReport {
    pub(crate) states: watch::Sender<Vec<WorkerState>>,
    pub(crate) place: usize,
}

/// The child of a worker, for those who have turns for it.
#[derive(Default)]
pub(crate) struct Slot {
    /// Only a child in here gets turns. It leaves under the lock, so that none is given to a child
    /// that is already being drained.
    client: Mutex<Option<Client>>,
}

/// Somebody wants the child to be replaced by a new one, and waits for how that goes.
pub(crate) type RenewRequest = oneshot::Sender<Result<Version, RenewError>>;

pub(crate) struct Worker {
    pub(crate) slot: Arc<Slot>,
    pub(crate) report: StateReport,
    pub(crate) config: Arc<PoolConfig>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) renewals: mpsc::Receiver<RenewRequest>,
    pub(crate) stop: CancellationToken,
    /// Children that finish their turns before they go.
    pub(crate) retired: TaskTracker,
}

/// Why a child is not watched any longer.
enum Watched {
    Stop,
    Lost(Arc<str>),
}

// === impl StateReport ===

impl StateReport {
    fn say(&self, state: WorkerState) {
        tracing::debug!(worker = self.place, ?state, "a worker's state");
        self.states.send_modify(|states| states[self.place] = state);
    }
}

// === impl Slot ===

impl Slot {
    /// How much the child has to do, if there is one.
    pub(crate) fn running_turns(&self) -> Option<usize> {
        usable(self.lock().as_ref()).map(Client::running_turns)
    }

    /// Gives the turn to the child, or back if there is none.
    pub(crate) fn give(&self, turn: PlannedTurn) -> Result<(), Box<PlannedTurn>> {
        match usable(self.lock().as_ref()) {
            Some(client) => {
                client.run(turn);
                Ok(())
            }
            None => Err(Box::new(turn)),
        }
    }

    pub(crate) fn client(&self) -> Option<Client> {
        usable(self.lock().as_ref()).cloned()
    }

    fn put(&self, client: Option<Client>) -> Option<Client> {
        std::mem::replace(&mut *self.lock(), client)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Client>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The worker may not have noticed yet that its child has gone.
fn usable(client: Option<&Client>) -> Option<&Client> {
    client.filter(|client| !client.is_gone())
}

// === impl Worker ===

impl Worker {
    /// Keeps a child running until the worker is told to stop.
    pub(crate) async fn run(mut self) {
        let stop = self.stop.clone();
        let mut backoff = self.new_backoff();
        let mut failures = 0;
        loop {
            let reason = match self.start().await {
                Err(_) if stop.is_cancelled() => break,
                Ok(client) => {
                    let ready_at = Instant::now();
                    failures = 0;
                    self.present(client);
                    let watched = self.watch().await;
                    match watched {
                        Watched::Stop => break,
                        Watched::Lost(reason) => {
                            if ready_at.elapsed() > self.config.backoff_max {
                                backoff = self.new_backoff();
                            }
                            reason
                        }
                    }
                }
                Err(error) => Arc::from(error.to_string()),
            };
            failures += 1;
            self.stats.count(Counter::Restart);
            let pause = backoff.next_pause();
            tracing::error!(worker = self.report.place, %reason, failures, ?pause, "lost Codex");
            let next_try = Instant::now() + pause;
            self.report.say(WorkerState::Restarting { reason, failures, next_try });
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = stop.cancelled() => break,
            }
        }
        if let Some(client) = self.slot.put(None) {
            client.shutdown().await;
        }
        self.report.say(WorkerState::Stopped);
    }

    fn new_backoff(&self) -> Backoff {
        Backoff::new(self.config.backoff_initial, self.config.backoff_max)
    }

    /// Starts a child of the version that is on disk by now, unless the worker is told to stop.
    async fn start(&self) -> Result<Client, RenewError> {
        let found = self.stop.run_until_cancelled(self.config.client.binary.found_again());
        let binary = found.await.ok_or(StartError::Stopped)??;
        let config = ClientConfig { binary, ..self.config.client.clone() };
        Ok(Client::start_until(&self.stop, config, Arc::clone(&self.stats)).await?)
    }

    /// Lets a child take turns, in the place of the one before.
    fn present(&self, client: Client) {
        let state = WorkerState::Ready {
            version: client.version().clone(),
            process_id: client.process_id(),
        };
        let before = self.slot.put(Some(client));
        self.report.say(state);
        if let Some(before) = before {
            self.retire(before);
        }
    }

    /// Lets a child finish its turns and go.
    fn retire(&self, client: Client) {
        let stop = self.stop.clone();
        self.retired.spawn(async move {
            tokio::select! {
                () = client.turns_ended() => {}
                () = stop.cancelled() => {}
            }
            client.shutdown().await;
        });
    }

    /// Waits until the child is lost, and replaces it where that is wanted.
    async fn watch(&mut self) -> Watched {
        let mut login_check = tokio::time::interval(LOGIN_CHECK);
        login_check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let Some(client) = self.slot.lock().clone() else {
                return Watched::Lost("there is no child".into());
            };
            let heartbeat = self.config.heartbeat;
            let mut lost = pin!(async {
                tokio::select! {
                    reason = client.until_gone() => reason,
                    reason = heartbeat.until_hung(&client) => reason.into(),
                }
            });
            loop {
                tokio::select! {
                    () = self.stop.cancelled() => return Watched::Stop,
                    reason = &mut lost => {
                        self.slot.put(None);
                        client.kill(&reason).await;
                        return Watched::Lost(reason);
                    }
                    Some(request) = self.renewals.recv() => {
                        let outcome = self.renew().await;
                        let renewed = outcome.is_ok();
                        let _ = request.send(outcome);
                        if renewed {
                            break;
                        }
                    }
                    _ = login_check.tick() => if client.login_watch().changed_elsewhere() {
                        tracing::info!("the login has changed: taking a new child");
                        match self.renew().await {
                            Ok(_) => break,
                            Err(error) => tracing::error!(%error, "cannot take up the new login"),
                        }
                    },
                }
            }
        }
    }

    /// Starts a new child beside the present one, and lets that one go only then.
    async fn renew(&self) -> Result<Version, RenewError> {
        let client = self.start().await?;
        let version = client.version().clone();
        self.stats.count(Counter::Renewal);
        self.present(client);
        Ok(version)
    }
}
