//! What becomes of a request.

mod answer;
mod history;
mod laws;
mod refused;
mod remote_images;
mod tolerated;
mod tools;

use model_turn::{ContentPart, HistoryItem, Role, ToolOutput, TurnRequest};
use openai_wire::ApiError;
use openai_wire::chat::ChatRequest;
use serde_json::{Value, json};

use super::{Prepared, RequestOptions, prepare};
use crate::policy::TurnSettings;

const PIXEL: &str = "data:image/png;base64,iVBORw0KGgo=";

fn prepare_with(settings: &TurnSettings, body: &Value) -> Result<Prepared, ApiError> {
    let request = ChatRequest::parse(body.to_string().as_bytes())?;
    prepare(request, &RequestOptions::new(settings))
}

fn prepared(body: &Value) -> Prepared {
    prepare_with(&TurnSettings::default(), body).expect("a request that can be served")
}

/// A request with these members beside a model and a message.
fn with(members: &Value) -> Value {
    let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}]});
    let members = members.as_object().expect("members").clone();
    body.as_object_mut().expect("an object").extend(members);
    body
}

/// The turn of [`with`] without any members.
fn plain_turn() -> TurnRequest {
    TurnRequest {
        model: "m".to_owned(),
        history: vec![HistoryItem::text(Role::User, "Hi")],
        summary: Some("auto".to_owned()),
        ..TurnRequest::default()
    }
}

/// The history that messages become.
#[track_caller]
fn history(messages: &Value) -> Vec<HistoryItem> {
    prepared(&with(&json!({"messages": messages}))).turn.history
}

fn developer(text: &str) -> HistoryItem {
    HistoryItem::text(Role::Developer, text)
}

fn user(text: &str) -> HistoryItem {
    HistoryItem::text(Role::User, text)
}

fn assistant(text: &str) -> HistoryItem {
    HistoryItem::text(Role::Assistant, text)
}

fn call(call_id: &str, name: &str, arguments: &str) -> HistoryItem {
    HistoryItem::function_call(call_id, name, arguments)
}

fn output(call_id: &str, text: &str) -> HistoryItem {
    HistoryItem::ToolOutput {
        call_id: call_id.to_owned(),
        output: ToolOutput::Text(text.to_owned()),
    }
}

fn image() -> ContentPart {
    ContentPart::Image { url: PIXEL.to_owned() }
}

/// An assistant message that calls `f` under each of these ids, with the id as the argument.
fn calls(ids: &[&str]) -> Value {
    let call = |id: &&str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": id}});
    json!({"role": "assistant", "content": null, "tool_calls": ids.iter().map(call).collect::<Vec<_>>()})
}

fn result(id: &str, content: impl Into<Value>) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": content.into()})
}
