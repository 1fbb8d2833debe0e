//! A request and its answer, as they were recorded.

/// An answer to a request, as far as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Exchange {
    pub(crate) status: u16,
    /// Without its parameters, in lower case.
    pub(crate) content_type: String,
    pub(crate) body: String,
    pub(crate) ending: Ending,
}

/// How the body ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// As HTTP wants it.
    Whole,
    /// The connection broke.
    Broken,
    /// Nothing more came for too long.
    TimedOut,
}

/// How an answer is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Delivery {
    /// As a stream of events.
    #[default]
    Streamed,
    /// As one JSON object.
    Whole,
}

// === impl Ending ===

impl Ending {
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Self::Whole => "the answer ended",
            Self::Broken => "the connection broke",
            Self::TimedOut => "nothing more came for too long",
        }
    }
}
