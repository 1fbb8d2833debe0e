//! Inputs of an answer, and what its driver must supply.

use std::time::Instant;

use model_turn::TurnEvent;
use openai_wire::Usage;

use crate::finish::EndReason;

/// An input of an [`crate::Answer`]: with its random ids and token counts, all that decides about it.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// An event of a choice's turn.
    Event {
        /// The choice.
        choice: u32,
        /// The event.
        event: TurnEvent,
    },
    /// The deadline of a choice has passed: [`crate::Answer::is_due`].
    Deadline {
        /// The choice.
        choice: u32,
    },
    /// The head of a stream is sent: a later failure is a frame.
    Head,
    /// A stream has been silent for too long.
    Silence,
    /// Another request than its own ends it.
    Cancel,
    /// The client takes no more; choices that have not ended do so for this reason.
    Abandon(EndReason),
    /// The answer to [`Want::Settlement`].
    Settle {
        /// Token counts, if the client wants them.
        usage: Option<Usage>,
        /// The time, in seconds since 1970.
        at: u64,
    },
    /// The answer to [`Want::Storage`].
    Stored(bool),
}

/// What an answer waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Events of its turns, or the time.
    Events,
    /// [`Input::Settle`]: its turns are over.
    Settlement,
    /// [`Input::Stored`]: it is complete, and its end waits until it is stored.
    Storage,
    /// Nothing: it has ended.
    Nothing,
}

/// What becomes of the turn of a choice that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// It is interrupted.
    Interrupt,
    /// It ends by itself.
    LetEnd,
    /// The same, and its thread is kept: the client got everything that the model wrote.
    Keep,
}

/// Timestamps of an answer's milestones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Milestones {
    /// The first event of a turn.
    pub first_event: Option<Instant>,
    /// The first content, and the choice that has it.
    pub first_token: Option<(u32, Instant)>,
}
