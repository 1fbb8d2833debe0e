//! Notifications that belong to a turn, reduced to what a turn is made of.

use std::borrow::Cow;

use serde::de::{Deserialize as _, DeserializeSeed, Deserializer, Error as _};
use serde_json::Value;
use serde_json::value::RawValue;

use super::event::{ReasoningItem, ReasoningKind, ToolCall, ToolCallKind};
use crate::child_log::LogEvent;
use crate::history::MessagePhase;
use crate::protocol::incoming::{
    AgentMessageDelta, ErrorNotification, ItemNotification, RawItem, RawItemNotification,
    RawResponseCompleted, ReasoningSummaryDelta, ReasoningTextDelta, Text, TokenUsage, TurnError,
    TurnNotification, TurnState, TurnStatus,
};
use crate::tool_names::ToolName;

/// Something that happened in a turn.
#[derive(Debug)]
pub(crate) struct ThreadEvent<'a> {
    pub(crate) thread_id: Cow<'a, str>,
    pub(crate) turn_id: Cow<'a, str>,
    pub(crate) happening: Happening<'a>,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum Happening<'a> {
    TurnStarted,
    Text(Cow<'a, str>),
    Reasoning {
        kind: ReasoningKind,
        part: u32,
        text: Cow<'a, str>,
    },
    ReasoningStarted,
    /// There is a new item in the thread.
    Said {
        /// The item, as Codex has it.
        raw: Cow<'a, str>,
        what: Utterance,
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
    /// A sign of life that says nothing new.
    Other,
}

/// What a new item is, as far as it is not told otherwise.
#[derive(Debug)]
pub(crate) enum Utterance {
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
    type Value = ThreadEvent<'de>;

    fn deserialize<D: Deserializer<'de>>(self, params: D) -> Result<Self::Value, D::Error> {
        Ok(match self {
            Self::TurnStarted => {
                let started = TurnNotification::deserialize(params)?;
                event(started.thread_id, started.turn.id.into(), Happening::TurnStarted)
            }
            Self::TurnCompleted => {
                let completed = TurnNotification::deserialize(params)?;
                let TurnState { id, status, error } = completed.turn;
                event(completed.thread_id, id.into(), Happening::TurnCompleted { status, error })
            }
            Self::AgentMessageDelta => {
                let delta = AgentMessageDelta::deserialize(params)?;
                event(delta.thread_id, delta.turn_id, Happening::Text(delta.delta))
            }
            Self::ReasoningSummaryDelta => {
                let delta = ReasoningSummaryDelta::deserialize(params)?;
                let (kind, part) = (ReasoningKind::Summary, delta.summary_index);
                let happening = Happening::Reasoning { kind, part, text: delta.delta };
                event(delta.thread_id, delta.turn_id, happening)
            }
            Self::ReasoningTextDelta => {
                let delta = ReasoningTextDelta::deserialize(params)?;
                let (kind, part) = (ReasoningKind::Raw, delta.content_index);
                let happening = Happening::Reasoning { kind, part, text: delta.delta };
                event(delta.thread_id, delta.turn_id, happening)
            }
            Self::ItemStarted => {
                let started = ItemNotification::deserialize(params)?;
                let happening = match started.item.r#type.as_ref() {
                    "agentMessage" => Happening::MessageStarted(started.item.phase()),
                    "reasoning" => Happening::ReasoningStarted,
                    "contextCompaction" => Happening::HistoryReplaced,
                    _ => Happening::Other,
                };
                event(started.thread_id, started.turn_id, happening)
            }
            Self::ItemCompleted => {
                let completed = ItemNotification::deserialize(params)?;
                let text = completed.item.text.map_or(Cow::Borrowed(""), |text| text.0);
                let happening = match completed.item.r#type.as_ref() {
                    "agentMessage" => Happening::MessageCompleted(text),
                    _ => Happening::Other,
                };
                event(completed.thread_id, completed.turn_id, happening)
            }
            Self::RawItemCompleted => {
                let raw = RawItemNotification::deserialize(params)?;
                let what = utterance(raw.item).map_err(D::Error::custom)?;
                let happening = Happening::Said { raw: raw.item.get().into(), what };
                event(raw.thread_id, raw.turn_id, happening)
            }
            Self::RawResponseCompleted => {
                let RawResponseCompleted { thread_id, turn_id, response_id, usage } =
                    RawResponseCompleted::deserialize(params)?;
                event(thread_id, turn_id, Happening::ResponseCompleted { response_id, usage })
            }
            Self::Error => {
                let ErrorNotification { thread_id, turn_id, error, will_retry } =
                    ErrorNotification::deserialize(params)?;
                event(thread_id, turn_id, Happening::Error { error, will_retry })
            }
        })
    }
}

fn event<'a>(
    thread_id: Cow<'a, str>,
    turn_id: Cow<'a, str>,
    happening: Happening<'a>,
) -> ThreadEvent<'a> {
    ThreadEvent { thread_id, turn_id, happening }
}

// === impl Happening ===

impl Happening<'_> {
    /// Bytes of it that the child's log reports.
    pub(crate) fn log_bytes(&self) -> usize {
        match self {
            Self::Logged(event) => event.bytes(),
            _ => 0,
        }
    }

    /// A copy that outlives its line.
    pub(crate) fn into_owned(self) -> Happening<'static> {
        fn own(text: Cow<'_, str>) -> Cow<'static, str> {
            Cow::Owned(text.into_owned())
        }
        match self {
            Self::TurnStarted => Happening::TurnStarted,
            Self::Text(text) => Happening::Text(own(text)),
            Self::Reasoning { kind, part, text } => {
                Happening::Reasoning { kind, part, text: own(text) }
            }
            Self::ReasoningStarted => Happening::ReasoningStarted,
            Self::HistoryReplaced => Happening::HistoryReplaced,
            Self::Said { raw, what } => Happening::Said { raw: own(raw), what },
            Self::MessageStarted(phase) => Happening::MessageStarted(phase),
            Self::MessageCompleted(text) => Happening::MessageCompleted(own(text)),
            Self::ResponseCompleted { response_id, usage } => {
                Happening::ResponseCompleted { response_id, usage }
            }
            Self::Error { error, will_retry } => Happening::Error { error, will_retry },
            Self::TurnCompleted { status, error } => Happening::TurnCompleted { status, error },
            Self::Logged(event) => Happening::Logged(event),
            Self::Other => Happening::Other,
        }
    }
}

/// What a raw item tells: a call, or reasoning.
fn utterance(item: &RawValue) -> Result<Utterance, serde_json::Error> {
    // The two that can be large, and that are neither: not worth another look.
    const MESSAGE: &str = r#"{"type":"message","#;
    const OUTPUT: &str = r#"{"type":"function_call_output","#;
    if item.get().starts_with(MESSAGE) || item.get().starts_with(OUTPUT) {
        return Ok(Utterance::Other);
    }
    let raw: RawItem<'_> = serde_json::from_str(item.get())?;
    let text = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned()).unwrap_or_default();
    let call_id = text(raw.call_id);
    let item_id = raw.id.map(|id| id.0.into_owned());
    let namespace = raw.namespace.as_ref().map(|namespace| &*namespace.0);
    let call = match raw.r#type.as_ref() {
        "function_call" => ToolCall {
            call_id,
            item_id,
            name: ToolName::towards_codex(namespace, text(raw.name)),
            // Anything but a string would be a new kind of upstream: keep its text as it is.
            arguments: raw.arguments.map_or_else(String::new, |arguments| {
                serde_json::from_str(arguments.get()).unwrap_or_else(|_| arguments.get().to_owned())
            }),
            kind: ToolCallKind::Function,
            deviation: None,
        },
        "custom_tool_call" => ToolCall {
            call_id,
            item_id,
            name: ToolName::towards_codex(namespace, text(raw.name)),
            arguments: text(raw.input),
            kind: ToolCallKind::Custom,
            deviation: None,
        },
        // Codex would try to serve these itself, and asks the model again.
        foreign @ ("local_shell_call" | "tool_search_call") => ToolCall {
            call_id,
            item_id,
            name: foreign.into(),
            arguments: without_internals(item)?,
            kind: ToolCallKind::Foreign,
            deviation: None,
        },
        "reasoning" => {
            return Ok(Utterance::Reasoning(ReasoningItem {
                summary: raw.summary.into_iter().flatten().filter_map(|part| part.text).collect(),
                encrypted_content: raw.encrypted_content.map(|text| text.0.into_owned()),
            }));
        }
        _ => return Ok(Utterance::Other),
    };
    Ok(Utterance::Call(call))
}

/// The item without what Codex has added to it.
fn without_internals(item: &RawValue) -> Result<String, serde_json::Error> {
    let mut members: serde_json::Map<String, Value> = serde_json::from_str(item.get())?;
    members.retain(|name, _| !name.starts_with("internal_"));
    serde_json::to_string(&members)
}
