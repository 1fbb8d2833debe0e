//! Notifications that belong to a turn, reduced to what a turn is made of.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{ReasoningKind, ToolCall, ToolCallKind};
use crate::protocol::incoming::{
    AgentMessageDelta, ErrorNotification, ItemNotification, RawItem, RawItemNotification,
    RawResponseCompleted, ReasoningSummaryDelta, ReasoningTextDelta, Text, TokenUsage, TurnError,
    TurnNotification, TurnStatus,
};

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
    Reasoning { kind: ReasoningKind, part: u32, text: Cow<'a, str> },
    ReasoningStarted,
    MessageStarted,
    MessageCompleted(Cow<'a, str>),
    Call(ToolCall),
    ResponseCompleted { response_id: String, usage: Option<TokenUsage> },
    Error { error: TurnError, will_retry: bool },
    TurnCompleted { status: TurnStatus, error: Option<TurnError> },
}

/// The thread of a notification that could not be read otherwise.
#[derive(Deserialize)]
struct OnlyThread<'a> {
    #[serde(rename = "threadId", borrow)]
    thread_id: Cow<'a, str>,
}

// === impl ThreadEvent ===

impl<'a> ThreadEvent<'a> {
    /// Reads a notification; `None` for one that no turn needs.
    pub(crate) fn parse(
        method: &str,
        params: &'a RawValue,
    ) -> Result<Option<Self>, serde_json::Error> {
        let params = params.get();
        Ok(match method {
            "item/agentMessage/delta" => {
                let delta: AgentMessageDelta<'a> = serde_json::from_str(params)?;
                Some(Self {
                    thread_id: delta.thread_id,
                    turn_id: delta.turn_id,
                    happening: Happening::Text(delta.delta),
                })
            }
            "item/reasoning/summaryTextDelta" => {
                let delta: ReasoningSummaryDelta<'a> = serde_json::from_str(params)?;
                Some(Self {
                    thread_id: delta.thread_id,
                    turn_id: delta.turn_id,
                    happening: Happening::Reasoning {
                        kind: ReasoningKind::Summary,
                        part: delta.summary_index,
                        text: delta.delta,
                    },
                })
            }
            "item/reasoning/textDelta" => {
                let delta: ReasoningTextDelta<'a> = serde_json::from_str(params)?;
                Some(Self {
                    thread_id: delta.thread_id,
                    turn_id: delta.turn_id,
                    happening: Happening::Reasoning {
                        kind: ReasoningKind::Raw,
                        part: delta.content_index,
                        text: delta.delta,
                    },
                })
            }
            "item/started" => Self::item(params, |item_type, _| match item_type {
                "agentMessage" => Some(Happening::MessageStarted),
                "reasoning" => Some(Happening::ReasoningStarted),
                _ => None,
            })?,
            "item/completed" => Self::item(params, |item_type, text| match item_type {
                "agentMessage" => Some(Happening::MessageCompleted(text)),
                _ => None,
            })?,
            "rawResponseItem/completed" => {
                let raw: RawItemNotification<'a> = serde_json::from_str(params)?;
                call(raw.item)?.map(|call| Self {
                    thread_id: raw.thread_id,
                    turn_id: raw.turn_id,
                    happening: Happening::Call(call),
                })
            }
            "rawResponse/completed" => {
                let end: RawResponseCompleted<'a> = serde_json::from_str(params)?;
                Some(Self {
                    thread_id: end.thread_id,
                    turn_id: end.turn_id,
                    happening: Happening::ResponseCompleted {
                        response_id: end.response_id,
                        usage: end.usage,
                    },
                })
            }
            "error" => {
                let error: ErrorNotification<'a> = serde_json::from_str(params)?;
                Some(Self {
                    thread_id: error.thread_id,
                    turn_id: error.turn_id,
                    happening: Happening::Error {
                        error: error.error,
                        will_retry: error.will_retry,
                    },
                })
            }
            "turn/started" => {
                let started: TurnNotification<'a> = serde_json::from_str(params)?;
                Some(Self {
                    thread_id: started.thread_id,
                    turn_id: started.turn.id,
                    happening: Happening::TurnStarted,
                })
            }
            "turn/completed" => {
                let completed: TurnNotification<'a> = serde_json::from_str(params)?;
                Some(Self {
                    thread_id: completed.thread_id,
                    turn_id: completed.turn.id,
                    happening: Happening::TurnCompleted {
                        status: completed.turn.status,
                        error: completed.turn.error,
                    },
                })
            }
            _ => None,
        })
    }

    fn item(
        params: &'a str,
        happening: impl FnOnce(&str, Cow<'a, str>) -> Option<Happening<'a>>,
    ) -> Result<Option<Self>, serde_json::Error> {
        let notification: ItemNotification<'a> = serde_json::from_str(params)?;
        let text = notification.item.text.map_or(Cow::Borrowed(""), |text| text.0);
        Ok(happening(&notification.item.r#type, text).map(|happening| Self {
            thread_id: notification.thread_id,
            turn_id: notification.turn_id,
            happening,
        }))
    }
}

// === impl Happening ===

impl Happening<'_> {
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
            Self::MessageStarted => Happening::MessageStarted,
            Self::MessageCompleted(text) => Happening::MessageCompleted(own(text)),
            Self::Call(call) => Happening::Call(call),
            Self::ResponseCompleted { response_id, usage } => {
                Happening::ResponseCompleted { response_id, usage }
            }
            Self::Error { error, will_retry } => Happening::Error { error, will_retry },
            Self::TurnCompleted { status, error } => Happening::TurnCompleted { status, error },
        }
    }
}

/// The thread that an unreadable notification belongs to, if that much can be read.
pub(crate) fn thread_of(params: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<OnlyThread<'_>>(params.get()).ok().map(|only| only.thread_id)
}

/// The call that a raw item is, if it is one.
fn call(item: &RawValue) -> Result<Option<ToolCall>, serde_json::Error> {
    let raw: RawItem<'_> = serde_json::from_str(item.get())?;
    let text = |text: Option<Text<'_>>| text.map(|text| text.0.into_owned()).unwrap_or_default();
    let call_id = text(raw.call_id);
    Ok(match raw.r#type.as_ref() {
        "function_call" => Some(ToolCall {
            call_id,
            name: qualified(raw.namespace.as_ref(), text(raw.name)),
            // Anything but a string would be a new kind of upstream: keep its text as it is.
            arguments: raw.arguments.map_or_else(String::new, |arguments| {
                serde_json::from_str(arguments.get()).unwrap_or_else(|_| arguments.get().to_owned())
            }),
            kind: ToolCallKind::Function,
        }),
        "custom_tool_call" => Some(ToolCall {
            call_id,
            name: qualified(raw.namespace.as_ref(), text(raw.name)),
            arguments: text(raw.input),
            kind: ToolCallKind::Custom,
        }),
        // Codex would try to serve these itself, and asks the model again.
        foreign @ ("local_shell_call" | "tool_search_call") => Some(ToolCall {
            call_id,
            name: foreign.to_owned(),
            arguments: item.get().to_owned(),
            kind: ToolCallKind::Foreign,
        }),
        _ => None,
    })
}

/// The tool's name as the client knows it.
///
/// Newer models group a client's functions under `functions`, which is no part of the name. Any
/// other group is kept, so that `github.search` and `gitlab.search` stay different.
fn qualified(namespace: Option<&Text<'_>>, name: String) -> String {
    match namespace.map(|namespace| namespace.0.as_ref()) {
        None | Some("functions" | "") => name,
        Some(namespace) => format!("{namespace}.{name}"),
    }
}
