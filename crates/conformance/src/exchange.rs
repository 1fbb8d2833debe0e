//! A request and its answer, as they were recorded.

use std::time::Duration;

use crate::reading::Ending;

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
