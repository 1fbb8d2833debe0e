//! Notifications that belong to a turn, reduced to what a turn is made of.

use std::borrow::Cow;

use model_turn::{MessagePhase, ReasoningItem, ReasoningKind, TokenUsage, ToolCall, ToolCallKind};
use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, Error as _};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::child_log::LogEvent;
use crate::protocol::incoming::{
    AgentMessageDelta, ErrorNotification, ItemNotification, RawItem, RawItemNotification,
    RawResponseCompleted, ReasoningSummaryDelta, ReasoningTextDelta, Text, TurnError,
    TurnNotification, TurnState, TurnStatus,
};
use crate::tool_names::towards_codex;

/// An event of a turn, and where it belongs.
#[derive(Debug)]
pub(crate) struct RoutedEvent<'a> {
    pub(crate) thread_id: Cow<'a, str>,
    pub(crate) turn_id: Cow<'a, str>,
    pub(crate) event: ThreadEvent<'a>,
}

/// What Codex reports of a turn.
#[derive(Debug)]
pub(crate) enum ThreadEvent<'a> {
    TurnStarted,
    Text(Cow<'a, str>),
    Reasoning {
        kind: ReasoningKind,
        part: u32,
        text: Cow<'a, str>,
    },
    ReasoningStarted,
    /// The thread has a new item.
    NewItem {
        /// The item, as Codex has it.
        raw: Cow<'a, str>,
        kind: ItemKind,
    },
    /// Codex is about to replace the history by a summary of its own.
    HistoryReplaced,
    MessageStarted(Option<MessagePhase>),
    MessageCompleted(Cow<'a, str>),
    ResponseCompleted {
        response_id: String,
        usage: Option<TokenUsage>,
    },
    Error {
        error: TurnError,
        will_retry: bool,
    },
    TurnCompleted {
        status: TurnStatus,
        error: Option<TurnError>,
    },
    /// The child's log reports something.
    Logged(LogEvent),
    /// A sign of life without anything new.
    Other,
}

/// What a new item is, as far as no other notification reports it.
#[derive(Debug)]
pub(crate) enum ItemKind {
    Call(ToolCall),
    Reasoning(ReasoningItem),
    Other,
}

/// The notifications that a turn is made of. Each reads its own parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnMethod {
    TurnStarted,
    TurnCompleted,
    AgentMessageDelta,
    ReasoningSummaryDelta,
    ReasoningTextDelta,
    ItemStarted,
    ItemCompleted,
    RawItemCompleted,
    RawResponseCompleted,
    Error,
}

// === impl TurnMethod ===

impl TurnMethod {
    pub(crate) fn of(method: &str) -> Option<Self> {
        Some(match method {
            "turn/started" => Self::TurnStarted,
            "turn/completed" => Self::TurnCompleted,
            "item/agentMessage/delta" => Self::AgentMessageDelta,
            "item/reasoning/summaryTextDelta" => Self::ReasoningSummaryDelta,
            "item/reasoning/textDelta" => Self::ReasoningTextDelta,
            "item/started" => Self::ItemStarted,
            "item/completed" => Self::ItemCompleted,
            "rawResponseItem/completed" => Self::RawItemCompleted,
            "rawResponse/completed" => Self::RawResponseCompleted,
            "error" => Self::Error,
            _ => return None,
        })
    }
}

/// Reads the parameters of a notification.
impl<'de> DeserializeSeed<'de> for TurnMethod {
    type Value = RoutedEvent<'de>;

    fn deserialize<D: Deserializer<'de>>(self, params: D) -> Result<Self::Value, D::Error> {
        Ok(match self {
            Self::TurnStarted => {
                let started = TurnNotification::deserialize(params)?;
                routed(started.thread_id, started.turn.id.into(), ThreadEvent::TurnStarted)
            }
            Self::TurnCompleted => {
                let completed = TurnNotification::deserialize(params)?;
                let TurnState { id, status, error } = completed.turn;
                routed(completed.thread_id, id.into(), ThreadEvent::TurnCompleted { status, error })
            }
            Self::AgentMessageDelta => {
                let delta = AgentMessageDelta::deserialize(params)?;
                routed(delta.thread_id, delta.turn_id, ThreadEvent::Text(delta.delta))
            }
            Self::ReasoningSummaryDelta => {
                let delta = ReasoningSummaryDelta::deserialize(params)?;
                let (kind, part) = (ReasoningKind::Summary, delta.summary_index);
                let event = ThreadEvent::Reasoning { kind, part, text: delta.delta };
                routed(delta.thread_id, delta.turn_id, event)
            }
            Self::ReasoningTextDelta => {
                let delta = ReasoningTextDelta::deserialize(params)?;
                let (kind, part) = (ReasoningKind::Raw, delta.content_index);
                let event = ThreadEvent::Reasoning { kind, part, text: delta.delta };
                routed(delta.thread_id, delta.turn_id, event)
            }
            Self::ItemStarted => {
                let started = ItemNotification::deserialize(params)?;
                let event = match started.item.r#type.as_ref() {
                    "agentMessage" => ThreadEvent::MessageStarted(started.item.phase()),
                    "reasoning" => ThreadEvent::ReasoningStarted,
                    "contextCompaction" => ThreadEvent::HistoryReplaced,
                    _ => ThreadEvent::Other,
                };
                routed(started.thread_id, started.turn_id, event)
            }
            Self::ItemCompleted => {
                let completed = ItemNotification::deserialize(params)?;
                let text = completed.item.text.map_or(Cow::Borrowed(""), |text| text.0);
                let event = match completed.item.r#type.as_ref() {
                    "agentMessage" => ThreadEvent::MessageCompleted(text),
                    _ => ThreadEvent::Other,
                };
                routed(completed.thread_id, completed.turn_id, event)
            }
            Self::RawItemCompleted => {
                let raw = RawItemNotification::deserialize(params)?;
                let kind = item_kind(raw.item).map_err(D::Error::custom)?;
                let event = ThreadEvent::NewItem { raw: raw.item.get().into(), kind };
                routed(raw.thread_id, raw.turn_id, event)
            }
            Self::RawResponseCompleted => {
                let RawResponseCompleted { thread_id, turn_id, response_id, usage } =
                    RawResponseCompleted::deserialize(params)?;
                routed(thread_id, turn_id, ThreadEvent::ResponseCompleted { response_id, usage })
            }
            Self::Error => {
                let ErrorNotification { thread_id, turn_id, error, will_retry } =
                    ErrorNotification::deserialize(params)?;
                routed(thread_id, turn_id, ThreadEvent::Error { error, will_retry })
            }
        })
    }
}

fn routed<'a>(
    thread_id: Cow<'a, str>,
    turn_id: Cow<'a, str>,
    event: ThreadEvent<'a>,
) -> RoutedEvent<'a> {
    RoutedEvent { thread_id, turn_id, event }
}

// === impl ThreadEvent ===

impl ThreadEvent<'_> {
    /// Bytes of it that the child's log reports.
    pub(crate) fn log_bytes(&self) -> usize {
        match self {
            Self::Logged(event) => event.bytes(),
            _ => 0,
        }
    }

    /// A copy that outlives its line.
    pub(crate) fn into_owned(self) -> ThreadEvent<'static> {
        fn own(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        match self {
            Self::TurnStarted => ThreadEvent::TurnStarted,
            Self::Text(text) => ThreadEvent::Text(own(text)),
            Self::Reasoning { kind, part, text } => {
                ThreadEvent::Reasoning { kind, part, text: own(text) }
            }
            Self::ReasoningStarted => ThreadEvent::ReasoningStarted,
            Self::HistoryReplaced => ThreadEvent::HistoryReplaced,
            Self::NewItem { raw, kind } => ThreadEvent::NewItem { raw: own(raw), kind },
            Self::MessageStarted(phase) => ThreadEvent::MessageStarted(phase),
            Self::MessageCompleted(text) => ThreadEvent::MessageCompleted(own(text)),
            Self::ResponseCompleted { response_id, usage } => {
                ThreadEvent::ResponseCompleted { response_id, usage }
            }
            Self::Error { error, will_retry } => ThreadEvent::Error { error, will_retry },
            Self::TurnCompleted { status, error } => ThreadEvent::TurnCompleted { status, error },
            Self::Logged(event) => ThreadEvent::Logged(event),
            Self::Other => ThreadEvent::Other,
        }
    }
}

/// What a raw item is: a call, or reasoning.
fn item_kind(item: &RawValue) -> Result<ItemKind, serde_json::Error> {
    // The two that can be large, and that are neither: not worth another look.
    const MESSAGE: &str = r#"{"type":"message","#;
    const OUTPUT: &str = r#"{"type":"function_call_output","#;
    if item.get().starts_with(MESSAGE) || item.get().starts_with(OUTPUT) {
        return Ok(ItemKind::Other);
    }
    let raw: RawItem<'_> = serde_json::from_str(item.get())?;
    let text = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned()).unwrap_or_default();
    let namespace = raw.namespace.as_ref().map(|namespace| &*namespace.0);
    let (kind, name, arguments) = match raw.r#type.as_ref() {
        "function_call" => {
            // Anything but a string would be a new kind of upstream: keep its text as it is.
            let arguments = raw.arguments.map_or_else(String::new, |arguments| {
                serde_json::from_str(arguments.get()).unwrap_or_else(|_| arguments.get().to_owned())
            });
            (ToolCallKind::Function, towards_codex(namespace, text(raw.name)), arguments)
        }
        "custom_tool_call" => {
            (ToolCallKind::Custom, towards_codex(namespace, text(raw.name)), text(raw.input))
        }
        // Codex would try to serve these itself, and asks the model again.
        foreign @ ("local_shell_call" | "tool_search_call") => {
            (ToolCallKind::Foreign, foreign.into(), without_internals(item)?)
        }
        "reasoning" => {
            return Ok(ItemKind::Reasoning(ReasoningItem {
                summary: raw.summary.into_iter().flatten().filter_map(|part| part.text).collect(),
                encrypted_content: raw.encrypted_content.map(|text| text.0.into_owned()),
            }));
        }
        _ => return Ok(ItemKind::Other),
    };
    let (call_id, item_id) = (text(raw.call_id), raw.id.map(|id| id.0.into_owned()));
    Ok(ItemKind::Call(ToolCall { call_id, item_id, name, arguments, kind, deviation: None }))
}

/// The item without what Codex has added to it.
fn without_internals(item: &RawValue) -> Result<String, serde_json::Error> {
    let mut members: serde_json::Map<String, Value> = serde_json::from_str(item.get())?;
    members.retain(|name, _| !name.starts_with("internal_"));
    serde_json::to_string(&members)
}
