//! What an answer has of a call, as it is written.

use model_turn::ToolCallKind;
use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

/// More of a call. It serializes as an entry of `delta.tool_calls[]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPart<'a> {
    /// The call's place among the calls of its choice.
    pub index: usize,
    /// What its first part has.
    pub head: Option<CallHead<'a>>,
    /// Kind of the call.
    pub kind: ToolCallKind,
    /// What is added to its arguments or its input.
    pub text: &'a str,
}

/// What call it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallHead<'a> {
    /// The id that the client sends back.
    pub id: &'a str,
    /// The namespace of the tool.
    pub namespace: Option<&'a str>,
    /// The name of the tool.
    pub name: &'a str,
}

/// A whole call. It serializes as an entry of `message.tool_calls[]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeCall {
    /// The id that the client sends back.
    pub id: String,
    /// The namespace of the tool.
    pub namespace: Option<String>,
    /// The name of the tool.
    pub name: String,
    /// Kind of the call.
    pub kind: ToolCallKind,
    /// Its arguments or its input.
    pub text: String,
}

/// What is called, and with what: `function`, `custom`, or the legacy `function_call`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called<'a> {
    name: Option<&'a str>,
    kind: ToolCallKind,
    text: &'a str,
}

// === impl CallPart ===

impl<'a> CallPart<'a> {
    pub(crate) fn called(&self) -> Called<'a> {
        Called { name: self.head.map(|head| head.name), kind: self.kind, text: self.text }
    }
}

impl Serialize for CallPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut call = serializer.serialize_struct("CallPart", 5)?;
        call.serialize_field("index", &self.index)?;
        if let Some(head) = self.head {
            call.serialize_field("id", head.id)?;
            call.serialize_field("type", call_type(self.kind))?;
            if let Some(namespace) = head.namespace {
                call.serialize_field("namespace", namespace)?;
            }
        }
        call.serialize_field(call_type(self.kind), &self.called())?;
        call.end()
    }
}

// === impl WholeCall ===

impl WholeCall {
    pub(crate) fn called(&self) -> Called<'_> {
        Called { name: Some(&self.name), kind: self.kind, text: &self.text }
    }
}

impl Serialize for WholeCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut call = serializer.serialize_struct("WholeCall", 4)?;
        call.serialize_field("id", &self.id)?;
        call.serialize_field("type", call_type(self.kind))?;
        if let Some(namespace) = &self.namespace {
            call.serialize_field("namespace", namespace)?;
        }
        call.serialize_field(call_type(self.kind), &self.called())?;
        call.end()
    }
}

// === impl Called ===

impl Serialize for Called<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut called = serializer.serialize_struct("Called", 2)?;
        if let Some(name) = self.name {
            called.serialize_field("name", name)?;
        }
        let text = if self.kind.is_custom() { "input" } else { "arguments" };
        called.serialize_field(text, self.text)?;
        called.end()
    }
}

/// The type of a call, and the member that holds what is called.
pub(crate) fn call_type(kind: ToolCallKind) -> &'static str {
    if kind.is_custom() { "custom" } else { "function" }
}
