//! One request to the model, and everything that comes back.

pub(crate) mod channel;
pub(crate) mod driver;
mod early_calls;
pub mod event;
mod keeping;
mod machine;
pub(crate) mod plain_delta;
pub(crate) mod plan;
pub(crate) mod router;
pub(crate) mod set_up;
mod streamed;
pub(crate) mod thread_event;
pub(crate) mod thread_link;
pub(crate) mod threads_ahead;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use machine::PendingCall;
pub use machine::TurnLimits;

use crate::continuity::Continued;
use crate::failure::{Failure, FailureKind};
use crate::history::{HistoryItem, InvalidHistory, Tool};
use channel::EventReceiver;
use event::TurnEvent;
use thread_link::ThreadLink;

/// What the model is asked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TurnRequest {
    /// Slug of the model.
    pub model: String,
    /// A developer message in front of everything else; empty for none.
    pub instructions: String,
    /// The conversation so far.
    pub history: Vec<HistoryItem>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// Reasoning effort, as the model names it.
    pub effort: Option<String>,
    /// Reasoning summary: `auto`, `concise`, `detailed` or `none`.
    pub summary: Option<String>,
    /// How many words the model should make: `low`, `medium` or `high`.
    pub verbosity: Option<String>,
    /// How the upstream should process it, such as `priority`.
    pub service_tier: Option<String>,
    /// JSON schema that the answer must follow.
    pub output_schema: Option<Value>,
    /// Where to send it instead of the login's own upstream.
    pub upstream: Option<Upstream>,
    /// Whether the arguments of its calls are wanted as the model writes them, where the child's log
    /// has them: [`TurnEvent::ToolCallStart`].
    pub early_arguments: bool,
    /// Whose conversation it is, if it may go on in the thread of an earlier turn of the same owner's,
    /// and leave its own to a later one: see [`Turn::keep`].
    pub owner: Option<Arc<str>>,
}

/// Another upstream that speaks the Responses API.
///
/// The login is never sent to it.
#[derive(Clone, PartialEq, Eq)]
pub struct Upstream {
    /// Up to and without `/responses`.
    pub base_url: String,
    /// Bearer key, if it wants one.
    pub api_key: Option<String>,
}

/// What can be chosen about a turn. It stays as it is while the turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnOptions {
    /// Time limits.
    pub limits: TurnLimits,
    /// Retries of a turn that failed before any output.
    pub retries: u32,
    /// Most bytes of events that wait for the consumer.
    pub max_waiting_bytes: usize,
}

/// What a turn has of its consumer's.
pub struct Consumer {
    /// Dropped when the turn has ended, however slowly its events are read, or when the consumer
    /// leaves, however slowly Codex sets the turn up.
    pub held: Box<dyn Send + Sync>,
    /// Cancelled when the turn is ended because its events are not read: at once, and not only when
    /// the consumer comes to read that.
    pub overflow: CancellationToken,
}

/// A turn that Codex would not take as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidTurn {
    /// An item of the history.
    #[error(transparent)]
    History(#[from] InvalidHistory),
    /// Two tools of one name.
    #[error("two tools are named {0:?}")]
    DuplicateTool(String),
    /// The parameters of a tool are no JSON schema object.
    #[error("the parameters of the tool {0:?} are not a JSON object")]
    ToolParameters(String),
    /// Nothing to answer.
    #[error("the history and the instructions are empty")]
    Empty,
}

/// A running turn: a stream of events that always ends in exactly one last event.
///
/// Dropping it interrupts the turn and lets Codex forget the thread.
pub struct Turn {
    events: EventReceiver,
    control: watch::Sender<Command>,
    link: Arc<ThreadLink>,
    ended: bool,
    /// The upstream's key, which no failure may tell.
    secret: Option<String>,
}

/// What the consumer wants of its turn; gone when the consumer has gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Run,
    Interrupt,
}

// === impl Consumer ===

impl Default for Consumer {
    fn default() -> Self {
        Self { held: Box::new(()), overflow: CancellationToken::new() }
    }
}

impl std::fmt::Debug for Consumer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Consumer").field("overflow", &self.overflow).finish_non_exhaustive()
    }
}

// === impl Turn ===

impl Turn {
    pub(crate) fn new(
        events: EventReceiver,
        control: watch::Sender<Command>,
        link: Arc<ThreadLink>,
        secret: Option<String>,
    ) -> Self {
        Self { events, control, link, ended: false, secret }
    }

    /// The next event; `None` after the last one.
    ///
    /// Cancel safe: an event is not lost if the returned future is dropped.
    pub async fn next(&mut self) -> Option<TurnEvent> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// [`Self::next`] for those who write a future or a stream of their own.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<TurnEvent>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let mut event = ready!(self.events.poll_recv(context)).unwrap_or_else(|| {
            // Only a panic in the task behind the turn leads here.
            let words = "the turn ended without a last event";
            TurnEvent::Failed(Failure::new(FailureKind::Unexpected, words))
        });
        self.ended = event.is_last();
        if let (TurnEvent::Failed(failure), Some(secret)) = (&mut event, &self.secret) {
            failure.hide(secret);
        }
        Poll::Ready(Some(event))
    }

    /// Waits until Codex has confirmed the end of the turn, which comes after the last event.
    pub(crate) async fn confirmed(&mut self) {
        while poll_fn(|context| self.events.poll_recv(context)).await.is_some() {}
    }

    /// Whether the last event was handed out.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// How it got its thread. That can change until its first event.
    pub fn continued(&self) -> Continued {
        self.link.continued()
    }

    /// Keeps its thread for the next request of the same conversation, which can then go on in it.
    ///
    /// For whoever has passed on everything that the model said, once its response has ended; what was
    /// said is compared in any case. Nothing is kept of a turn that did not end by itself.
    pub fn keep(&self) {
        self.link.keep();
    }

    /// Asks Codex to stop. Events go on until it has, and the last one is the turn's end.
    pub fn interrupt(&self) {
        self.control.send_replace(Command::Interrupt);
    }
}

impl std::fmt::Debug for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Turn").field("ended", &self.ended).finish_non_exhaustive()
    }
}

// === impl Upstream ===

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let key = self.api_key.as_ref().map(|_| "(hidden)");
        f.debug_struct("Upstream").field("base_url", &self.base_url).field("api_key", &key).finish()
    }
}
