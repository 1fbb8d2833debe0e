//! Options for the habits of a backend.

/// How repeated events are distinguished from new ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RepeatPolicy {
    /// By the wire alone: sequence numbers, identities, and the kind of an event. An increment is
    /// never dropped for looking like the one before it.
    #[default]
    ByIdentity,
    /// Besides, a payload identical to the one just ingested for the same call changes nothing.
    /// For transports that can deliver an event twice; it loses the second of two equal increments
    /// (`}` `}`) where events carry no sequence number.
    DropImmediateRepeats,
}

/// What the fragments of a backend are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FragmentMode {
    /// Each fragment continues the arguments, as OpenAI's do.
    #[default]
    Increments,
    /// Each fragment is everything so far.
    Cumulative,
}

/// What to do with calls that a message holds as text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextCalls {
    /// Leave them in the text.
    #[default]
    Ignore,
    /// Take them as calls, if the choice has no structured ones.
    EmitIfMissing,
}
