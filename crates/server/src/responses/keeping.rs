//! Keeping a response that has ended.

use std::sync::Arc;

use bridge::ResponseItems;
use openai_wire::responses::{InputItem, OutputItem, ResponsesRequest};
use store::{Responses, StoredItem, StoredResponse};

use super::live::LiveResponse;
use crate::answering::{Storage, Storing, random_text};
use crate::kept_reasoning::Origin;
use crate::metrics::Metrics;

/// What keeps a response when it has ended.
pub(super) struct Keeper {
    responses: Responses,
    /// The id of the key that it belongs to.
    key: String,
    id: String,
    origin: Origin,
    metrics: Arc<Metrics>,
    previous: Option<String>,
    input: Vec<StoredItem>,
}

/// What becomes of a response that has ended.
pub(super) struct ResponseStorage {
    pub(super) live: LiveResponse,
    /// Set until it is kept, if it is to be.
    pub(super) keeper: Option<Keeper>,
}

// === impl ResponseStorage ===

impl Storage<ResponseItems> for ResponseStorage {
    fn store(&mut self, items: &ResponseItems) -> Option<Storing> {
        self.keeper.take().map(|keeper| keeper.keep(items))
    }

    fn ended(&self, items: &ResponseItems) {
        self.live.end(items);
    }
}

// === impl Keeper ===

impl Keeper {
    pub(super) fn new(
        responses: Responses,
        metrics: Arc<Metrics>,
        key: String,
        id: String,
        origin: Origin,
    ) -> Self {
        Self { responses, key, id, origin, metrics, previous: None, input: Vec::new() }
    }

    /// What the response is an answer to.
    pub(super) fn take_input(&mut self, request: &ResponsesRequest) {
        self.previous.clone_from(&request.previous_response_id);
        let origin = self.origin;
        let input = request.input.iter().cloned();
        self.input = input.map(|item| stored_input(item, origin)).collect();
    }

    /// Keeps it as it is now. Says whether it is kept: whoever is told so can rely on it.
    pub(super) fn keep(self, items: &ResponseItems) -> Storing {
        let response = StoredResponse {
            id: self.id,
            key: self.key,
            created_at: ambient::wall_time(),
            previous: self.previous,
            body: items.without_output(),
            input: self.input,
            output: items.output().iter().map(|item| stored_output(item, self.origin)).collect(),
        };
        let (responses, metrics) = (self.responses, self.metrics);
        Box::pin(async move {
            let kept = responses.keep(response).await;
            if let Err(error) = &kept {
                tracing::warn!(%error, "a response is not kept");
            }
            metrics.response_kept(kept.is_ok());
            kept.is_ok()
        })
    }
}

/// Under an id of our own: one that a client gives may be that of another item.
fn stored_input(mut item: InputItem, origin: Origin) -> StoredItem {
    let id = format!("{}{}", item.id_prefix(), random_text(48));
    item.set_id(id.clone());
    let json = match item {
        // Whoever has just answered with it in view can read it.
        InputItem::Reasoning { .. } => with_origin(item.to_json(), origin),
        _ => item.to_json(),
    };
    StoredItem { id, json }
}

fn stored_output(item: &OutputItem, origin: Origin) -> StoredItem {
    let json = serde_json::to_string(item).unwrap_or_default();
    let json = match item {
        OutputItem::Reasoning(_) => with_origin(json, origin),
        OutputItem::Message(_) | OutputItem::FunctionCall(_) | OutputItem::CustomToolCall(_) => {
            json
        }
    };
    StoredItem { id: item.id().to_owned(), json }
}

/// Another account could do nothing with reasoning, and its upstream would refuse the request.
fn with_origin(mut json: String, origin: Origin) -> String {
    json.truncate(json.len().saturating_sub(1));
    json.extend([r#","origin":""#, &origin.to_string(), r#""}"#]);
    json
}
