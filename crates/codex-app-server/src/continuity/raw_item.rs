//! Items as Codex has them in its threads, as far as a client's history can say the same.
//!
//! An item that has anything else is not read: the model would see it. Read are, and passed over, the members
//! that an upstream or Codex adds and no model reads.

use std::borrow::Cow;

use model_turn::{
    CallInput, ContentPart, HistoryItem, MessagePhase, Role, ToolCallKind, ToolName, ToolOutput,
};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::custom_input::decode;
use crate::tool_names::ToolNames;

/// An item of a thread.
#[derive(Debug)]
pub(super) enum RawItem<'a> {
    /// What a client would send for it; a call has the tool's name towards Codex.
    Spoken(HistoryItem),
    /// What the model thought, as far as anybody can send it back.
    Reasoning(Option<Cow<'a, str>>),
    /// How hard the model shall think.
    Setting,
}

macro_rules! items {
    ($($(#[doc = $doc:literal])* $name:ident { $($field:ident: $type:ty,)* })*) => {
        $(
            $(#[doc = $doc])*
            #[derive(Deserialize)]
            #[serde(deny_unknown_fields)]
            #[allow(dead_code, reason = "some members are there to be passed over")]
            struct $name<'a> {
                r#type: IgnoredAny,
                $(#[serde(borrow)] $field: $type,)*
                id: Option<IgnoredAny>,
                status: Option<IgnoredAny>,
                internal_chat_message_metadata_passthrough: Option<IgnoredAny>,
            }
        )*
    };
}

items! {
    Message { role: Cow<'a, str>, content: Vec<OutputText<'a>>, phase: Option<Cow<'a, str>>, }
    FunctionCall {
        name: Cow<'a, str>,
        namespace: Option<Cow<'a, str>>,
        arguments: Cow<'a, str>,
        call_id: Cow<'a, str>,
    }
    FunctionOutput { call_id: Cow<'a, str>, output: Output<'a>, }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "some members are there to be passed over")]
struct OutputText<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    annotations: Option<IgnoredAny>,
    /// Nobody asks for them.
    logprobs: Option<[IgnoredAny; 0]>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Output<'a> {
    Text(Cow<'a, str>),
    #[serde(borrow)]
    Parts(Vec<InputText<'a>>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InputText<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Reasoning<'a> {
    #[serde(borrow)]
    encrypted_content: Option<Cow<'a, str>>,
}

// === impl RawItem ===

impl<'a> RawItem<'a> {
    /// Reads an item, if a client could send it.
    pub(super) fn read(raw: &'a str, names: &ToolNames) -> Option<Self> {
        let Kind { r#type: kind } = serde_json::from_str(raw).ok()?;
        Some(match kind.as_ref() {
            "message" => Self::Spoken(serde_json::from_str::<Message<'_>>(raw).ok()?.said()?),
            "function_call" => {
                let FunctionCall { name, namespace, arguments, call_id, .. } =
                    serde_json::from_str(raw).ok()?;
                // With `functions` it is not the item that a client's history gives.
                let name =
                    ToolName { namespace: namespace.map(Cow::into_owned), name: name.into_owned() };
                let input = match names.declared(&name) {
                    // A client sends the input, however the model has written it.
                    Some(ToolCallKind::Custom) => CallInput::Text(decode(&arguments).0),
                    // A client knows no other namespaces than its own.
                    None if name.namespace.is_some() => return None,
                    _ => CallInput::Arguments(arguments.into_owned()),
                };
                let call_id = call_id.into_owned();
                Self::Spoken(HistoryItem::ToolCall { call_id, name, input })
            }
            "function_call_output" | "custom_tool_call_output" => {
                let FunctionOutput { call_id, output, .. } = serde_json::from_str(raw).ok()?;
                let (call_id, output) = (call_id.into_owned(), output.read()?);
                Self::Spoken(HistoryItem::ToolOutput { call_id, output })
            }
            "reasoning" => {
                let Reasoning { encrypted_content } = serde_json::from_str(raw).ok()?;
                Self::Reasoning(encrypted_content)
            }
            "configuration_update" => Self::Setting,
            _ => return None,
        })
    }
}

// === impl Message ===

impl Message<'_> {
    fn said(self) -> Option<HistoryItem> {
        if self.role != "assistant" {
            return None;
        }
        let phase = match self.phase {
            Some(phase) => Some(MessagePhase::named(&phase)?),
            None => None,
        };
        let text = |part: OutputText<'_>| {
            (part.r#type == "output_text").then(|| ContentPart::Text(part.text.into_owned()))
        };
        let content = self.content.into_iter().map(text).collect::<Option<_>>()?;
        Some(HistoryItem::Message { role: Role::Assistant, content, phase })
    }
}

// === impl Output ===

impl Output<'_> {
    fn read(self) -> Option<ToolOutput> {
        let text = |part: InputText<'_>| {
            (part.r#type == "input_text").then(|| ContentPart::Text(part.text.into_owned()))
        };
        Some(match self {
            Self::Text(text) => ToolOutput::Text(text.into_owned()),
            Self::Parts(parts) => {
                ToolOutput::Parts(parts.into_iter().map(text).collect::<Option<_>>()?)
            }
        })
    }
}
