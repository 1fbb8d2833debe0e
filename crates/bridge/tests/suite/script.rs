//! A turn as a script: what the model says, in which chunks, and when.

use model_turn::{
    Failure, FailureKind, ReasoningKind, TokenUsage, ToolCall, ToolCallKind, TurnEnd, TurnEvent,
};

/// The figures of every response that ends.
pub(crate) const USAGE: TokenUsage = TokenUsage {
    input_tokens: 10,
    cached_input_tokens: 4,
    output_tokens: 7,
    reasoning_output_tokens: 2,
    total_tokens: 17,
};

/// One line of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Line {
    /// Something happens.
    Event(TurnEvent),
    /// So many milliseconds pass.
    Wait(u64),
}

pub(crate) fn say(text: &str) -> Line {
    Line::Event(TurnEvent::Text(text.to_owned()))
}

/// The text that follows is another message.
pub(crate) fn message() -> Line {
    Line::Event(TurnEvent::MessageStart { phase: None })
}

/// A structured call, with an id of the upstream's that is made from what it says.
pub(crate) fn call(name: &str, arguments: &str) -> Line {
    call_as(&format!("call_{name}"), name, arguments)
}

/// A structured call with this id.
pub(crate) fn call_as(call_id: &str, name: &str, arguments: &str) -> Line {
    item_as(None, call_id, name, arguments)
}

/// A structured call with this id, in an item with that one.
pub(crate) fn item_as(item_id: Option<&str>, call_id: &str, name: &str, arguments: &str) -> Line {
    Line::Event(TurnEvent::ToolCall(ToolCall {
        call_id: call_id.to_owned(),
        item_id: item_id.map(str::to_owned),
        name: name.into(),
        arguments: arguments.to_owned(),
        kind: ToolCallKind::Function,
        deviation: None,
    }))
}

/// A call starts whose arguments follow.
pub(crate) fn start(call_id: &str, name: &str) -> Line {
    let (call_id, name) = (call_id.to_owned(), name.into());
    Line::Event(TurnEvent::ToolCallStart { call_id, name, kind: ToolCallKind::Function })
}

pub(crate) fn arguments(text: &str) -> Line {
    Line::Event(TurnEvent::ToolCallArguments(text.to_owned()))
}

pub(crate) fn think(part: u32, text: &str) -> Line {
    let text = text.to_owned();
    Line::Event(TurnEvent::Reasoning { kind: ReasoningKind::Summary, part, text })
}

pub(crate) fn wait(milliseconds: u64) -> Line {
    Line::Wait(milliseconds)
}

/// The response ends.
pub(crate) fn end() -> Line {
    let response_id = "resp_1".to_owned();
    Line::Event(TurnEvent::ResponseEnd { response_id, usage: Some(USAGE) })
}

/// The turn ends.
pub(crate) fn turn_end(end: TurnEnd) -> Line {
    Line::Event(TurnEvent::End(end))
}

pub(crate) fn fail(kind: FailureKind) -> Line {
    Line::Event(TurnEvent::Failed(failure(kind, None)))
}

/// The upstream answers with an error's status.
pub(crate) fn fail_with_status(kind: FailureKind, status: u16) -> Line {
    Line::Event(TurnEvent::Failed(failure(kind, Some(status))))
}

fn failure(kind: FailureKind, upstream_status: Option<u16>) -> Failure {
    Failure { kind, message: format!("{kind:?}"), upstream_status, upstream_body: None }
}

/// A block in which the model writes a call.
pub(crate) fn block(name: &str, arguments: &str) -> String {
    format!("<use_tool><name>{name}</name><args>{arguments}</args></use_tool>")
}
