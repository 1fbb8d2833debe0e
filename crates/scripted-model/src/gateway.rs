//! What is different where a gateway asks, and not Codex.

use std::io;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse as _, Json, Response};
use futures_util::stream;
use serde_json::{Value, json};

use crate::answer::Script;
use crate::chat_chunks::{self, ChatChunks, UsageWish};
use crate::chat_request::as_response_request;
use crate::collected::{Collected, collect};
use crate::complete_events::CompleteEvents;
use crate::failures::ErrorReply;
use crate::record::InFlight;
use crate::server::{Api, error_response};
use crate::wire::Wire;

/// How an answer is wanted.
pub(crate) enum Wanted {
    Streamed(Wire),
    Whole(CompleteEvents),
}

/// Refuses what OpenAI would refuse, as far as it matters here.
pub(crate) fn check(api: Api, body: &Value) -> Result<(), ErrorReply> {
    let (name, is_fit) = match api {
        Api::Chat => ("messages", body["messages"].is_array()),
        Api::Responses => ("input", body["input"].is_array() || body["input"].is_string()),
    };
    if is_fit {
        return Ok(());
    }
    Err(ErrorReply::about(name, &format!("Missing or invalid parameter: '{name}'.")))
}

/// The request as the scenarios read it.
pub(crate) fn asked(api: Api, body: &Value) -> Value {
    match api {
        Api::Chat => as_response_request(body),
        Api::Responses => body.clone(),
    }
}

pub(crate) fn wire(api: Api, body: &Value, now: u64) -> Wanted {
    let model = body["model"].as_str().unwrap_or("demo");
    let events = CompleteEvents::new(model, now);
    match (api, body["stream"] == Value::Bool(true)) {
        (_, false) => Wanted::Whole(events),
        (Api::Responses, true) => Wanted::Streamed(Wire::Complete(events)),
        (Api::Chat, true) => {
            let is_asked = body["stream_options"]["include_usage"] == Value::Bool(true);
            let wish = if is_asked { UsageWish::Asked } else { UsageWish::Unasked };
            Wanted::Streamed(Wire::Chat(ChatChunks::new(model, now, wish)))
        }
    }
}

/// The whole answer, once the script has been played.
pub(crate) async fn whole(
    api: Api,
    script: Script,
    events: CompleteEvents,
    in_flight: InFlight,
) -> Response {
    match collect(script, events, in_flight).await {
        Collected::Cut => {
            let cut = io::Error::from(io::ErrorKind::ConnectionAborted);
            Body::from_stream(stream::iter([Err::<Bytes, _>(cut)])).into_response()
        }
        Collected::Ended(response) if response["status"] == "failed" => {
            let body = json!({"error": chat_chunks::error(&response)});
            error_response(&ErrorReply { status: 500, body, retry_after: None })
        }
        Collected::Ended(response) => match api {
            Api::Chat => Json(chat_chunks::completion(&response)).into_response(),
            Api::Responses => Json(response).into_response(),
        },
    }
}
