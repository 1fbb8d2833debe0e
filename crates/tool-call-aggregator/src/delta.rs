//! What an ingest has changed.

use std::error::Error;
use std::fmt;
use std::slice;

use serde::ser::{self, Serialize, SerializeStruct, Serializer};

use crate::choice::{Change, Choices};
use crate::limits::Limit;
use crate::record::NO_ARGUMENTS;

/// The outcome of an ingest.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Ingest<'a> {
    /// Whether any call has changed.
    pub updated: bool,
    /// One delta for each call that has.
    pub deltas: Deltas<'a>,
    /// A cap that was reached.
    pub limit: Option<Limit>,
}

/// The deltas of an ingest, borrowed from the aggregator.
#[derive(Debug, Clone)]
pub struct Deltas<'a> {
    pub(crate) changes: slice::Iter<'a, Change>,
    pub(crate) choices: &'a Choices,
}

/// A change of one call: a view, which costs nothing to make.
///
/// It serialises as an entry of `delta.tool_calls[]`: the header with the first delta of a call, then
/// increments. That is an error for a delta that is [`replaced`](Self::replaced).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolCallDelta<'a> {
    /// The choice.
    pub choice: u32,
    /// The call's index among the calls of the choice.
    pub index: usize,
    /// The id that the client sees.
    pub id: &'a str,
    /// The name of the tool.
    pub name: &'a str,
    /// All arguments so far.
    pub arguments: &'a str,
    /// What has been added to them. All of them, where they were replaced.
    pub appended: &'a str,
    /// Whether the backend took back what it had sent before. What was sent to a client cannot be
    /// taken back: a stream has to end as failed.
    pub replaced: bool,
    /// Whether the backend has completed the call.
    pub complete: bool,
    pub(crate) frame: Frame,
}

/// What a delta is to a client that receives all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frame {
    /// The first of the call.
    Header,
    /// More of a call that it knows.
    Increment,
    /// What it holds already, because `{}` was written for no arguments.
    Known,
    /// What it was sent has changed.
    Replaced,
}

/// The backend has taken back arguments, or a name, that may have been sent already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replaced;

// === impl Deltas ===

impl<'a> Iterator for Deltas<'a> {
    type Item = ToolCallDelta<'a>;

    fn next(&mut self) -> Option<ToolCallDelta<'a>> {
        let choices = self.choices;
        self.changes.find_map(|change| change.delta(choices))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.changes.size_hint()
    }
}

impl ExactSizeIterator for Deltas<'_> {}

// === impl ToolCallDelta ===

impl<'a> ToolCallDelta<'a> {
    /// Whether this is the first delta of the call, which carries its id and name.
    pub fn is_first(&self) -> bool {
        self.frame == Frame::Header
    }

    /// Whether it can be sent to a client that has received the deltas before it.
    ///
    /// # Errors
    ///
    /// If it takes back what was sent.
    pub fn sendable(&self) -> Result<Self, Replaced> {
        if self.replaced { Err(Replaced) } else { Ok(*self) }
    }

    /// The same for a client that uses `functions`: an object of `delta.function_call`.
    ///
    /// ```
    /// use tool_call_aggregator::{CallEvent, ToolCallAggregator};
    ///
    /// let mut calls = ToolCallAggregator::new();
    /// for delta in calls.ingest(0, &CallEvent::whole("call_1", "now", "")).deltas {
    ///     let function_call = serde_json::to_string(&delta.as_function_call())?;
    ///     assert_eq!(function_call, r#"{"name":"now","arguments":"{}"}"#);
    /// }
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn as_function_call(&self) -> FunctionCallDelta<'a> {
        FunctionCallDelta {
            name: self.is_first().then_some(self.name),
            arguments: self.new_arguments(),
        }
    }

    /// What a client adds to the arguments that it has: `{}` if the call is complete without any.
    pub fn new_arguments(&self) -> &'a str {
        if self.frame == Frame::Known {
            ""
        } else if self.complete && self.arguments.is_empty() {
            NO_ARGUMENTS
        } else {
            self.appended
        }
    }
}

impl Serialize for ToolCallDelta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.sendable().map_err(ser::Error::custom)?;
        let is_first = self.is_first();
        let mut call = serializer.serialize_struct("ToolCall", if is_first { 4 } else { 2 })?;
        call.serialize_field("index", &self.index)?;
        if is_first {
            call.serialize_field("id", self.id)?;
            call.serialize_field("type", "function")?;
        }
        call.serialize_field("function", &self.as_function_call())?;
        call.end()
    }
}

/// A change of one call in the shape of the legacy `delta.function_call`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FunctionCallDelta<'a> {
    /// The name of the function, the first time.
    pub name: Option<&'a str>,
    /// What a client adds to its arguments.
    pub arguments: &'a str,
}

impl Serialize for FunctionCallDelta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut function = serializer.serialize_struct("Function", 2)?;
        if let Some(name) = self.name {
            function.serialize_field("name", name)?;
        }
        function.serialize_field("arguments", self.arguments)?;
        function.end()
    }
}

// === impl Replaced ===

impl fmt::Display for Replaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the backend replaced a call that was already sent")
    }
}

impl Error for Replaced {}
