//! Where something stands in a request, for errors that name it.

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
            Self::Message(index) => format!("messages[{index}].{member}"),
            Self::Earlier(_) => "previous_response_id".to_owned(),
            Self::Input(index) => format!("input[{index}].{member}"),
        }
    }
}
