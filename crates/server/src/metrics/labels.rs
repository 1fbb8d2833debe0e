//! The labels of metrics. Each has few values, whatever clients and models say.

use std::fmt::{self, Write as _};

use bridge::EndReason;
use codex_app_server::{Continued, FreshReason, StatsSnapshot, WorkerState};
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};

use crate::turn_queue::Refusal;

/// The names of a set of labels.
pub(super) trait LabelNames {
    const NAMES: &'static [&'static str];
}

macro_rules! labels {
    ($($(#[doc = $doc:literal])* $set:ident { $($label:ident: $type:ty),+ })*) => {$(
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
        pub(super) struct $set {
            $(pub(super) $label: $type,)+
        }

        impl LabelNames for $set {
            const NAMES: &'static [&'static str] = &[$(stringify!($label)),+];
        }
    )*};
}

labels! {
    RequestEnd { route: Route, status: Status, outcome: Outcome }
    RequestRoute { route: Route }
    RefusalReason { reason: Refused }
    ConnectionRefusal { reason: String }
    TurnEnd { end: &'static str }
    CutReason { reason: &'static str }
    FailedPart { kind: &'static str }
    /// How a turn got its thread, and why it got a fresh one.
    ThreadOrigin { continuity: &'static str, reason: &'static str }
    /// Where a thread stands that is kept.
    KeptState { state: &'static str }
    /// How the model said a call, and how it was sent.
    Source { source: &'static str, mode: &'static str }
    Block { state: &'static str }
    /// What was made of the input of a custom tool.
    Deviation { input: &'static str }
    TokenKind { kind: &'static str }
    AllowanceWindow { window: &'static str }
    ChildState { state: &'static str }
    /// Whether a child's log is used for early arguments.
    LogState { state: &'static str }
    /// How a call was forwarded.
    CallDelivery { delivery: &'static str }
    CodexMethod { method: &'static str }
    Incident { kind: &'static str }
    Build { version: &'static str, codex: String }
}

/// Where a request went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Route {
    /// A path of the API, which is also under `/v1`.
    Api(&'static str),
    /// Any other path that there is.
    Other(&'static str),
    /// None that there is.
    Unknown,
}

/// The status of an answer; `None` where there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Status(Option<u16>);

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// It was answered to the end.
    Ok,
    /// It was answered with an error that is the client's.
    Refused,
    /// It was answered with an error that is ours or the upstream's, in its status or in its stream.
    Failed,
    /// The client has left before the end.
    ClientGone,
    /// The client did not take its answer.
    SlowClient,
}

/// Why a request that is right was not let in. Each has its error's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Refused {
    QueueFull,
    TooManyTurns,
    TooManyLargeRequests,
    RateLimitExceeded,
    ShuttingDown,
}

// === impl RequestEnd ===

impl RequestEnd {
    pub(super) fn new(route: Route, status: Option<u16>, outcome: Outcome) -> Self {
        Self { route, status: Status(status), outcome }
    }
}

// === impl TurnEnd ===

impl TurnEnd {
    pub(super) fn of(end: EndReason) -> Self {
        Self { end: end.as_str() }
    }
}

// === impl CutReason ===

impl CutReason {
    pub(super) fn of(end: EndReason) -> Self {
        Self { reason: end.as_str() }
    }
}

// === impl ThreadOrigin ===

impl ThreadOrigin {
    pub(super) fn of(continued: Continued) -> Self {
        let reason = continued.fresh_reason().map_or("none", FreshReason::as_str);
        Self { continuity: continued.as_str(), reason }
    }
}

// === impl ChildState ===

impl ChildState {
    pub(super) const ALL: [Self; 5] = [
        Self { state: "starting" },
        Self { state: "ready" },
        Self { state: "untested" },
        Self { state: "restarting" },
        Self { state: "stopped" },
    ];

    pub(super) fn of(state: &WorkerState) -> Self {
        let state = match state {
            WorkerState::Starting => "starting",
            WorkerState::Ready { canary, .. } if canary.permits() => "ready",
            WorkerState::Ready { .. } => "untested",
            WorkerState::Restarting { .. } => "restarting",
            WorkerState::Stopped => "stopped",
        };
        Self { state }
    }
}

// === impl Incident ===

impl Incident {
    /// Those that are not metrics of their own.
    pub(super) fn all(stats: &StatsSnapshot) -> [(Self, u64); 10] {
        [
            ("retry", stats.retries),
            ("codex_retry", stats.codex_retries),
            ("reasoning_refused", stats.reasoning_refused),
            ("repeated_output", stats.repeated_outputs),
            ("flood_retry", stats.flood_retries),
            ("oversize_line", stats.oversize_lines),
            ("unreadable_message", stats.unreadable_messages),
            ("unclaimed_response", stats.unclaimed_responses),
            ("stale_event", stats.stale_events),
            ("unconfirmed_end", stats.unconfirmed_ends),
        ]
        .map(|(kind, count)| (Self { kind }, count))
    }
}

// === impl Build ===

impl Build {
    /// The version of a child that is ready speaks for all.
    pub(super) fn of(children: &[WorkerState]) -> Self {
        let codex = children.iter().find_map(|child| match child {
            WorkerState::Ready { version, .. } => Some(version.to_string()),
            WorkerState::Starting | WorkerState::Restarting { .. } | WorkerState::Stopped => None,
        });
        Self { version: env!("CARGO_PKG_VERSION"), codex: codex.unwrap_or_default() }
    }
}

// === impl Route ===

impl Route {
    pub(crate) fn is_api(self) -> bool {
        matches!(self, Self::Api(_))
    }
}

impl EncodeLabelValue for Route {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        match self {
            Self::Api(path) => {
                encoder.write_str("/v1")?;
                encoder.write_str(path)
            }
            Self::Other(path) => encoder.write_str(path),
            Self::Unknown => encoder.write_str("other"),
        }
    }
}

// === impl Status ===

impl EncodeLabelValue for Status {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        match self.0 {
            Some(status) => write!(encoder, "{status}"),
            None => encoder.write_str("none"),
        }
    }
}

// === impl Outcome ===

impl Outcome {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::ClientGone => "client_gone",
            Self::SlowClient => "slow_client",
        }
    }
}

impl EncodeLabelValue for Outcome {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.write_str(self.as_str())
    }
}

// === impl Refused ===

impl Refused {
    pub(super) const ALL: [Self; 5] = [
        Self::QueueFull,
        Self::TooManyTurns,
        Self::TooManyLargeRequests,
        Self::RateLimitExceeded,
        Self::ShuttingDown,
    ];

    /// `None` for a request that is wrong.
    pub(crate) fn of(refusal: &Refusal) -> Option<Self> {
        match refusal {
            Refusal::NeverFits { .. } => None,
            Refusal::QueueFull(_) => Some(Self::QueueFull),
            Refusal::WaitedTooLong { .. } => Some(Self::TooManyTurns),
            Refusal::ShuttingDown => Some(Self::ShuttingDown),
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::QueueFull => "queue_full",
            Self::TooManyTurns => "too_many_turns",
            Self::TooManyLargeRequests => "too_many_large_requests",
            Self::RateLimitExceeded => "rate_limit_exceeded",
            Self::ShuttingDown => "shutting_down",
        }
    }
}

impl EncodeLabelValue for Refused {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), fmt::Error> {
        encoder.write_str(self.as_str())
    }
}
