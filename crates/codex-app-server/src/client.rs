//! A running `codex app-server`, and what can be asked of it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::{broadcast, watch};
use tokio_util::task::TaskTracker;

use crate::binary::CodexBinary;
use crate::child::{Child, LastWords};
use crate::connection::{Connection, Notification, WireTap};
use crate::home::{CodexHome, HomeError};
use crate::log_database;
use crate::protocol::incoming::{Initialized, LoadedThreads, Models};
use crate::protocol::outgoing::{
    Capabilities, ClientInfo, Initialize, ModelList, ThreadLoadedList,
};
use crate::request_error::RequestError;
use crate::stats::{Counter, StatsSnapshot};
use crate::turn::driver::Driver;
use crate::turn::{InvalidTurn, Turn, TurnLimits, TurnRequest, channel};

/// Notifications that are noise to us; each costs a line per turn or more.
const NOISE: [&str; 13] = [
    "account/rateLimits/updated",
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

/// Everything about a child that can be chosen.
#[derive(Clone)]
pub struct ClientConfig {
    /// The binary to run.
    pub binary: CodexBinary,
    /// Folder of the child's own; made if it is missing.
    pub home: PathBuf,
    /// Name towards the upstream (`originator`).
    pub client_name: String,
    /// Version towards the upstream.
    pub client_version: String,
    /// From the start of the process to the end of the handshake.
    pub handshake_timeout: Duration,
    /// For one JSON-RPC request.
    pub request_timeout: Duration,
    /// Between two ways of asking the child to stop.
    pub shutdown_grace: Duration,
    /// Longest line of the child that is read.
    pub max_line_bytes: usize,
    /// Most bytes of events that wait for the consumer of one turn.
    pub max_waiting_bytes: usize,
    /// Time limits of a turn.
    pub limits: TurnLimits,
    /// Retries of a turn that failed before any output.
    pub retries: u32,
    /// Sees every line in both directions.
    pub tap: Option<WireTap>,
}

/// A child that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
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
}

/// A running child. Clones share it; it is stopped by [`Client::shutdown`], or killed when the
/// last clone is dropped.
#[derive(Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

struct Inner {
    connection: Arc<Connection>,
    child: Mutex<Option<Child>>,
    process_id: Option<u32>,
    tasks: TaskTracker,
    config: ClientConfig,
    working_folder: String,
    user_agent: String,
}

fn said(last_words: Option<&str>) -> String {
    last_words.map(|words| format!(" (it said: {words})")).unwrap_or_default()
}

// === impl ClientConfig ===

impl ClientConfig {
    /// The defaults for a binary and a home.
    pub fn new(binary: CodexBinary, home: impl Into<PathBuf>) -> Self {
        Self {
            binary,
            home: home.into(),
            client_name: "codex-completions".to_owned(),
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            handshake_timeout: Duration::from_secs(15),
            request_timeout: Duration::from_secs(30),
            shutdown_grace: Duration::from_secs(5),
            max_line_bytes: 64 * 1024 * 1024,
            max_waiting_bytes: 64 * 1024 * 1024,
            limits: TurnLimits::default(),
            retries: 2,
            tap: None,
        }
    }
}

// === impl Client ===

impl Client {
    /// Prepares the home, starts the child and waits until it is ready.
    ///
    /// # Errors
    /// If the home cannot be used, the process does not start, or the handshake fails.
    pub async fn start(config: ClientConfig) -> Result<Self, StartError> {
        let home = CodexHome::prepare(&config.home, &config.binary).await?;
        let (child, pipes) = Child::spawn(&config.binary, &home).map_err(StartError::Spawn)?;
        let (connection, finished) = Connection::new(config.request_timeout, config.tap.clone());
        let connection = Arc::new(connection);
        let tasks = TaskTracker::new();
        let last_words = LastWords::default();
        tasks.spawn(last_words.clone().listen(pipes.stderr));
        tasks.spawn({
            let connection = Arc::clone(&connection);
            async move {
                if let Err(error) = connection.outbox().drain_into(pipes.stdin).await {
                    connection.close(&format!("cannot write to Codex: {error}"));
                }
            }
        });
        tasks.spawn({
            let connection = Arc::clone(&connection);
            let last_words = last_words.clone();
            let max_line = config.max_line_bytes;
            async move {
                let reason = connection.read(pipes.stdout, max_line).await;
                connection.close(&format!("{reason}{}", said(last_words.last().as_deref())));
            }
        });
        tasks.spawn({
            let connection = Arc::clone(&connection);
            async move { connection.unsubscribe_all(finished).await }
        });
        let initialized = match initialize(&connection, &config).await {
            Ok(initialized) => initialized,
            Err(reason) => {
                connection.close("the handshake failed");
                drop(child);
                tasks.close();
                tasks.wait().await;
                // A child that has gone has its last words in the reason.
                let last_words = match &reason {
                    RequestError::ChildGone(_) => None,
                    _ => last_words.last(),
                };
                return Err(StartError::Handshake { reason, last_words });
            }
        };
        // Warnings of the start explain nothing that happens later.
        last_words.forget();
        tasks.spawn_blocking({
            let home = home.path().to_owned();
            move || match log_database::mute(&home) {
                Ok(0) => tracing::warn!("no log database of Codex was found, so none is muted"),
                Ok(count) => tracing::debug!(count, "muted Codex's log databases"),
                Err(error) => tracing::warn!(%error, "cannot mute Codex's log database"),
            }
        });
        Ok(Self {
            inner: Arc::new(Inner {
                connection,
                process_id: child.id(),
                child: Mutex::new(Some(child)),
                tasks,
                working_folder: home.working_folder().to_string_lossy().into_owned(),
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
        let inner = &self.inner;
        inner.connection.stats().count(Counter::Turn);
        let (sender, receiver) = channel::channel(inner.config.max_waiting_bytes);
        let (control, commands) = watch::channel(crate::turn::Command::Run);
        let driver = Driver::new(
            Arc::clone(&inner.connection),
            request,
            &inner.working_folder,
            &inner.config,
            sender,
            commands,
        )?;
        inner.tasks.spawn(driver.run());
        Ok(Turn::new(receiver, control))
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

    /// Slug of the model that Codex takes when nobody chooses; `None` if it names none.
    ///
    /// # Errors
    /// If Codex does not answer.
    pub async fn default_model(&self) -> Result<Option<String>, RequestError> {
        let models: Models = self.inner.connection.request(&ModelList {}).await?;
        Ok(models.data.into_iter().find(|model| model.is_default).map(|model| model.id))
    }

    /// Notifications that belong to no turn.
    pub fn notifications(&self) -> broadcast::Receiver<Notification> {
        self.inner.connection.notifications()
    }

    /// `None` while the child is usable, then why it is not.
    pub fn gone(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.inner.connection.closed()
    }

    /// What was counted so far.
    pub fn stats(&self) -> StatsSnapshot {
        self.inner.connection.stats().snapshot()
    }

    /// How Codex names itself.
    pub fn user_agent(&self) -> &str {
        &self.inner.user_agent
    }

    /// Process id of the child, and id of its group.
    pub fn process_id(&self) -> Option<u32> {
        self.inner.process_id
    }

    /// Ends every turn and stops the child; no process of it is left afterwards.
    pub async fn shutdown(&self) {
        let inner = &self.inner;
        inner.connection.close("the proxy is stopping");
        let child = inner.child.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(child) = child {
            match child.stop(inner.config.shutdown_grace).await {
                Ok(status) => tracing::debug!(%status, "Codex has ended"),
                Err(error) => tracing::warn!(%error, "cannot wait for Codex"),
            }
        }
        inner.tasks.close();
        inner.tasks.wait().await;
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
