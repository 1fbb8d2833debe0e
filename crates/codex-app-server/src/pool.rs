//! Several children, always brought back, with turns spread over them.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model_turn::{Failure, FailureKind, InvalidTurn, TurnRequest};
use semver::Version;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::canary::Promise;
use crate::client::Client;
use crate::client_config::ClientConfig;
use crate::continuity::kept_threads::KeptThreads;
use crate::continuity::{Continued, ContinuityLimits, FreshReason, KeptCounts};
use crate::heartbeat::Heartbeat;
use crate::stats::{Stats, StatsSnapshot};
use crate::turn::plan::PlannedTurn;
use crate::turn::{Consumer, Turn, TurnOptions};
use crate::worker::{LOGIN_CHECK, RenewRequest, Slot, StateReport, Worker, WorkerState};

/// Everything about children under supervision that can be chosen.
#[derive(Clone)]
pub struct PoolConfig {
    /// How each child is started.
    pub client: ClientConfig,
    /// How many children there are, at least one.
    pub workers: usize,
    /// Pause before a lost child is started again.
    pub backoff_initial: Duration,
    /// Longest such pause; each failure doubles it.
    pub backoff_max: Duration,
    /// How a child that hangs is noticed.
    pub heartbeat: Heartbeat,
    /// How long a turn waits for a child while there is none.
    pub ready_timeout: Duration,
    /// How much is kept for conversations that may go on.
    pub continuity: ContinuityLimits,
}

/// Children that were not replaced by new ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenewError {
    /// A new child did not start; the present one stays.
    #[error("{0}")]
    DidNotStart(Arc<str>),
    /// The pool was told to stop.
    #[error("the proxy is stopping")]
    Stopped,
}

/// Children under supervision. Clones share them; they are stopped by [`Pool::shutdown`], or when
/// the last clone is dropped.
///
/// A child that exits, hangs or breaks the protocol is started again, with growing pauses and for
/// ever. Only its own turns fail.
///
/// ```no_run
/// use codex_app_server::{ClientConfig, CodexBinary, Pool, PoolConfig};
/// use model_turn::TurnRequest;
///
/// # async fn example(request: TurnRequest) -> Result<(), Box<dyn std::error::Error>> {
/// let binary = CodexBinary::locate(None, "copies".as_ref()).await?;
/// let mut config = PoolConfig::new(ClientConfig::new(binary, "codex-home"));
/// config.workers = 2;
/// let pool = Pool::start(config);
/// let mut turn = pool.start_turn(request)?; // waits for a child, if none is ready yet
/// while let Some(event) = turn.next().await {
///     println!("{event:?}");
/// }
/// pool.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Pool {
    inner: Arc<Inner>,
}

struct Inner {
    workers: Vec<Place>,
    states: watch::Sender<Vec<WorkerState>>,
    config: Arc<PoolConfig>,
    stats: Arc<Stats>,
    kept: Arc<KeptThreads>,
    tasks: TaskTracker,
    retired: TaskTracker,
    stop: CancellationToken,
}

/// What the pool has of a worker.
struct Place {
    slot: Arc<Slot>,
    renewals: mpsc::Sender<RenewRequest>,
    turns_given: AtomicU64,
}

// === impl PoolConfig ===

impl PoolConfig {
    /// One child, with the defaults for everything else.
    pub fn new(client: ClientConfig) -> Self {
        Self {
            client,
            workers: 1,
            backoff_initial: Duration::from_millis(500),
            backoff_max: Duration::from_secs(5),
            heartbeat: Heartbeat::default(),
            ready_timeout: Duration::from_secs(10),
            continuity: ContinuityLimits::default(),
        }
    }
}

// === impl Pool ===

impl Pool {
    /// Starts the children, and returns at once: [`Self::states`] says how they get on.
    pub fn start(config: PoolConfig) -> Self {
        let config = Arc::new(config);
        let counted = Arc::<Stats>::default();
        let stop = CancellationToken::new();
        let (tasks, retired) = (TaskTracker::new(), TaskTracker::new());
        let count = config.workers.max(1);
        let states = watch::Sender::new(vec![WorkerState::Starting; count]);
        let kept = Arc::new(KeptThreads::new(config.continuity));
        tasks.spawn({
            let (kept, stop) = (Arc::clone(&kept), stop.clone());
            async move { stop.run_until_cancelled(kept.expire()).await }
        });
        let workers = (0..count)
            .map(|place| {
                let (renewals, requests) = mpsc::channel(1);
                let slot = Arc::<Slot>::default();
                let worker = Worker {
                    slot: Arc::clone(&slot),
                    report: StateReport { states: states.clone(), place },
                    config: Arc::clone(&config),
                    stats: Arc::clone(&counted),
                    kept: Arc::clone(&kept),
                    renewals: requests,
                    stop: stop.clone(),
                    retired: retired.clone(),
                };
                tasks.spawn(worker.run());
                Place { slot, renewals, turns_given: AtomicU64::new(0) }
            })
            .collect();
        let inner = Inner { workers, states, config, stats: counted, kept, tasks, retired, stop };
        Self { inner: Arc::new(inner) }
    }

    /// Where every child stands.
    pub fn states(&self) -> watch::Receiver<Vec<WorkerState>> {
        self.inner.states.subscribe()
    }

    /// Starts a turn on the child that has least to do. Its events come from the returned handle;
    /// dropping that ends the turn. While no child is ready the turn waits for one.
    ///
    /// # Errors
    /// If the request could not be put to Codex as it is.
    pub fn start_turn(&self, request: TurnRequest) -> Result<Turn, InvalidTurn> {
        self.start_turn_with(request, self.inner.config.client.turns, Consumer::default())
    }

    /// The same with options of its own, for this consumer.
    ///
    /// # Errors
    /// As for [`Self::start_turn`].
    pub fn start_turn_with(
        &self,
        request: TurnRequest,
        options: TurnOptions,
        consumer: Consumer,
    ) -> Result<Turn, InvalidTurn> {
        let inner = &self.inner;
        let (planned, turn) = PlannedTurn::new(request, options, consumer, Some(&inner.kept))?;
        if let Err(planned) = inner.give(planned) {
            inner.tasks.spawn(Arc::clone(inner).give_when_ready(*planned).in_current_span());
        }
        Ok(turn)
    }

    /// A child that is ready, for everything but turns. Signing in or out through it ends the turns
    /// that it has; a [`Client`] of its own in the same home does not, and is noticed by all others.
    pub fn client(&self) -> Option<Client> {
        self.ready().next()
    }

    /// Every child that is ready.
    pub fn clients(&self) -> Vec<Client> {
        self.ready().collect()
    }

    pub(crate) fn client_config(&self) -> &ClientConfig {
        &self.inner.config.client
    }

    fn ready(&self) -> impl Iterator<Item = Client> {
        self.inner.workers.iter().filter_map(|place| place.slot.client())
    }

    /// Replaces every child by a new one of the Codex that is on disk now; says its version.
    ///
    /// A new child is started first. The old one gets no more turns, finishes those that it has,
    /// and goes. If the new one does not start, the old one stays. Where there is no child, one is
    /// tried at once.
    ///
    /// # Errors
    /// If a new child did not start; those before it are replaced.
    pub async fn renew(&self) -> Result<Version, RenewError> {
        let mut renewed = Err(RenewError::Stopped);
        for place in &self.inner.workers {
            let (reply, answer) = oneshot::channel();
            place.renewals.send(reply).await.map_err(|_| RenewError::Stopped)?;
            renewed = Ok(answer.await.unwrap_or(Err(RenewError::Stopped))?);
        }
        renewed
    }

    /// Lets go of every thread that is kept.
    pub fn let_go_of_kept_threads(&self) {
        self.inner.kept.let_go();
    }

    /// What is kept at the moment for conversations that may go on.
    pub fn kept_threads(&self) -> KeptCounts {
        self.inner.kept.counts()
    }

    /// What was counted so far, over all children.
    pub fn stats(&self) -> StatsSnapshot {
        self.inner.stats.snapshot()
    }

    /// Ends every turn and stops every child; no process is left afterwards.
    pub async fn shutdown(&self) {
        let inner = &self.inner;
        inner.stop.cancel();
        for tasks in [&inner.tasks, &inner.retired] {
            tasks.close();
            tasks.wait().await;
        }
    }
}

// === impl Inner ===

impl Drop for Inner {
    /// Nobody can ask for turns any more, or for the end.
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Inner {
    /// Gives a turn to the child that has its thread, or that has least to do, or else has had least.
    fn give(&self, turn: PlannedTurn) -> Result<(), Box<PlannedTurn>> {
        match self.give_as_it_is(turn) {
            Err(mut turn) if turn.found.is_some() => {
                turn.found = None;
                turn.link.tell(Continued::Fresh(FreshReason::ChildGone));
                self.give_as_it_is(*turn)
            }
            given => given,
        }
    }

    fn give_as_it_is(&self, turn: PlannedTurn) -> Result<(), Box<PlannedTurn>> {
        let load = |place: &Place| {
            let running = place.slot.running_turns()?;
            Some((running, place.turns_given.load(Ordering::Relaxed)))
        };
        let mut places: Vec<_> =
            self.workers.iter().filter_map(|place| Some((load(place)?, place))).collect();
        places.sort_unstable_by_key(|(load, _)| *load);
        let mut refused = Box::new(turn);
        for (_, place) in places {
            match place.slot.give(*refused) {
                Ok(()) => {
                    place.turns_given.fetch_add(1, Ordering::Relaxed);
                    return Ok(());
                }
                Err(turn) => refused = turn,
            }
        }
        Err(refused)
    }

    async fn give_when_ready(self: Arc<Self>, mut turn: PlannedTurn) {
        let mut states = self.states.subscribe();
        let mut too_long = pin!(tokio::time::sleep(self.config.ready_timeout));
        loop {
            states.mark_unchanged();
            match self.give(turn) {
                Ok(()) => return,
                Err(back) => turn = *back,
            }
            if let Some(broken) = broken_promise(&states.borrow()) {
                return turn.fail(Failure::new(FailureKind::Untested, broken));
            }
            tokio::select! {
                biased;
                _ = states.changed() => {}
                // The login that it waits for may be gone again.
                () = tokio::time::sleep(LOGIN_CHECK) => {}
                stop = turn.next_stop() => return turn.stopped(stop),
                () = self.stop.cancelled() => {
                    return turn.fail(Failure::new(FailureKind::Stopping, "the proxy is stopping"));
                }
                () = &mut too_long => {
                    let words = not_ready(&states.borrow());
                    return turn.fail(Failure::new(FailureKind::ChildGone, words));
                }
            }
        }
    }
}

/// Why no child will take a turn of a real model, if each has failed its canary for good.
fn broken_promise(states: &[WorkerState]) -> Option<String> {
    let broken_for_good = |state: &WorkerState| {
        state.broken_promise().cloned().filter(|broken| broken.promise != Promise::Checked)
    };
    let mut broken = states.iter().map(broken_for_good);
    let first = broken.next()??;
    broken.all(|broken| broken.is_some()).then(|| {
        format!(
            "this Codex breaks a promise ({}: {first}), and takes no turns of real models",
            first.promise.as_str()
        )
    })
}

fn not_ready(states: &[WorkerState]) -> String {
    let reason = states.iter().find_map(|state| match state {
        WorkerState::Restarting { reason, .. } => Some(format!("Codex is not ready: {reason}")),
        WorkerState::Ready { not_renewed: Some(reason), .. } => {
            Some(format!("Codex could not be replaced: {reason}"))
        }
        WorkerState::Ready { canary, .. } => canary.broken().map(ToString::to_string),
        WorkerState::Starting | WorkerState::Stopped => None,
    });
    reason.unwrap_or_else(|| "Codex is not ready yet".to_owned())
}
