//! What bounds a turn, and what its machine wants done.

use std::collections::VecDeque;
use std::time::Duration;

use model_turn::TurnEvent;
use serde_json::value::RawValue;

use crate::continuity::kept_thread::{Said, ThreadState};
use crate::ids::TurnId;
use crate::stats::Counter;

/// Time limits of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TurnLimits {
    /// For the whole turn, retries included.
    pub timeout: Duration,
    /// Without any event of Codex.
    pub idle_timeout: Duration,
    /// Silence with calls pending before they are probed; `None` never probes.
    ///
    /// While a call waits for its answer, Codex reports no failure of the stream behind it. An
    /// answer brings it out; a stream that is alive goes on.
    pub probe_after: Option<Duration>,
}

/// What a turn takes from the child's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogUse {
    Nothing,
    /// The text of a refusal, which Codex withholds.
    Refusals,
    /// That, and the arguments of calls as the model writes them.
    Everything,
}

/// What is to be done, in order.
pub(crate) type Steps = VecDeque<Step>;

/// A call that Codex waits for.
#[derive(Debug)]
pub(crate) struct PendingCall {
    pub(crate) call_id: String,
    /// The id of Codex's request.
    pub(crate) request: Box<RawValue>,
}

/// Something that the owner of the machine has to do.
#[derive(Debug)]
pub(crate) enum Step {
    /// Hand an event to the consumer.
    Emit(TurnEvent),
    /// Interrupt the turn, before anything else happens in it.
    Interrupt(TurnId),
    /// Interrupt the turn when there is time: nothing happens in it.
    InterruptLater(TurnId),
    /// Answer a pending `item/tool/call` with an error.
    RejectCall(Box<RawValue>),
    /// Say what there is in the thread, which can be gone on from.
    Say(Said),
    /// Say where the thread stands.
    Settle(ThreadState),
    /// Let Codex unload the thread; the machine is done.
    Unsubscribe,
    /// Take nothing from the child's log any more: it has contradicted standard output.
    DistrustLog(&'static str),
    /// A call is whole that was begun so much earlier.
    HeadStart(Duration),
    /// Count something.
    Count(Counter),
}
