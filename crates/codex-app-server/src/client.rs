//! A running `codex app-server`, and what can be asked of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use model_turn::{InvalidTurn, TurnRequest};
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::binary::BinaryError;
use crate::canary::{BrokenPromise, CanaryState};
use crate::child::{Child, LastWords};
use crate::child_log::{EarlyArguments, LogReader};
use crate::client_config::ClientConfig;
use crate::connection::{Connection, Damage, Notification, Onlookers};
use crate::home::{CodexHome, HomeError};
use crate::log_database;
use crate::login_watch::LoginWatch;
use crate::protocol::incoming::{Initialized, LoadedThreads};
use crate::protocol::outgoing::{Capabilities, ClientInfo, Initialize, ThreadLoadedList};
use crate::request_error::RequestError;
use crate::stats::{Counter, Stats, StatsSnapshot};
use crate::timing::Timing;
use crate::turn::driver::Driver;
use crate::turn::plan::PlannedTurn;
use crate::turn::set_up::SetUps;
use crate::turn::{Consumer, Turn, TurnOptions};

/// Longest wait for Codex to confirm that the turns of a client that stops are interrupted.
const INTERRUPT_GRACE: Duration = Duration::from_secs(1);

/// Notifications that are noise to us; each costs a line per turn or more.
const NOISE: [&str; 12] = [
    "configWarning",
    "item/plan/delta",
    "item/reasoning/summaryPartAdded",
    "mcpServer/startupStatus/updated",
    "remoteControl/status/changed",
    "serverRequest/resolved",
    "skills/changed",
    "thread/closed",
    "thread/settings/updated",
    "thread/started",
    "thread/status/changed",
    "thread/tokenUsage/updated",
];

/// A child that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no usable Codex any more.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// Its home is not usable.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The process could not be started.
    #[error("cannot start Codex: {0}")]
    Spawn(std::io::Error),
    /// It did not get through the handshake.
    #[error("Codex did not get through the handshake: {reason}{}", said(.last_words.as_deref()))]
    Handshake {
        /// What happened.
        reason: RequestError,
        /// Its last line on standard error.
        last_words: Option<String>,
    },
    /// It has failed its canary, and another child that has not is there.
    #[error("the new Codex has failed its canary: {0}")]
    Untested(BrokenPromise),
    /// It was told to stop before it was ready.
    #[error("the proxy is stopping")]
    Stopped,
}

/// A running child. Clones share it; it is stopped by [`Client::shutdown`], or killed when the
/// last clone is dropped.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Arc<Connection>,
    child: tokio::sync::Mutex<Option<Child>>,
    process_id: Option<u32>,
    tasks: TaskTracker,
    /// The turns that still run, apart from all other tasks.
    turns: TaskTracker,
    /// Ends the tasks that read and write, whatever they wait for.
    over: CancellationToken,
    config: ClientConfig,
    working_folder: String,
    home: CodexHome,
    canary: watch::Sender<CanaryState>,
    login: Arc<LoginWatch>,
    set_ups: Arc<SetUps>,
    user_agent: String,
}

fn said(last_words: Option<&str>) -> String {
    last_words.map(|words| format!(" (it said: {words})")).unwrap_or_default()
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("process_id", &self.inner.process_id).finish_non_exhaustive()
    }
}

// === impl Client ===

impl Client {
    /// Prepares the home, starts the child and waits until it is ready.
    ///
    /// # Errors
    /// If the home cannot be used, the process does not start, or the handshake fails.
    pub async fn start(config: ClientConfig) -> Result<Self, StartError> {
        Self::start_until(&CancellationToken::new(), config, Arc::default()).await
    }

    /// The same until `stop`, after which no process is left, and with counters that outlive the
    /// child.
    pub(crate) async fn start_until(
        stop: &CancellationToken,
        config: ClientConfig,
        stats: Arc<Stats>,
    ) -> Result<Self, StartError> {
        let prepared = stop.run_until_cancelled(async {
            let home = CodexHome::prepare(&config).await?;
            let starting = home.lock_start(config.handshake_timeout).await?;
            Ok::<_, HomeError>((home, starting))
        });
        let (home, starting) = prepared.await.ok_or(StartError::Stopped)??;
        let login = LoginWatch::over(home.login_file());
        let since = ambient::now();
        let (process, pipes) = config.codex.spawn(&config, &home).map_err(StartError::Spawn)?;
        let child = Child(process);
        let onlookers = Onlookers { tap: config.tap.clone(), timings: config.timings.clone() };
        let early_arguments = match (config.early_arguments, &config.canary) {
            (false, _) => EarlyArguments::Off,
            (true, Some(_)) => EarlyArguments::Checking,
            (true, None) => EarlyArguments::On,
        };
        let (connection, unwanted) =
            Connection::new(config.request_timeout, onlookers, early_arguments, stats);
        let connection = Arc::new(connection);
        let tasks = TaskTracker::new();
        let over = CancellationToken::new();
        let last_words = LastWords::new();
        let log = config.early_arguments.then(|| LogReader::new(Arc::clone(&connection)));
        let listener = last_words.clone().listen(pipes.stderr, log);
        tasks.spawn(over.clone().run_until_cancelled_owned(listener));
        tasks.spawn({
            let connection = Arc::clone(&connection);
            let last_words = last_words.clone();
            over.clone().run_until_cancelled_owned(async move {
                if let Err(error) = connection.outbox().drain_into(pipes.stdin).await {
                    let said = said(last_words.of_the_gone().await.as_deref());
                    connection.close(&format!("cannot write to Codex: {error}{said}"));
                }
            })
        });
        tasks.spawn({
            let connection = Arc::clone(&connection);
            let last_words = last_words.clone();
            let max_line = config.max_line_bytes;
            over.clone().run_until_cancelled_owned(async move {
                let (reason, last_words) = match connection.read(pipes.stdout, max_line).await {
                    Ok(reason) => (reason, last_words.of_the_gone().await),
                    Err(Damage(reason)) => (reason, last_words.last()),
                };
                connection.close(&format!("{reason}{}", said(last_words.as_deref())));
            })
        });
        tasks.spawn({
            let connection = Arc::clone(&connection);
            async move { connection.let_go_of_all(unwanted).await }
        });
        let handshake = stop.run_until_cancelled(initialize(&connection, &config));
        let initialized = match handshake.await {
            Some(Ok(initialized)) => initialized,
            failed => {
                connection.close("the handshake failed");
                let _ = child.kill().await;
                over.cancel();
                tasks.close();
                tasks.wait().await;
                let Some(Err(reason)) = failed else { return Err(StartError::Stopped) };
                // A child that has gone has its last words in the reason.
                let last_words = match &reason {
                    RequestError::ChildGone(_) => None,
                    _ => last_words.last(),
                };
                return Err(StartError::Handshake { reason, last_words });
            }
        };
        drop(starting);
        connection.time(Timing::Handshake(ambient::since(since)));
        last_words.begin_turns(config.stderr_content);
        // Before any turn, of which it would hold the arguments.
        let muting = tasks.spawn_blocking({
            let home = home.path().to_owned();
            move || log_database::mute(&home)
        });
        match muting.await {
            Ok(Ok(0)) => tracing::warn!("no log database of Codex was found, so none is muted"),
            Ok(Ok(count)) => tracing::debug!(count, "muted Codex's log databases"),
            Ok(Err(error)) => tracing::warn!(%error, "cannot mute Codex's log database"),
            Err(error) => tracing::warn!(%error, "cannot mute Codex's log database"),
        }
        let canary = match &config.canary {
            Some(_) => CanaryState::Checking { allowed: config.allow_untested },
            None => CanaryState::NotNeeded,
        };
        Ok(Self {
            inner: Arc::new(Inner {
                connection,
                process_id: child.id(),
                child: tokio::sync::Mutex::new(Some(child)),
                tasks,
                turns: TaskTracker::new(),
                over,
                working_folder: home.working_folder().to_string_lossy().into_owned(),
                home,
                canary: watch::Sender::new(canary),
                login,
                set_ups: Arc::default(),
                config,
                user_agent: initialized.user_agent,
            }),
        })
    }

    /// Starts a turn. Its events come from the returned handle; dropping that ends the turn.
    ///
    /// # Errors
    /// If the request could not be put to Codex as it is.
    pub fn start_turn(&self, request: TurnRequest) -> Result<Turn, InvalidTurn> {
        let (planned, turn) =
            PlannedTurn::new(request, self.inner.config.turns, Consumer::default(), None)?;
        self.run(planned);
        Ok(turn)
    }

    /// Starts a turn that leaves no trace in what is counted.
    pub(crate) fn start_uncounted_turn(&self, request: TurnRequest) -> Result<Turn, InvalidTurn> {
        let options = TurnOptions { retries: 0, ..self.inner.config.turns };
        let (planned, turn) = PlannedTurn::new(request, options, Consumer::default(), None)?;
        self.drive(planned);
        Ok(turn)
    }

    pub(crate) fn run(&self, turn: PlannedTurn) {
        self.inner.connection.stats().count(Counter::Turn);
        self.drive(turn);
    }

    fn drive(&self, turn: PlannedTurn) {
        let inner = &self.inner;
        let driver = Driver {
            turn,
            connection: Arc::clone(&inner.connection),
            working_folder: inner.working_folder.clone(),
            login: Arc::clone(&inner.login),
            set_ups: Arc::clone(&inner.set_ups),
        };
        inner.turns.spawn(driver.run().in_current_span());
    }

    /// How many turns are running.
    pub fn running_turns(&self) -> usize {
        self.inner.turns.len()
    }

    /// Whether arguments are streamed as the model writes them.
    pub fn early_arguments(&self) -> EarlyArguments {
        self.inner.connection.log_trust().state()
    }

    /// What the canary has shown so far.
    pub fn canary(&self) -> CanaryState {
        self.inner.canary.borrow().clone()
    }

    pub(crate) fn takes_real_models(&self) -> bool {
        self.inner.canary.borrow().permits()
    }

    pub(crate) fn canary_states(&self) -> watch::Receiver<CanaryState> {
        self.inner.canary.subscribe()
    }

    pub(crate) fn set_canary(&self, state: CanaryState) {
        self.inner.canary.send_replace(state);
    }

    pub(crate) fn config(&self) -> &ClientConfig {
        &self.inner.config
    }

    pub(crate) fn home(&self) -> &Path {
        self.inner.home.path()
    }

    /// Waits until no turn is running, the account is not being changed and no request is under
    /// way. Nobody else may begin anything.
    pub(crate) async fn until_idle(&self) {
        let inner = &self.inner;
        inner.turns.close();
        inner.turns.wait().await;
        inner.login.no_own_change().await;
        let answered = inner.connection.until_all_is_answered();
        let _ = tokio::time::timeout(inner.config.request_timeout, answered).await;
    }

    /// Sends any request of the app-server's protocol.
    ///
    /// # Errors
    /// If it is refused, not answered, or the child has gone.
    pub async fn request(
        &self,
        method: &'static str,
        params: &(impl Serialize + Sync),
    ) -> Result<Option<Box<RawValue>>, RequestError> {
        self.inner.connection.request_raw(method, params).await
    }

    /// Ids of the threads that Codex holds in memory.
    ///
    /// # Errors
    /// If Codex does not answer.
    pub async fn loaded_threads(&self) -> Result<Vec<String>, RequestError> {
        let loaded: LoadedThreads = self.inner.connection.request(&ThreadLoadedList {}).await?;
        Ok(loaded.data)
    }

    /// Asks for a sign of life, past the queue of requests.
    pub(crate) async fn ping(&self, timeout: Duration) -> Result<(), RequestError> {
        self.inner.connection.ping(&ThreadLoadedList {}, timeout).await
    }

    /// How many lines were read from the child so far.
    pub(crate) fn lines_read(&self) -> u64 {
        self.inner.connection.lines_read()
    }

    /// A fingerprint of who is signed in. It is the same in every process.
    pub fn account_fingerprint(&self) -> Option<u128> {
        self.inner.login.account()
    }

    /// Whether that is the login in place: one that was changed elsewhere is taken up by the next child.
    pub fn has_login_in_place(&self) -> bool {
        self.inner.login.changed_elsewhere().is_none()
    }

    pub(crate) fn login_watch(&self) -> &Arc<LoginWatch> {
        &self.inner.login
    }

    pub(crate) fn connection(&self) -> &Arc<Connection> {
        &self.inner.connection
    }

    /// Runs a task that [`Self::shutdown`] waits for.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.inner.tasks.spawn(task);
    }

    /// Notifications that belong to no turn.
    pub fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.inner.connection.notifications()
    }

    /// `None` while the child is usable, then why it is not.
    pub fn gone(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.inner.connection.closed()
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.inner.connection.is_closed()
    }

    /// Waits until the child is not usable any more, and says why.
    pub(crate) async fn until_gone(&self) -> Arc<str> {
        let mut gone = self.gone();
        let reason = gone.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        reason.unwrap_or_else(|| "Codex has gone".into())
    }

    /// What was counted so far.
    pub fn stats(&self) -> StatsSnapshot {
        self.inner.connection.stats().snapshot()
    }

    /// How Codex names itself.
    pub fn user_agent(&self) -> &str {
        &self.inner.user_agent
    }

    /// Version of the child.
    pub fn version(&self) -> &semver::Version {
        self.inner.config.codex.version()
    }

    /// Process id of the child, and id of its group.
    pub fn process_id(&self) -> Option<u32> {
        self.inner.process_id
    }

    /// Ends every turn and stops the child; no process of it is left afterwards.
    pub async fn shutdown(&self) {
        self.stop("the proxy is stopping").await;
    }

    /// The same for any reason.
    pub(crate) async fn stop(&self, reason: &str) {
        let connection = &*self.inner.connection;
        // Codex lets go of the upstream's streams before it is asked to go itself.
        connection.router.fail_all(reason, connection);
        let _ = tokio::time::timeout(INTERRUPT_GRACE, connection.router.until_empty()).await;
        connection.close(reason);
        // Whoever comes second waits here for the first.
        let mut child = self.inner.child.lock().await;
        if let Some(child) = child.take() {
            match child.stop(self.inner.config.shutdown_grace).await {
                Ok(status) => tracing::debug!(%status, "Codex has ended"),
                Err(error) => tracing::warn!(%error, "cannot wait for Codex"),
            }
        }
        self.tidy_up().await;
    }

    /// Ends every turn, and the child without asking it.
    pub(crate) async fn kill(&self, reason: &str) {
        self.inner.connection.close(reason);
        let mut child = self.inner.child.lock().await;
        if let Some(child) = child.take() {
            match child.kill().await {
                Ok(status) => tracing::debug!(%status, "Codex was killed"),
                Err(error) => tracing::warn!(%error, "cannot wait for Codex"),
            }
        }
        self.tidy_up().await;
    }

    async fn tidy_up(&self) {
        let inner = &self.inner;
        inner.over.cancel();
        for tasks in [&inner.turns, &inner.tasks] {
            tasks.close();
            tasks.wait().await;
        }
    }
}

async fn initialize(
    connection: &Connection,
    config: &ClientConfig,
) -> Result<Initialized, RequestError> {
    let handshake = Initialize {
        client_info: ClientInfo {
            name: &config.client_name,
            title: &config.client_name,
            version: &config.client_version,
        },
        capabilities: Capabilities {
            experimental_api: true,
            request_attestation: false,
            opt_out_notification_methods: &NOISE,
        },
    };
    let after = config.handshake_timeout;
    let initialized = tokio::time::timeout(after, connection.request(&handshake))
        .await
        .unwrap_or(Err(RequestError::Timeout { method: "initialize", after }))?;
    connection.notify("initialized");
    Ok(initialized)
}
