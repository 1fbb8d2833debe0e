//! Where something stands in a request, for errors that name it.

use std::fmt;

/// A message or an item of a request's conversation. The order is that of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// One of `messages`.
    Message(usize),
    /// An item of what was kept of earlier responses, which the request names as a whole.
    Earlier(usize),
    /// An item of `input`.
    Input(usize),
}

// === impl Place ===

impl Place {
    /// The path of one of its members.
    pub(super) fn member(self, member: &str) -> String {
        match self {
            Self::Message(_) | Self::Input(_) => format!("{self}.{member}"),
            Self::Earlier(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(index) => write!(f, "messages[{index}]"),
            Self::Earlier(_) => f.write_str("previous_response_id"),
            Self::Input(index) => write!(f, "input[{index}]"),
        }
    }
}
