//! The canary: one turn after a child's start, which shows whether this Codex keeps our promises.

mod body;
mod disk;
mod state;

pub use state::{BrokenPromise, CanaryState, Promise};

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use model_turn::{HistoryItem, Role, Tool, ToolCall, TurnEvent, TurnRequest, Upstream};
use serde_json::{Value, json};

use crate::catalog::DEMO_MODEL;
use crate::client::Client;
use crate::log_database;
use crate::models::ModelAliases;

/// A canary that has not passed by then has failed, until it passes.
const FAILED_AFTER: Duration = Duration::from_secs(5);

/// For one canary. With a ChatGPT login and a network that does not answer, Codex itself waits for 5 s.
const TIMEOUT: Duration = Duration::from_secs(15);

/// How long a second request is waited for after the canary.
const LATE_REQUESTS: Duration = Duration::from_secs(5);

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

/// One canary: its model, what Codex is asked to send to it, and what was on disk before.
struct Canary {
    model: Box<dyn CanaryModel>,
    messages: [(Role, String); 2],
    /// Found again wherever a message is written down: no other text is like it.
    mark: String,
    files: disk::Files,
    /// What the model has called.
    call: Option<ToolCall>,
}

// === impl Canary ===

impl Canary {
    async fn new(config: &CanaryConfig, home: &Path) -> Result<Self, BrokenPromise> {
        let starting = tokio::time::timeout(TIMEOUT, (config.model)()).await;
        let model = starting.unwrap_or_else(|late| Err(late.into()));
        let model = model.map_err(BrokenPromise::unchecked)?;
        let now = ambient::wall_time().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let mark = format!("canary-{}-{}", std::process::id(), now.as_nanos());
        let request = format!("{} {mark}", model.message());
        let messages = [(Role::Developer, mark.clone()), (Role::User, request)];
        let home = home.to_owned();
        let files = off_thread(move || {
            // Once more, if that was not possible at the start.
            log_database::mute(&home).map_err(BrokenPromise::unchecked)?;
            disk::Files::of(home).map_err(BrokenPromise::unchecked)
        });
        let files = files.await?;
        Ok(Self { model, messages, mark, files, call: None })
    }

    fn request(&self, model: &str) -> TurnRequest {
        let history = self.messages.iter().map(|(role, text)| HistoryItem::text(*role, text));
        TurnRequest {
            model: model.to_owned(),
            history: history.collect(),
            tools: vec![Tool::function(TOOL, "", parameters())],
            upstream: Some(self.model.upstream()),
            ..TurnRequest::default()
        }
    }

    fn check_count(&self) -> Result<(), BrokenPromise> {
        match self.model.requests().len() {
            0 | 1 => Ok(()),
            count => Err(BrokenPromise::new(
                Promise::Requests,
                format!("it makes {count} requests in one turn"),
            )),
        }
    }

    /// What Codex has made of a turn with this model: of its request, and on disk.
    async fn judge(self: &Arc<Self>, model: &str) -> Result<body::Seen, BrokenPromise> {
        self.check_count()?;
        let requests = self.model.requests();
        let body = requests.first().ok_or_else(|| BrokenPromise::unchecked("no request"))?;
        let seen = body::check(body, model, &self.messages)?;
        let canary = Arc::clone(self);
        off_thread(move || canary.check_disk()).await?;
        Ok(seen)
    }

    fn check_disk(&self) -> Result<(), BrokenPromise> {
        let broken = |reason: String| BrokenPromise::new(Promise::Disk, reason);
        match log_database::unmuted(self.files.folder()) {
            Ok(None) => {}
            Ok(Some(reason)) => return Err(broken(reason)),
            Err(error) => return Err(BrokenPromise::unchecked(error)),
        }
        let call = self.call.as_ref().map(|call| call.call_id.as_str());
        let texts: Vec<_> = [self.mark.as_str()].into_iter().chain(call).collect();
        match self.files.written_with(&texts).map_err(BrokenPromise::unchecked)? {
            None => Ok(()),
            Some(file) => Err(broken(format!("it writes messages or calls to its file {file}"))),
        }
    }
}

/// Runs something that waits for the disk.
async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BrokenPromise> + Send + 'static,
) -> Result<T, BrokenPromise> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(BrokenPromise::unchecked(error)))
}

// === impl Client ===

impl Client {
    /// Plays canaries until one has shown whether this Codex keeps our promises.
    pub(crate) async fn settle_canary(&self) {
        while self.canary().is_unsettled() {
            if self.play_canary().await.is_unsettled() {
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    /// Plays a turn with a call, which is not counted: its request, its traces on disk and its
    /// fragments in the log are checked.
    pub async fn play_canary(&self) -> CanaryState {
        let Some(config) = &self.config().canary else { return self.canary() };
        let since = ambient::now();
        self.connection().log_trust().begin_check();
        let late = async {
            tokio::time::sleep(FAILED_AFTER).await;
            let late = BrokenPromise::unchecked(format!("no end after {FAILED_AFTER:?}"));
            self.conclude(Err(late), since);
            std::future::pending().await
        };
        let (verdict, canary) = tokio::select! {
            biased;
            outcome = self.play(config) => outcome,
            never = late => never,
        };
        if self.is_gone() {
            let broken = BrokenPromise::unchecked("Codex has gone");
            return CanaryState::Failed { broken, allowed: false };
        }
        let state = self.conclude(verdict, since);
        if !state.is_unsettled() {
            let call = canary.as_ref().and_then(|canary| canary.call.as_ref());
            self.check_early_arguments(call).await;
        }
        if let (CanaryState::Passed { .. }, Some(canary)) = (&state, canary) {
            self.spawn(self.clone().await_late_requests(canary));
        }
        state
    }

    fn conclude(&self, verdict: Result<body::Seen, BrokenPromise>, since: Instant) -> CanaryState {
        let allowed = self.config().allow_untested;
        let state = match verdict {
            Ok(body::Seen { git_attribution }) => CanaryState::Passed { git_attribution },
            Err(broken) => CanaryState::Failed { broken, allowed },
        };
        // One that fails again and again is logged once.
        if state != self.canary() {
            state.log(ambient::since(since));
        }
        self.set_canary(state.clone());
        state
    }

    /// Whether every promise is kept, and the canary, if it could be started.
    async fn play(
        &self,
        config: &CanaryConfig,
    ) -> (Result<body::Seen, BrokenPromise>, Option<Arc<Canary>>) {
        let mut canary = match Canary::new(config, self.home()).await {
            Ok(canary) => canary,
            Err(unchecked) => return (Err(unchecked), None),
        };
        let turn = tokio::time::timeout(TIMEOUT, self.play_turn(config, &mut canary)).await;
        let canary = Arc::new(canary);
        let verdict = match turn {
            Ok(Ok(model)) => canary.judge(&model).await,
            // A turn without an end may be one in which the model is asked again and again.
            Ok(Err(unchecked)) => canary.check_count().and(Err(unchecked)),
            Err(late) => canary.check_count().and(Err(BrokenPromise::unchecked(late))),
        };
        (verdict, Some(canary))
    }

    /// Plays the canary's turn until Codex has confirmed its end, and returns its model.
    async fn play_turn(
        &self,
        config: &CanaryConfig,
        canary: &mut Canary,
    ) -> Result<String, BrokenPromise> {
        let models = self.models().await.map_err(BrokenPromise::unchecked)?;
        let default = |configured| config.aliases.default_model(configured, &models);
        // `demo` is not a model whose promises are worth anything.
        let model = default(config.default_model.as_deref()).filter(|model| model != DEMO_MODEL);
        let model = model.or_else(|| default(None)).unwrap_or_else(|| DEMO_MODEL.to_owned());
        let turn = self.start_uncounted_turn(canary.request(&model));
        let mut turn = turn.map_err(BrokenPromise::unchecked)?;
        while let Some(event) = turn.next().await {
            match event {
                TurnEvent::ToolCall(call) => canary.call = Some(call),
                TurnEvent::Failed(failure) => return Err(BrokenPromise::unchecked(failure)),
                _ => {}
            }
        }
        turn.confirmed().await;
        match canary.call {
            Some(_) => Ok(model),
            None => {
                Err(BrokenPromise::unchecked("the model was not understood as it calls a tool"))
            }
        }
    }

    /// A second request may come after the turn.
    async fn await_late_requests(self, canary: Arc<Canary>) {
        tokio::select! {
            biased;
            _ = self.until_gone() => {}
            () = tokio::time::sleep(LATE_REQUESTS) => {
                if let Err(broken) = canary.check_count() {
                    self.conclude(Err(broken), ambient::now());
                }
            }
        }
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
