//! One request to the model, and everything that comes back.

pub(crate) mod channel;
pub(crate) mod driver;
mod early_calls;
mod keeping;
mod machine;
pub(crate) mod plain_delta;
pub(crate) mod plan;
pub(crate) mod router;
pub(crate) mod set_up;
mod streamed;
pub(crate) mod thread_event;
pub(crate) mod thread_link;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use model_turn::{Failure, FailureKind, TurnEvent};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub(crate) use machine::PendingCall;
pub use machine::TurnLimits;

use crate::continuity::Continued;
use channel::EventReceiver;
use thread_link::ThreadLink;

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

// === impl TurnOptions ===

impl Default for TurnOptions {
    fn default() -> Self {
        Self { limits: TurnLimits::default(), retries: 2, max_waiting_bytes: 64 * 1024 * 1024 }
    }
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
            failure.redact(secret);
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
