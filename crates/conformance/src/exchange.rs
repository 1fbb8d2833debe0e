//! A request and its answer, as they were recorded.

use std::time::Duration;

/// An answer to a request, as far as it came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Exchange {
    pub(crate) status: u16,
    /// Without its parameters, in lower case.
    pub(crate) content_type: String,
    /// Where a redirection points to.
    pub(crate) location: Option<String>,
    pub(crate) body: String,
    /// When the body came.
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) ending: Ending,
}

/// The body had this length at that time after the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) length: usize,
    pub(crate) after: Duration,
}

/// How the body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ending {
    /// As HTTP wants it.
    #[default]
    Whole,
    /// The connection broke.
    Broken,
    /// Nothing more came for too long.
    Silent,
    /// It went on for longer than an answer may take.
    TimedOut,
    /// It is longer than what is read of an answer.
    TooLong,
}

/// How an answer is asked for.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Delivery {
    /// As a stream of events.
    #[default]
    Streamed,
    /// As one JSON object.
    Whole,
}

// === impl Exchange ===

impl Exchange {
    /// When the body had come up to here.
    pub(crate) fn came_at(&self, offset: usize) -> Option<Duration> {
        let arrival = self.arrivals.iter().find(|arrival| arrival.length >= offset);
        arrival.or(self.arrivals.last()).map(|arrival| arrival.after)
    }
}

// === impl Ending ===

impl Ending {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Whole => "the answer ended",
            Self::Broken => "the connection broke",
            Self::Silent => "nothing more came for too long",
            Self::TimedOut => "the answer had no end within the time limit",
            Self::TooLong => "the answer is longer than what is read of one (4 MiB)",
        }
    }
}
