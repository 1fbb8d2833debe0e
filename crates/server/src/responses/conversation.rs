//! What a request refers to: the responses before it, and single items of them.

use std::collections::HashMap;

use bridge::{Prepared, RequestOptions};
use openai_wire::responses::{InputItem, ResponsesRequest};
use openai_wire::{ApiError, ErrorType};
use serde::Deserialize;
use store::{Conversation, Responses};

use super::stored::{shortened, unavailable};
use crate::answering::Incoming;
use crate::api::TurnApi;
use crate::gate::Caller;
use crate::kept_reasoning::Origin;

/// What a request refers to, as it was kept.
#[derive(Debug)]
pub(super) struct Resolved {
    /// What was said up to the previous response.
    earlier: Vec<String>,
    /// Items by their ids.
    items: HashMap<String, String>,
    origin: Origin,
}

/// The members that decide whether a kept item can be used.
#[derive(Deserialize)]
struct Kept {
    origin: Option<String>,
}

// === impl Resolved ===

impl Resolved {
    /// Finds it. All of it together counts as if the request had held it itself.
    pub(super) async fn look_up(
        api: &TurnApi,
        incoming: &mut Incoming,
        request: &ResponsesRequest,
        origin: Origin,
    ) -> Result<Self, ApiError> {
        let mut resolved = Self { earlier: Vec::new(), items: HashMap::new(), origin };
        let ids: Vec<String> =
            request.input.iter().filter_map(referred).map(str::to_owned).collect();
        let previous = request.previous_response_id.clone();
        if previous.is_none() && ids.is_empty() {
            return Ok(resolved);
        }
        let responses = match (&api.database, &previous) {
            (Ok(database), _) => database.responses(),
            (Err(reason), Some(previous)) => {
                return Err(not_found(previous, &format!("no response is kept: {reason}")));
            }
            (Err(_), None) => return Ok(resolved),
        };
        let caller = incoming.caller.clone();
        let measured = responses.measure(caller.id(), previous.clone(), ids.clone()).await;
        let measured = measured.map_err(|error| unavailable(&error))?;
        let bytes = usize::try_from(measured).unwrap_or(usize::MAX);
        let bytes = bytes.saturating_add(incoming.body.len());
        let most = incoming.settings.body.bytes;
        if bytes > most {
            return Err(too_large(bytes, most, previous.is_some()));
        }
        incoming.make_room(&api.large, bytes).await?;
        if let Some(previous) = &previous {
            resolved.earlier = earlier(&responses, &caller, previous).await?;
        }
        if !ids.is_empty() {
            resolved.items =
                responses.items(caller.id(), ids).await.map_err(|error| unavailable(&error))?;
        }
        Ok(resolved)
    }

    /// A request with all that it refers to.
    pub(super) fn prepare(
        &self,
        mut request: ResponsesRequest,
        options: &RequestOptions<'_>,
    ) -> Result<Prepared, ApiError> {
        let earlier = self.put_into(&mut request)?;
        bridge::prepare_response(request, earlier, options)
    }

    /// How much there is to read.
    pub(super) fn bytes(&self) -> usize {
        self.earlier.iter().chain(self.items.values()).map(String::len).sum()
    }

    /// Puts items into the places where a request refers to them, and gives what was said before it.
    pub(super) fn put_into(
        &self,
        request: &mut ResponsesRequest,
    ) -> Result<Vec<InputItem>, ApiError> {
        for item in &mut request.input {
            if let Some(kept) = referred(item).and_then(|id| self.items.get(id))
                && let Some(kept) = self.read(kept)?
            {
                *item = kept;
            }
        }
        let earlier = self.earlier.iter().map(|json| self.read(json));
        earlier.filter_map(Result::transpose).collect()
    }

    /// An item that was kept. Reasoning that this upstream cannot read is left out.
    fn read(&self, json: &str) -> Result<Option<InputItem>, ApiError> {
        let item = InputItem::parse(json).map_err(|error| {
            tracing::error!(%error, "an item that was kept cannot be read");
            ApiError::new(500, ErrorType::ServerError, "An item that was kept cannot be read.")
        })?;
        if let InputItem::Reasoning { .. } = item {
            let kept: Option<Kept> = serde_json::from_str(json).ok();
            let origin = kept.and_then(|kept| kept.origin);
            if origin.is_some_and(|origin| origin != self.origin.to_string()) {
                return Ok(None);
            }
        }
        Ok(Some(item))
    }
}

/// The id of an item that is to be looked up: a reference, or reasoning without the part that counts.
fn referred(item: &InputItem) -> Option<&str> {
    match item {
        InputItem::Reference { id }
        | InputItem::Reasoning { id: Some(id), encrypted_content: None, .. } => Some(id),
        _ => None,
    }
}

async fn earlier(
    responses: &Responses,
    caller: &Caller,
    previous: &str,
) -> Result<Vec<String>, ApiError> {
    let conversation = responses.conversation(caller.id(), previous).await;
    match conversation.map_err(|error| unavailable(&error))? {
        Conversation::Whole(items) => Ok(items.into_iter().map(|item| item.json).collect()),
        Conversation::Unknown => Err(not_found(
            previous,
            "it was not stored, was deleted, has expired, or belongs to another key",
        )),
        Conversation::Broken { missing } => {
            let why = format!("it goes on from '{missing}', which was deleted or has expired");
            Err(not_found(previous, &why))
        }
    }
}

fn too_large(bytes: usize, most: usize, is_conversation: bool) -> ApiError {
    let message = format!(
        "The request and what it refers to have {bytes} bytes, but {most} (PROXY_MAX_BODY_BYTES) are the most."
    );
    let param = if is_conversation { "previous_response_id" } else { "input" };
    let error = ApiError::new(413, ErrorType::InvalidRequestError, message);
    ApiError { param: Some(param.to_owned()), ..error.with_code("request_too_large") }
}

fn not_found(id: &str, why: &str) -> ApiError {
    let message = format!("Previous response with id '{}' not found: {why}.", shortened(id));
    ApiError::invalid("previous_response_id", message).with_code("previous_response_not_found")
}
