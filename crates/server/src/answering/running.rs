//! Starting the turns of a request.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use bridge::{Prepared, Tokenizer, TurnPolicy};
use codex_app_server::{Consumer, Turn};
use openai_wire::{ApiError, ErrorType};
use store::Store;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;
use tool_call_aggregator::SuffixSource;

use super::failure_context::{FailureContext, Login};
use super::incoming::{Incoming, aside};
use super::random_text;
use super::turn_log::TurnLog;
use crate::api::{Backend, TurnApi};
use crate::captures::{Draft, RecordedApi, Recording};
use crate::client_name::client_name;
use crate::connections::Hangup;
use crate::gate::{Fate, page_address};
use crate::headers::{
    X_CODEX_STOP_AFTER_TOOLS_MODE, X_PROXY_IGNORED_PARAMS, X_PROXY_MODEL, X_PROXY_OUTPUT_MODE,
};
use crate::kept_reasoning::ReasoningScope;
use crate::large_bodies::LargeBodies;
use crate::request_info::RequestInfo;
use crate::tokens;

/// A request that is understood.
pub(crate) struct Understood {
    pub(crate) prepared: Prepared,
    /// Where its reasoning is kept, if it is.
    pub(crate) reasoning: Option<ReasoningScope>,
    /// The answer's id, and when it was made.
    pub(crate) id: String,
    pub(crate) created: u64,
    /// What a record of it needs to know.
    pub(crate) recorded: RecordedApi,
    /// Set by another request that ends it.
    pub(crate) cancelled: Option<CancellationToken>,
}

/// A request whose turns are running.
pub(crate) struct Running {
    pub(crate) request: Arc<RequestInfo>,
    pub(crate) policy: Arc<TurnPolicy>,
    /// Makes what is unique about an answer's parts.
    pub(crate) suffix: SuffixSource,
    pub(super) tokenizer: Option<Arc<dyn Tokenizer>>,
    /// One for each choice, `None` once that has ended; none at all once they are reported.
    pub(super) turns: Vec<Option<Turn>>,
    /// Set by another request that ends this one.
    pub(super) cancelled: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    /// The client's connection.
    pub(super) hangup: Hangup,
    pub(super) recording: Option<Arc<Recording>>,
    pub(super) keep_alive: Option<Duration>,
    pub(super) tasks: TaskTracker,
    pub(super) failures: FailureContext,
    pub(super) log: TurnLog,
}

// === impl Incoming ===

impl Incoming {
    /// Starts the turns.
    pub(crate) async fn start(
        mut self,
        api: &TurnApi,
        understood: Understood,
    ) -> Result<Running, ApiError> {
        let Understood { mut prepared, reasoning, id, created, recorded, cancelled } = understood;
        let backend = Backend::ready(&api.backend).await?;
        if !prepared.images_to_fetch.is_empty() {
            prepared = self.fetch_images(&api.large, backend, prepared).await?;
        }
        let mut tokenizer = match prepared.policy.max_tokens {
            Some(_) => Some(tokens::tokenizer().await.map_err(|error| no_tokenizer(&error))?),
            None => None,
        };
        // Held by the turns themselves: a client that does not read holds nobody else up.
        let slots = Arc::new(api.take_places(&self.caller, prepared.choices).await?);
        drop(self.room.take());

        let reasoning = reasoning.map(|scope| (scope, prepared.question()));
        let Prepared { turn, policy, choices, stream, include_usage, ignored, model, .. } =
            prepared;
        let policy = Arc::new(policy);
        let request = Arc::new(RequestInfo {
            id: std::mem::take(&mut self.request_id),
            trace: self.trace,
            endpoint: self.endpoint,
            key: self.caller.clone(),
            client: client_name(&self.parts.headers),
            model,
            backend_model: turn.model.clone(),
            answer_id: id,
            created,
            choices,
            stream,
            include_usage,
            mode: policy.mode,
            stop_after_tools: policy.stop_after_tools,
            settings: Arc::clone(&self.settings.differing),
            ignored,
            received: self.received,
            admitted: ambient::now(),
        });
        let login = turn.upstream.is_none().then(|| Login {
            account: backend.account.clone(),
            page: page_address(&self.parts.headers),
        });

        let recording = self.settings.captures.as_ref().and_then(|captures| {
            let draft = Draft {
                request: Arc::clone(&request),
                time: jiff::Timestamp::try_from(ambient::wall_time()).unwrap_or_default(),
                codex: backend.pool.client().map(|client| client.version().to_string()),
                requested_mode: self.headers.mode.clone(),
                policy: Arc::clone(&policy),
                api: recorded,
                body: self.body.clone(),
            };
            Recording::begin(&api.captures, captures, draft)
        });
        let mut suffix: SuffixSource = Arc::new(|| random_text(24));
        if let Some(recording) = &recording {
            suffix = Recording::suffixes(recording, suffix);
            tokenizer = tokenizer.map(|tokenizer| Recording::tokenizer(recording, tokenizer));
        }

        let hangup = self.parts.extensions.get::<Hangup>().cloned().unwrap_or_default();
        // A whole answer is read by us: its client has nothing to do with how fast that is.
        let overflow = if stream { hangup.0.clone() } else { CancellationToken::new() };
        let turns = std::iter::repeat_n(turn, choices as usize).map(|turn| {
            let (held, overflow) = (Box::new(Arc::clone(&slots)), overflow.clone());
            let consumer = Consumer { held, overflow };
            let started = backend.pool.start_turn_with(turn, self.settings.turn_options, consumer);
            started
                .map(Some)
                .map_err(|invalid| bridge::invalid_turn(&invalid, self.endpoint.conversation()))
        });
        let turns = turns.collect::<Result<_, _>>()?;
        let watched = (0..choices).map(|choice| api.recent.begin(&request, choice)).collect();
        let log = TurnLog {
            request: Arc::clone(&request),
            metrics: Arc::clone(&api.metrics),
            usage: api.database.as_ref().ok().map(Store::usage),
            fate: self.parts.extensions.get::<Fate>().cloned().unwrap_or_default(),
            content: self.settings.content_log,
            traces: api.traces.get().filter(|_| request.trace.sampled).cloned(),
            reasoning,
            recent: Arc::clone(&api.recent),
            watched,
        };
        Ok(Running {
            request,
            policy,
            suffix,
            tokenizer,
            turns,
            cancelled: cancelled.map(|token| Box::pin(token.cancelled_owned())),
            hangup,
            recording,
            keep_alive: self.settings.keep_alive,
            tasks: api.tasks.clone(),
            failures: FailureContext { states: backend.pool.states(), login },
            log,
        })
    }

    /// As if the request had held them itself.
    async fn fetch_images(
        &mut self,
        large: &LargeBodies,
        backend: &Backend,
        mut prepared: Prepared,
    ) -> Result<Prepared, ApiError> {
        self.make_room(large, usize::MAX).await?;
        let most_bytes = self.settings.body.bytes.saturating_sub(self.body.len());
        let images = backend.images.fetch(&prepared.images_to_fetch, most_bytes).await?;
        aside(move || prepared.put_images(images).map(|()| prepared)).await
    }
}

// === impl Running ===

impl Running {
    /// What is known before the first event of a turn.
    pub(super) fn headers(&self) -> HeaderMap {
        let RequestInfo { mode, stop_after_tools, backend_model, ignored, .. } = &*self.request;
        let mut headers = HeaderMap::with_capacity(20);
        headers.insert(X_PROXY_OUTPUT_MODE, HeaderValue::from_static(mode.as_str()));
        let stop_mode = HeaderValue::from_static(stop_after_tools.as_str());
        headers.insert(X_CODEX_STOP_AFTER_TOOLS_MODE, stop_mode);
        if let Ok(model) = HeaderValue::from_str(backend_model) {
            headers.insert(X_PROXY_MODEL, model);
        }
        if !ignored.is_empty()
            && let Ok(ignored) = HeaderValue::from_str(&ignored.join(", "))
        {
            headers.insert(X_PROXY_IGNORED_PARAMS, ignored);
        }
        headers
    }
}

fn no_tokenizer(error: &tokio::task::JoinError) -> ApiError {
    tracing::error!(%error, "the tokenizer could not be loaded");
    ApiError::new(500, ErrorType::ServerError, "The tokenizer could not be loaded.")
}
