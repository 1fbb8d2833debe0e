//! Starting the turns of a request.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::http::{HeaderMap, HeaderValue};
use bridge::{Prepared, Reply, TurnPolicy};
use codex_app_server::Consumer;
use openai_wire::{ApiError, ErrorType};
use tokio_util::sync::CancellationToken;
use tool_call_aggregator::SuffixSource;

use super::failure_context::{FailureContext, WhoIsAsked};
use super::incoming::{Incoming, aside};
use super::random_text;
use super::session::Session;
use super::turn_log::{TurnLog, WatchedTurns};
use crate::api::Api;
use crate::captures::{BegunResponse, Draft, Recording};
use crate::client_name::client_name;
use crate::connections::Hangup;
use crate::gate::{Fate, page_address};
use crate::headers::{
    X_CODEX_STOP_AFTER_TOOLS_MODE, X_PROXY_IGNORED_PARAMS, X_PROXY_MODEL, X_PROXY_OUTPUT_MODE,
};
use crate::kept_reasoning::ReasoningScope;
use crate::models::Chosen;
use crate::recent_turns::{TurnRow, TurnState};
use crate::tokens;

/// Where turns are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Endpoint {
    Chat,
    Responses,
}

/// A request that is understood.
pub(crate) struct Asked {
    pub(crate) endpoint: Endpoint,
    pub(crate) prepared: Prepared,
    /// What its model really is.
    pub(crate) chosen: Chosen,
    /// The answer's id, and when it was made.
    pub(crate) id: String,
    pub(crate) created: u64,
    /// What a record of it needs to know if it is a response.
    pub(crate) response: Option<BegunResponse>,
    /// Ends it, if anybody can beside its client.
    pub(crate) cancelled: Option<CancellationToken>,
}

/// A request whose turns are running.
pub(crate) struct Running {
    pub(crate) stream: bool,
    pub(crate) include_usage: bool,
    pub(crate) policy: Arc<TurnPolicy>,
    pub(crate) choices: u32,
    pub(crate) session: Session,
    pub(crate) log: Arc<TurnLog>,
    /// What is known before the turns have said anything.
    pub(crate) headers: HeaderMap,
    pub(crate) id: String,
    pub(crate) created: u64,
    pub(crate) keep_alive: Option<Duration>,
    /// Makes what is unique about an answer's parts.
    pub(crate) suffix: SuffixSource,
}

// === impl Endpoint ===

impl Endpoint {
    /// As logs and the usage tell it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Responses => "responses",
        }
    }

    /// The member of a request that holds the conversation.
    fn conversation(self) -> &'static str {
        match self {
            Self::Chat => "messages",
            Self::Responses => "input",
        }
    }

    /// The member of a request that says how hard the model should think.
    pub(super) fn effort(self) -> &'static str {
        match self {
            Self::Chat => "reasoning_effort",
            Self::Responses => "reasoning.effort",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Responses => "/v1/responses",
        }
    }
}

// === impl Incoming ===

impl Incoming {
    /// Starts the turns.
    pub(crate) async fn start(mut self, api: &Api, asked: Asked) -> Result<Running, ApiError> {
        let Asked { endpoint, mut prepared, chosen, id, created, response, cancelled } = asked;
        let backend = api.backend().await?;
        let settings = Arc::clone(&self.settings);
        if !prepared.images_to_fetch.is_empty() {
            // As if the request had held them itself.
            self.make_room(api, usize::MAX).await?;
            let most_bytes = settings.body.bytes.saturating_sub(self.body.len());
            let images = backend.images.fetch(&prepared.images_to_fetch, most_bytes).await?;
            prepared = aside(api, move || prepared.put_images(images).map(|()| prepared)).await?;
        }
        let reasoning = settings.keep_reasoning.map(|most_bytes| {
            let scope = ReasoningScope {
                kept: Arc::clone(&api.0.reasoning),
                most_bytes,
                caller: self.caller.clone(),
                origin: chosen.origin,
                question: prepared.question(),
            };
            prepared.recall_reasoning(|call_id, question| scope.recall(call_id, question));
            scope
        });
        let Prepared {
            mut turn, policy, choices, stream, include_usage, mut ignored, model, ..
        } = prepared;
        ignored.extend(chosen.ignored.map(str::to_owned));
        turn.model.clone_from(&chosen.model);
        turn.effort = chosen.effort;
        let who_is_asked = match &chosen.upstream {
            Some(_) => WhoIsAsked::Own,
            None => WhoIsAsked::OfLogin { page: page_address(&self.parts.headers) },
        };
        turn.upstream = chosen.upstream;
        // Only one of several choices could be gone on from.
        turn.owner = (self.continuity && choices == 1).then(|| self.caller.id().into());

        let tokenizer = match policy.max_tokens {
            Some(_) => {
                Some(tokens::tokenizer(&api.0.tasks).await.map_err(|error| no_tokenizer(&error))?)
            }
            None => None,
        };
        // Held by the turns themselves: a client that does not read holds nobody else up.
        let places = Arc::new(api.take_places(&self.caller, choices).await?);
        drop(self.room.take());
        let admitted = Instant::now();
        let policy = Arc::new(policy);
        let recording = settings.captures.as_ref().and_then(|captures| {
            let draft = Draft {
                endpoint,
                time: jiff::Timestamp::now(),
                request_id: self.request_id.clone(),
                codex: backend.pool.client().map(|client| client.version().to_string()),
                requested_mode: self.headers.mode.clone(),
                settings: Arc::clone(&settings.differing),
                model: model.clone(),
                backend_model: chosen.model.clone(),
                stream,
                include_usage,
                choices,
                id: id.clone(),
                created,
                policy: Arc::clone(&policy),
                response,
                body: self.body.clone(),
            };
            Recording::begin(&api.0.captures, captures, draft)
        });
        let mut suffix: SuffixSource = Arc::new(|| random_text(24));
        let mut tokenizer = tokenizer;
        if let Some(recording) = &recording {
            suffix = Recording::suffixes(recording, suffix);
            tokenizer = tokenizer.map(|tokenizer| Recording::tokenizer(recording, tokenizer));
        }
        let hangup = self.parts.extensions.get::<Hangup>().cloned().unwrap_or_default();
        // A whole answer is read by us: its client has nothing to do with how fast that is.
        let overflow = if stream { hangup.0.clone() } else { CancellationToken::new() };
        let mut turns = Vec::new();
        for (choice, request) in (0..choices).zip(std::iter::repeat_n(turn, choices as usize)) {
            let consumer =
                Consumer { held: Box::new(Arc::clone(&places)), overflow: overflow.clone() };
            let turn = backend
                .pool
                .start_turn_with(request, settings.turn_options, consumer)
                .map_err(|invalid| bridge::invalid_turn(&invalid, endpoint.conversation()))?;
            let reply =
                Reply::new(Arc::clone(&policy), choice, tokenizer.clone(), Arc::clone(&suffix));
            turns.push((turn, reply));
        }
        let trace = self.trace;
        let begun = TurnRow {
            number: 0,
            id: String::new(),
            started_at: millis_since_1970(self.received),
            endpoint: endpoint.as_str(),
            key: self.caller.name().to_owned(),
            client: client_name(&self.parts.headers),
            model: model.clone(),
            backend_model: chosen.model.clone(),
            stream,
            output_mode: policy.mode.as_str(),
            state: TurnState::Running,
        };
        let number = |choice| {
            let id = format!("{}/{choice}", self.request_id);
            api.0.recent.begin(TurnRow { id, ..begun.clone() })
        };
        let watched = WatchedTurns {
            numbers: (0..choices).map(number).collect(),
            recent: Arc::clone(&api.0.recent),
        };
        let log = Arc::new(TurnLog {
            request_id: self.request_id,
            trace,
            endpoint,
            key: self.caller,
            model,
            backend_model: chosen.model,
            streamed: stream,
            mode: policy.mode,
            stop_after_tools: policy.stop_after_tools,
            settings: Arc::clone(&settings.differing),
            ignored: ignored.join(","),
            received: self.received,
            admitted,
            metrics: Arc::clone(&api.0.metrics),
            usage: api.0.usage.as_ref().ok().cloned(),
            fate: self.parts.extensions.get::<Fate>().cloned().unwrap_or_default(),
            content: settings.content_log,
            traces: api.0.traces.get().filter(|_| trace.sampled).cloned(),
            reasoning,
            watched,
            failures: FailureContext { api: api.clone(), asked: who_is_asked },
        });
        let tasks = api.0.tasks.clone();
        Ok(Running {
            stream,
            include_usage,
            choices,
            headers: common_headers(&policy, &log, &ignored),
            session: Session::new(turns, hangup, cancelled, tasks, Arc::clone(&log), recording),
            policy,
            id,
            created,
            keep_alive: settings.keep_alive,
            log,
            suffix,
        })
    }
}

/// What is known before the turns have said anything.
fn common_headers(policy: &TurnPolicy, log: &TurnLog, ignored: &[String]) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(20);
    let stop_mode = policy.stop_after_tools.as_str();
    headers.insert(X_PROXY_OUTPUT_MODE, HeaderValue::from_static(policy.mode.as_str()));
    headers.insert(X_CODEX_STOP_AFTER_TOOLS_MODE, HeaderValue::from_static(stop_mode));
    if let Ok(model) = HeaderValue::from_str(&log.backend_model) {
        headers.insert(X_PROXY_MODEL, model);
    }
    if !ignored.is_empty()
        && let Ok(ignored) = HeaderValue::from_str(&ignored.join(", "))
    {
        headers.insert(X_PROXY_IGNORED_PARAMS, ignored);
    }
    headers
}

fn millis_since_1970(at: Instant) -> u64 {
    let at = SystemTime::now() - at.elapsed();
    let elapsed = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

fn no_tokenizer(error: &tokio::task::JoinError) -> ApiError {
    tracing::error!(%error, "the tokenizer could not be loaded");
    ApiError::new(500, ErrorType::ServerError, "The tokenizer could not be loaded.")
}

pub(crate) fn unwritable(error: &serde_json::Error) -> ApiError {
    tracing::error!(%error, "an answer could not be written");
    ApiError::new(500, ErrorType::ServerError, "The answer could not be written as JSON.")
}
