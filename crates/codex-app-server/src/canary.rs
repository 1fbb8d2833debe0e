//! The canary: one turn after a child's start, which shows whether this Codex keeps our promises.

mod body;
mod disk;

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::catalog::DEMO_MODEL;
use crate::client::Client;
use crate::history::{HistoryItem, Role, Tool};
use crate::models::ModelAliases;
use crate::turn::event::{ToolCall, TurnEvent};
use crate::turn::{TurnRequest, Upstream};

/// Turns of real models wait for the canary, but no longer than this.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The fragments come through another pipe than the call, but at about the same time.
const FRAGMENTS_TIMEOUT: Duration = Duration::from_secs(5);

/// Before the next canary, if one could not be played to its end.
const PAUSE: Duration = Duration::from_secs(5);

/// The only tool that the canary's model may see.
const TOOL: &str = "canary";

/// Its parameters, in the form that Codex leaves as it is.
fn parameters() -> Value {
    json!({"type": "object", "properties": {}})
}

/// What a canary is played with.
#[derive(Clone)]
pub struct CanaryConfig {
    /// Starts a model for one canary.
    pub model: StartCanaryModel,
    /// The model whose entry of the catalog is tried; Codex's own default if there is none.
    pub default_model: Option<String>,
    /// Other names of models, of which that may be one.
    pub aliases: ModelAliases,
}

/// Starts a model for one canary.
pub type StartCanaryModel = Arc<dyn Fn() -> StartingCanaryModel + Send + Sync>;

/// A model for one canary that is being started.
pub type StartingCanaryModel =
    Pin<Box<dyn Future<Output = io::Result<Box<dyn CanaryModel>>> + Send>>;

/// A model on this machine that calls a tool, and keeps what it was asked.
pub trait CanaryModel: Send + Sync {
    /// Where it is asked.
    fn upstream(&self) -> Upstream;
    /// The message that makes it call the tool, with arguments in several pieces.
    fn message(&self) -> String;
    /// The body of every request so far.
    fn requests(&self) -> Vec<Value>;
}

/// What the canary of a child has shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CanaryState {
    /// None is played: every turn is taken.
    NotNeeded,
    /// It is being played; turns of real models wait for it, unless they are allowed anyway.
    Checking {
        /// Turns are taken all the same, because the operator wants it.
        allowed: bool,
    },
    /// Every promise is kept.
    Passed {
        /// The account has Codex add a message about commits to each prompt.
        git_attribution: bool,
    },
    /// A promise is broken, or could not be checked.
    Failed {
        /// Which one, and how.
        broken: BrokenPromise,
        /// Turns are taken all the same, because the operator wants it.
        allowed: bool,
    },
}

/// What an untested Codex could break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// The model has the client's tools, and no other.
    Tools,
    /// The model sees the client's messages, and no other text.
    Text,
    /// A turn is one request.
    Requests,
    /// Nothing of a turn is on disk.
    Disk,
    /// A canary could be played to its end.
    Checked,
}

/// A promise that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct BrokenPromise {
    /// Which one.
    pub promise: Promise,
    /// In what way.
    pub reason: Arc<str>,
}

/// One canary: its model, and what Codex is asked to send to it.
struct Canary {
    model: Box<dyn CanaryModel>,
    messages: [(Role, String); 2],
    begun: SystemTime,
}

// === impl CanaryState ===

impl CanaryState {
    /// Whether the child takes turns of real models.
    pub fn permits(&self) -> bool {
        match self {
            Self::NotNeeded | Self::Passed { .. } => true,
            Self::Checking { allowed } | Self::Failed { allowed, .. } => *allowed,
        }
    }

    /// Its name in health answers.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NotNeeded => "not_needed",
            Self::Checking { .. } => "checking",
            Self::Passed { .. } => "passed",
            Self::Failed { .. } => "failed",
        }
    }

    /// The promise that is broken, if one is.
    pub fn broken(&self) -> Option<&BrokenPromise> {
        match self {
            Self::Failed { broken, .. } => Some(broken),
            Self::NotNeeded | Self::Checking { .. } | Self::Passed { .. } => None,
        }
    }

    fn log(&self, took: Duration) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        match self {
            Self::Passed { git_attribution } => {
                tracing::info!(took_ms, git_attribution, "this Codex has passed its canary");
            }
            Self::Failed { broken, allowed } => {
                let promise = broken.promise.as_str();
                let message = "this Codex has failed its canary";
                if *allowed {
                    tracing::warn!(took_ms, promise, reason = %broken, "{message}");
                } else {
                    tracing::error!(took_ms, promise, reason = %broken, "{message}");
                }
            }
            Self::NotNeeded | Self::Checking { .. } => {}
        }
    }

    /// Whether the next canary may have another outcome.
    fn is_unsettled(&self) -> bool {
        match self {
            Self::Checking { .. } => true,
            Self::Failed { broken, allowed } => broken.promise == Promise::Checked && !allowed,
            Self::NotNeeded | Self::Passed { .. } => false,
        }
    }
}

// === impl Promise ===

impl Promise {
    /// Its name in health answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "no_own_tools",
            Self::Text => "no_own_text",
            Self::Requests => "one_request",
            Self::Disk => "nothing_on_disk",
            Self::Checked => "checked",
        }
    }
}

// === impl BrokenPromise ===

impl BrokenPromise {
    fn new(promise: Promise, reason: impl Into<Arc<str>>) -> Self {
        Self { promise, reason: reason.into() }
    }

    fn unchecked(reason: impl Display) -> Self {
        Self::new(Promise::Checked, format!("the canary turn could not be played: {reason}"))
    }
}

// === impl Canary ===

impl Canary {
    fn new(model: Box<dyn CanaryModel>) -> Self {
        let begun = SystemTime::now();
        let nanos = begun.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        // No other text on disk is like it.
        let mark = format!("canary-{}-{nanos}", std::process::id());
        let messages = [(Role::Developer, mark), (Role::User, model.message())];
        Self { model, messages, begun }
    }

    fn request(&self, model: String) -> TurnRequest {
        let history = self.messages.iter().map(|(role, text)| HistoryItem::text(*role, text));
        TurnRequest {
            model,
            history: history.collect(),
            tools: vec![Tool {
                name: TOOL.to_owned(),
                description: String::new(),
                parameters: parameters().into(),
            }],
            upstream: Some(self.model.upstream()),
            ..TurnRequest::default()
        }
    }

    fn check_count(&self) -> Result<(), BrokenPromise> {
        match self.model.requests().len() {
            0 | 1 => Ok(()),
            count => Err(BrokenPromise::new(
                Promise::Requests,
                format!("it asks the model {count} times in one turn"),
            )),
        }
    }

    /// What Codex has made of the turn: of its request, and on disk.
    async fn judge(&self, home: &Path) -> Result<body::Seen, BrokenPromise> {
        self.check_count()?;
        let requests = self.model.requests();
        let body = requests.first().ok_or_else(|| BrokenPromise::unchecked("no request"))?;
        let seen = body::check(body, &self.messages)?;
        let (home, mark, begun) = (home.to_owned(), self.messages[0].1.clone(), self.begun);
        let checked = tokio::task::spawn_blocking(move || disk::check(&home, &mark, begun)).await;
        checked.map_err(BrokenPromise::unchecked)??;
        Ok(seen)
    }
}

// === impl Client ===

impl Client {
    /// Plays canaries until one has shown whether this Codex keeps our promises.
    pub(crate) async fn settle_canary(&self) {
        while self.canary().is_unsettled() && self.play_canary().await.is_unsettled() {
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Plays a turn with a call, which is not counted: its request, its traces on disk and its
    /// fragments in the log are checked.
    pub async fn play_canary(&self) -> CanaryState {
        let Some(config) = &self.config().canary else { return self.canary() };
        let since = Instant::now();
        self.connection().log_trust().begin_check();
        let mut call = None;
        let verdict = match tokio::time::timeout(TIMEOUT, (config.model)()).await {
            Ok(Ok(model)) => self.check_promises(config, &Canary::new(model), &mut call).await,
            Ok(Err(error)) => Err(BrokenPromise::unchecked(error)),
            Err(late) => Err(BrokenPromise::unchecked(late)),
        };
        if self.is_gone() {
            return self.canary();
        }
        let allowed = self.config().allow_untested;
        let state = match verdict {
            Ok(body::Seen { git_attribution }) => CanaryState::Passed { git_attribution },
            Err(broken) => CanaryState::Failed { broken, allowed },
        };
        // One that fails again and again is logged once.
        if state != self.canary() {
            state.log(since.elapsed());
        }
        self.set_canary(state.clone());
        if !state.is_unsettled() {
            self.check_early_arguments(call.as_ref()).await;
        }
        state
    }

    /// Whether every promise is kept; `call` is what the canary's model called.
    async fn check_promises(
        &self,
        config: &CanaryConfig,
        canary: &Canary,
        call: &mut Option<ToolCall>,
    ) -> Result<body::Seen, BrokenPromise> {
        let late = |_| Err(BrokenPromise::unchecked(format!("no end after {TIMEOUT:?}")));
        let played = tokio::time::timeout(TIMEOUT, self.play(config, canary)).await;
        match played.unwrap_or_else(late) {
            Ok(made) => *call = Some(made),
            // A turn without an end may be one in which the model is asked again and again.
            Err(unchecked) => return canary.check_count().and(Err(unchecked)),
        }
        canary.judge(self.home()).await
    }

    /// Plays the canary's turn until Codex has confirmed its end, and returns its call.
    async fn play(
        &self,
        config: &CanaryConfig,
        canary: &Canary,
    ) -> Result<ToolCall, BrokenPromise> {
        let models = self.models().await.map_err(BrokenPromise::unchecked)?;
        let model = config.aliases.default_model(config.default_model.as_deref(), &models);
        let request = canary.request(model.unwrap_or_else(|| DEMO_MODEL.to_owned()));
        let mut turn = self.start_uncounted_turn(request).map_err(BrokenPromise::unchecked)?;
        let mut made = None;
        while let Some(event) = turn.next().await {
            match event {
                TurnEvent::ToolCall(call) => made = Some(call),
                TurnEvent::Failed(failure) => return Err(BrokenPromise::unchecked(failure)),
                _ => {}
            }
        }
        turn.confirmed().await;
        made.ok_or_else(|| BrokenPromise::unchecked("no call"))
    }

    /// Trusts the log if it has the fragments of the canary's call.
    async fn check_early_arguments(&self, call: Option<&ToolCall>) {
        let trust = self.connection().log_trust();
        if !trust.is_checked() {
            return;
        }
        let reason = if let Some(call) = call {
            let witnessed = trust.until_witnessed(&call.call_id, &call.arguments);
            if tokio::time::timeout(FRAGMENTS_TIMEOUT, witnessed).await.is_ok() {
                return trust.gain();
            }
            "Codex's log has no fragments of a call's arguments"
        } else {
            "the canary turn made no call"
        };
        tracing::warn!(reason, "arguments are not streamed: Codex's log was not as expected");
        trust.lose(reason);
    }
}
