//! What an answer has of a call, as it is written.

use serde::Serialize;
use serde::ser::{SerializeStruct as _, Serializer};

/// More of a call. It serializes as an entry of `delta.tool_calls[]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallPart<'a> {
    /// The call's place among the calls of its choice.
    pub index: usize,
    /// What its first part has.
    pub head: Option<CallHead<'a>>,
    /// What it is called with.
    pub kind: CallKind,
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

/// What a tool is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// A function, with JSON arguments.
    Function,
    /// A custom tool, with a text.
    Custom,
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
    /// What it is called with.
    pub kind: CallKind,
    /// Its arguments or its input.
    pub text: String,
}

/// What is called, and with what: `function`, `custom`, or the legacy `function_call`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Called<'a> {
    name: Option<&'a str>,
    kind: CallKind,
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
            call.serialize_field("type", &self.kind)?;
            if let Some(namespace) = head.namespace {
                call.serialize_field("namespace", namespace)?;
            }
        }
        call.serialize_field(self.kind.member(), &self.called())?;
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
        call.serialize_field("type", &self.kind)?;
        if let Some(namespace) = &self.namespace {
            call.serialize_field("namespace", namespace)?;
        }
        call.serialize_field(self.kind.member(), &self.called())?;
        call.end()
    }
}

// === impl CallKind ===

impl CallKind {
    /// The member of a call that has what is called.
    fn member(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Custom => "custom",
        }
    }
}

// === impl Called ===

impl Serialize for Called<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut called = serializer.serialize_struct("Called", 2)?;
        if let Some(name) = self.name {
            called.serialize_field("name", name)?;
        }
        let text = match self.kind {
            CallKind::Function => "arguments",
            CallKind::Custom => "input",
        };
        called.serialize_field(text, self.text)?;
        called.end()
    }
}
