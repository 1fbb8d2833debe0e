//! One child that is always brought back.

mod slot;
mod state;

pub(crate) use slot::Slot;
pub(crate) use state::StateReport;
pub use state::WorkerState;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use semver::Version;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::backoff::Backoff;
use crate::client::{Client, StartError};
use crate::client_config::ClientConfig;
use crate::codex::Codex;
use crate::continuity::kept_threads::KeptThreads;
use crate::heartbeat::Heartbeat;
use crate::pool::{PoolConfig, RenewError};
use crate::stats::{Counter, Stats};

/// How often the login file is looked at.
pub(crate) const LOGIN_CHECK: Duration = Duration::from_secs(1);

/// The same, at the least, where a changed login cannot be taken up.
const LOGIN_CHECK_MAX: Duration = Duration::from_mins(1);

/// Somebody wants the child to be replaced by a new one, and waits for how that goes.
pub(crate) type RenewRequest = oneshot::Sender<Result<Version, RenewError>>;

pub(crate) struct Worker {
    pub(crate) slot: Arc<Slot>,
    pub(crate) report: StateReport,
    pub(crate) config: Arc<PoolConfig>,
    pub(crate) stats: Arc<Stats>,
    pub(crate) kept: Arc<KeptThreads>,
    pub(crate) renewals: mpsc::Receiver<RenewRequest>,
    pub(crate) stop: CancellationToken,
    /// Children that finish their turns before they go.
    pub(crate) retired: TaskTracker,
}

// === impl Worker ===

impl Worker {
    /// Keeps a child running until the worker is told to stop.
    pub(crate) async fn run(mut self) {
        let mut backoff = self.new_backoff();
        let mut failures = 0;
        let mut asking = Vec::new();
        let worker = self.report.place;
        // Whoever made the pool has just looked for this one.
        let mut started = self.start_of(Arc::clone(&self.config.client.codex)).await;
        loop {
            let reason = match started {
                Ok(client) => {
                    let ready_at = ambient::now();
                    self.present(client.clone());
                    answer(asking.drain(..), &Ok(client.version().clone()));
                    failures = 0;
                    let Some(reason) = self.watch(client).await else { break };
                    if ambient::since(ready_at) > self.config.backoff_max {
                        backoff = self.new_backoff();
                    }
                    reason
                }
                Err(StartError::Stopped) => break,
                Err(error) => {
                    tracing::error!(worker, %error, "Codex did not start");
                    answer_failure(asking.drain(..), &error)
                }
            };
            failures += 1;
            self.stats.count(Counter::Restart);
            let pause = backoff.next_pause();
            tracing::info!(worker, failures, ?pause, "Codex will be started again");
            let next_try = ambient::now() + pause;
            self.report.say(WorkerState::Restarting { reason, failures, next_try });
            tokio::select! {
                biased;
                () = tokio::time::sleep(pause) => {}
                () = self.stop.cancelled() => break,
                // Whoever asks for a new child has mended something: it is tried at once.
                Some(request) = self.renewals.recv() => asking.push(request),
            }
            started = self.start().await;
        }
        let client = self.slot.put(None);
        self.report.say(WorkerState::Stopped);
        if let Some(client) = client {
            client.shutdown().await;
        }
    }

    fn new_backoff(&self) -> Backoff {
        Backoff::new(self.config.backoff_initial, self.config.backoff_max)
    }

    /// Starts a child of the version that is on disk by now, unless the worker is told to stop.
    async fn start(&self) -> Result<Client, StartError> {
        let found = self.stop.run_until_cancelled(self.config.client.codex.found_again());
        self.start_of(found.await.ok_or(StartError::Stopped)??).await
    }

    async fn start_of(&self, codex: Arc<dyn Codex>) -> Result<Client, StartError> {
        let config = ClientConfig { codex, ..self.config.client.clone() };
        Client::start_until(&self.stop, config, Arc::clone(&self.stats)).await
    }

    /// Lets a child take turns, in the place of the one before.
    fn present(&self, client: Client) {
        tracing::info!(worker = self.report.place, version = %client.version(), "Codex is ready");
        let ready = ready(&client, None);
        client.spawn(follow_checks(client.clone(), self.report.clone()));
        let before = self.slot.put(Some(client));
        self.report.say(ready);
        if let Some(before) = before {
            self.retire(before);
        }
    }

    /// Lets a child finish what it has begun, and go.
    fn retire(&self, client: Client) {
        let (stop, heartbeat) = (self.stop.clone(), self.config.heartbeat);
        let worker = self.report.place;
        let kept = Arc::clone(&self.kept);
        kept.forget(client.connection());
        self.retired.spawn(async move {
            tokio::select! {
                biased;
                () = client.until_idle() => client.stop("this Codex was replaced by a new one").await,
                reason = until_lost(&client, heartbeat) => {
                    tracing::error!(worker, %reason, "a Codex that was being replaced was lost");
                    client.kill(&reason).await;
                }
                () = stop.cancelled() => client.shutdown().await,
            }
            // Its last turns may have left something.
            kept.forget(client.connection());
        });
    }

    /// Watches the child, and replaces it where that is wanted. Says why it was lost; `None` if the
    /// worker was told to stop.
    async fn watch(&mut self, mut client: Client) -> Option<Arc<str>> {
        let worker = self.report.place;
        loop {
            let present = client.clone();
            let mut lost = pin!(until_lost(&present, self.config.heartbeat));
            let mut login_check = LOGIN_CHECK;
            client = loop {
                let request = tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return None,
                    reason = &mut lost => {
                        self.lose(&present, &reason).await;
                        return Some(reason);
                    }
                    Some(request) = self.renewals.recv() => Some(request),
                    () = login_changed(&present, login_check) => {
                        tracing::info!(worker, "the login has changed: taking a new Codex");
                        None
                    }
                };
                match self.renew(&present, lost.as_mut()).await {
                    Ok(new) => {
                        answer(request, &Ok(new.version().clone()));
                        break new;
                    }
                    Err(StartError::Stopped) => return None,
                    Err(error) => {
                        let reason = answer_failure(request, &error);
                        if present.is_gone() {
                            return Some(reason);
                        }
                        tracing::error!(worker, %reason, "no new Codex: the present one stays");
                        self.report.say(ready(&present, Some(reason)));
                        login_check = (login_check * 2).min(LOGIN_CHECK_MAX);
                    }
                }
            };
        }
    }

    /// Starts a new child beside the present one, which is retired only when the new one has passed
    /// its canary. If it is lost meanwhile, the new one is its successor.
    async fn renew(
        &self,
        present: &Client,
        lost: Pin<&mut impl Future<Output = Arc<str>>>,
    ) -> Result<Client, StartError> {
        let mut starting = pin!(async {
            let client = self.start().await?;
            let Some(canary) = self.stop.run_until_cancelled(client.play_canary()).await else {
                client.shutdown().await;
                return Err(StartError::Stopped);
            };
            Ok((client, canary))
        });
        let started = tokio::select! {
            biased;
            started = &mut starting => started,
            reason = lost => {
                self.lose(present, &reason).await;
                starting.await
            }
        };
        let (client, canary) = started?;
        if let Some(broken) = canary.broken()
            && !canary.permits()
            && present.takes_real_models()
            && !present.is_gone()
        {
            client.stop("this Codex has failed its canary").await;
            return Err(StartError::Untested(broken.clone()));
        }
        self.stats.count(Counter::Renewal);
        self.present(client.clone());
        Ok(client)
    }

    async fn lose(&self, client: &Client, reason: &Arc<str>) {
        tracing::error!(worker = self.report.place, %reason, "Codex was lost");
        self.slot.put(None);
        let (next_try, failures) = (ambient::now(), 1);
        self.report.say(WorkerState::Restarting { reason: Arc::clone(reason), failures, next_try });
        client.kill(reason).await;
        self.kept.forget(client.connection());
    }
}

fn ready(client: &Client, not_renewed: Option<Arc<str>>) -> WorkerState {
    let version = client.version().clone();
    let (early_arguments, canary) = (client.early_arguments(), client.canary());
    let process_id = client.process_id();
    WorkerState::Ready { version, process_id, not_renewed, early_arguments, canary }
}

/// Plays the canary of a child, and reports what is known of it for as long as it lives.
async fn follow_checks(client: Client, report: StateReport) {
    let mut log_states = client.connection().log_trust().states();
    let mut canary_states = client.canary_states();
    let follow = async {
        loop {
            report.note_checks(&client);
            let changed = tokio::select! {
                biased;
                changed = log_states.changed() => changed,
                changed = canary_states.changed() => changed,
            };
            if changed.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        biased;
        _ = client.until_gone() => {}
        ((), ()) = async { tokio::join!(client.settle_canary(), follow) } => {}
    }
}

/// Waits until a child has gone or hangs, and says which.
async fn until_lost(client: &Client, heartbeat: Heartbeat) -> Arc<str> {
    tokio::select! {
        biased;
        reason = client.until_gone() => reason,
        reason = heartbeat.until_hung(client) => reason.into(),
    }
}

/// Waits until somebody else has signed in or out.
async fn login_changed(client: &Client, interval: Duration) {
    loop {
        tokio::time::sleep(interval).await;
        if client.login_watch().changed_elsewhere().is_some() {
            return;
        }
    }
}

fn answer(asking: impl IntoIterator<Item = RenewRequest>, outcome: &Result<Version, RenewError>) {
    for request in asking {
        // Whoever asked may have stopped waiting.
        let _ = request.send(outcome.clone());
    }
}

/// Gives the reason to all who asked, and back.
fn answer_failure(asking: impl IntoIterator<Item = RenewRequest>, error: &StartError) -> Arc<str> {
    let reason: Arc<str> = error.to_string().into();
    answer(asking, &Err(RenewError::DidNotStart(Arc::clone(&reason))));
    reason
}
