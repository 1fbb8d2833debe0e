//! An event of one call, in borrowed text: the way in without a `serde_json::Value`.

/// An event of one call.
///
/// ```
/// use tool_call_aggregator::{CallEvent, ToolCallAggregator};
///
/// let mut calls = ToolCallAggregator::new();
/// calls.ingest(0, &CallEvent::whole("call_1", "get_time", r#"{"zone":"UTC"}"#));
/// assert_eq!(calls.snapshot(0)[0].arguments, r#"{"zone":"UTC"}"#);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallEvent<'a> {
    /// The backend's id of the call. Empty counts as absent, here and below.
    pub call_id: Option<&'a str>,
    /// The backend's id of the item that holds the call. Items with different ids hold different
    /// calls, also if the calls have the same id. The call's own id counts as absent here.
    pub item_id: Option<&'a str>,
    /// The call's position, where that identifies it.
    pub position: Option<Position>,
    /// The name of the tool.
    pub name: Option<&'a str>,
    /// What it has of the arguments.
    pub arguments: Arguments<'a>,
    /// Whether the call is complete with it.
    pub complete: bool,
}

/// The position of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// `index` in `delta.tool_calls[]` of a chat stream.
    ChatIndex(u64),
    /// The one `function_call` of a legacy chat message.
    FunctionCall,
    /// `output_index` of the Responses API.
    OutputIndex(u64),
    /// The index in `message.tool_calls[]`, or in a list of whole calls.
    InMessage(usize),
    /// The byte at which a text block starts.
    TextBlock(usize),
}

/// What an event has of the arguments. Its kind is known from the wire, never from the content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Arguments<'a> {
    /// Nothing.
    #[default]
    Absent,
    /// These bytes come next.
    Increment(&'a str),
    /// What an item began with; it never changes what a known call holds.
    Initial(&'a str),
    /// These are the arguments. An empty text counts as absent.
    Snapshot(&'a str),
    /// These are the arguments, but not in the backend's own bytes: they were written anew from a
    /// parsed value. Any text from the backend itself is better.
    Rewritten(&'a str),
}

// === impl Arguments ===

impl<'a> Arguments<'a> {
    /// All of the arguments, where they are known.
    pub(crate) fn whole(self) -> Option<&'a str> {
        match self {
            Self::Snapshot(text) | Self::Rewritten(text) => Some(text),
            Self::Absent => Some(""),
            Self::Increment(_) | Self::Initial(_) => None,
        }
    }
}

// === impl CallEvent ===

impl<'a> CallEvent<'a> {
    /// A call that is whole.
    pub fn whole(call_id: &'a str, name: &'a str, arguments: &'a str) -> Self {
        Self {
            call_id: Some(call_id),
            name: Some(name),
            arguments: Arguments::Snapshot(arguments),
            complete: true,
            ..Self::default()
        }
    }

    /// The next part of the arguments of an item.
    pub fn increment(item_id: &'a str, arguments: &'a str) -> Self {
        Self {
            item_id: Some(item_id),
            arguments: Arguments::Increment(arguments),
            ..Self::default()
        }
    }

    /// Whether anything identifies the call.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.call_id.is_none() && self.item_id.is_none() && self.position.is_none()
    }

    /// The same without empty ids, an empty name, and an item id that is only the call's again.
    pub(crate) fn normalised(self) -> Self {
        let present = |text: Option<&'a str>| text.filter(|text| !text.is_empty());
        let call_id = present(self.call_id);
        Self {
            call_id,
            item_id: present(self.item_id).filter(|id| call_id != Some(*id)),
            name: present(self.name),
            ..self
        }
    }
}
