//! Responses that are kept or being made, by their ids.

use std::borrow::Cow;
use std::time::Duration;

use axum::Extension;
use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use openai_wire::responses::{
    EncryptedContent, InputItem, OutputItem, Reasoning, SummaryText, with_output,
};
use openai_wire::{ApiError, ErrorType};
use serde::Deserialize;
use serde_json::json;
use store::{FoundResponse, Listed, Order, Page, Responses, Store, StoreError, StoredItem};

use super::live::LiveResponses;
use crate::answering::work;
use crate::api::{Database, LiveSettings};
use crate::api_error::ErrorResponse;
use crate::gate::Caller;

/// How long a response may take to end that was cancelled.
const ENDED_WITHIN: Duration = Duration::from_secs(10);

/// The value of `include` that has an effect.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

/// How many items are listed at most, and unless somebody asks for others.
const MOST_ITEMS: usize = 100;
const USUAL_ITEMS: usize = 20;

type Id = Result<Path<String>, PathRejection>;

/// `GET /v1/responses/{id}`
pub(crate) async fn show(
    State(live): State<LiveResponses>,
    State(database): State<Database>,
    Extension(caller): Extension<Caller>,
    id: Id,
    RawQuery(query): RawQuery,
) -> Result<Response, ErrorResponse> {
    let id = read_id(id)?;
    let query = Query::read(query.as_deref().unwrap_or_default())?;
    if let Some(live) = live.find(&caller, &id) {
        return Ok(json_response(live.begun.clone()));
    }
    let found = find(&database, &caller, &id).await?;
    Ok(json_response(whole(found, query.encrypted).await?))
}

/// `DELETE /v1/responses/{id}`
pub(crate) async fn delete(
    State(live): State<LiveResponses>,
    State(database): State<Database>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, ErrorResponse> {
    let id = read_id(id)?;
    if live.find(&caller, &id).is_some() {
        let message = "The response is still being made: cancel it, or wait for its end.";
        let error = ApiError::new(400, ErrorType::InvalidRequestError, message);
        return Err(error.with_code("response_in_progress").into());
    }
    let deleted = responses(&database, &id)?.delete(caller.id(), &id).await;
    if !deleted.map_err(|error| unavailable(&error))? {
        return Err(unknown(&id).into());
    }
    Ok(json_response(json!({"id": id, "object": "response", "deleted": true}).to_string()))
}

/// `GET /v1/responses/{id}/input_items`
pub(crate) async fn list_input(
    State(settings): State<LiveSettings>,
    State(database): State<Database>,
    Extension(caller): Extension<Caller>,
    id: Id,
    RawQuery(query): RawQuery,
) -> Result<Response, ErrorResponse> {
    let id = read_id(id)?;
    let query = Query::read(query.as_deref().unwrap_or_default())?;
    let page = Page {
        order: query.order,
        after: query.after,
        items: query.limit,
        bytes: settings.load().body.bytes,
    };
    let listed = responses(&database, &id)?.input_of(caller.id(), &id, page).await;
    let (items, has_more) = match listed.map_err(|error| unavailable(&error))? {
        Listed::Page { items, has_more } => (items, has_more),
        Listed::Unknown => return Err(unknown(&id).into()),
        Listed::NoSuchItem => {
            return Err(ApiError::invalid("after", "There is no such item in this list.").into());
        }
        Listed::Broken { missing } => {
            let message = format!(
                "The input of '{}' is not whole: it goes on from '{}', which was deleted or has expired.",
                shortened(&id),
                shortened(&missing)
            );
            return Err(not_found(message).into());
        }
    };
    let encrypted = query.encrypted;
    let body = written(items, move |items| {
        let data: Vec<_> = items.iter().map(|item| shown(item, encrypted)).collect();
        let first = json!(items.first().map(|item| &item.id));
        let last = json!(items.last().map(|item| &item.id));
        let data = data.join(",");
        format!(
            r#"{{"object":"list","data":[{data}],"first_id":{first},"last_id":{last},"has_more":{has_more}}}"#
        )
    });
    Ok(json_response(body.await?))
}

/// `POST /v1/responses/{id}/cancel`
pub(crate) async fn cancel(
    State(live): State<LiveResponses>,
    State(database): State<Database>,
    Extension(caller): Extension<Caller>,
    id: Id,
) -> Result<Response, ErrorResponse> {
    let id = read_id(id)?;
    if let Some(live) = live.find(&caller, &id) {
        let mut ended = live.ended.subscribe();
        live.cancelled.cancel();
        drop(live);
        let ended = tokio::time::timeout(ENDED_WITHIN, ended.wait_for(Option::is_some)).await;
        match ended {
            Ok(Ok(ended)) => {
                if let Some(response) = &*ended {
                    return Ok(json_response(response.clone()));
                }
            }
            // Its maker is gone: if there is anything of it, it is stored.
            Ok(Err(_)) => {}
            Err(_) => {
                let message = "The response is cancelled as soon as its client reads on: it has not \
                               taken what was sent to it.";
                let error = ApiError::new(400, ErrorType::InvalidRequestError, message);
                return Err(error.with_code("response_in_progress").into());
            }
        }
    }
    let found = find(&database, &caller, &id).await?;
    let status: Status<'_> = serde_json::from_str(&found.body).unwrap_or_default();
    if status.status != "cancelled" {
        let message = format!("The response has already ended: it is {}.", status.status);
        let error = ApiError::new(400, ErrorType::InvalidRequestError, message);
        return Err(error.with_code("response_not_in_progress").into());
    }
    Ok(json_response(whole(found, EncryptedContent::LeftOut).await?))
}

async fn find(database: &Database, caller: &Caller, id: &str) -> Result<FoundResponse, ApiError> {
    let found = responses(database, id)?.find(caller.id(), id).await;
    found.map_err(|error| unavailable(&error))?.ok_or_else(|| unknown(id))
}

/// A response with its items.
async fn whole(found: FoundResponse, encrypted: EncryptedContent) -> Result<String, ApiError> {
    let FoundResponse { body, output } = found;
    let write = move |items: &[StoredItem]| {
        let items: Vec<_> = items.iter().map(|item| shown(item, encrypted)).collect();
        with_output(&body, items.iter().map(AsRef::as_ref))
    };
    written(output, write).await
}

async fn written(
    items: Vec<StoredItem>,
    write: impl FnOnce(&[StoredItem]) -> String + Send + 'static,
) -> Result<String, ApiError> {
    let bytes: usize = items.iter().map(|item| item.json.len()).sum();
    work(bytes, move || Ok(write(&items))).await
}

#[derive(Default, Deserialize)]
struct Status<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
}

/// What is asked for in a query.
#[derive(Debug)]
struct Query {
    encrypted: EncryptedContent,
    order: Order,
    after: Option<String>,
    limit: usize,
}

// === impl Query ===

impl Query {
    fn read(query: &str) -> Result<Self, ApiError> {
        let mut read = Self {
            encrypted: EncryptedContent::LeftOut,
            order: Order::LastFirst,
            after: None,
            limit: USUAL_ITEMS,
        };
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                // Clients write lists in several ways.
                "include" | "include[]" | "include[0]" if value == ENCRYPTED_REASONING => {
                    read.encrypted = EncryptedContent::Included;
                }
                "order" => {
                    read.order = match &*value {
                        "asc" => Order::FirstFirst,
                        "desc" => Order::LastFirst,
                        _ => {
                            return Err(ApiError::invalid("order", "'order' must be asc or desc."));
                        }
                    };
                }
                "after" => read.after = Some(value.into_owned()),
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MOST_ITEMS).contains(limit));
                    read.limit = limit.ok_or_else(|| {
                        let message = format!("'limit' must be 1 to {MOST_ITEMS}.");
                        ApiError::invalid("limit", message)
                    })?;
                }
                "stream" if value == "true" => {
                    let message = "A response that is kept cannot be streamed: leave 'stream' out.";
                    return Err(ApiError::invalid("stream", message));
                }
                _ => {}
            }
        }
        Ok(read)
    }
}

/// How reasoning is written that was kept. Everything else is shown as it is, however long.
const REASONING: &str = r#"{"type":"reasoning","#;

/// An item as clients may see it.
fn shown(item: &StoredItem, encrypted: EncryptedContent) -> Cow<'_, str> {
    if !item.json.starts_with(REASONING) {
        return (&item.json).into();
    }
    match InputItem::parse(&item.json) {
        Ok(InputItem::Reasoning { id, summary, encrypted_content }) => {
            let reasoning = OutputItem::Reasoning(Reasoning {
                id: id.unwrap_or_default(),
                summary: summary.into_iter().map(|text| SummaryText { text }).collect(),
                encrypted_content: encrypted_content
                    .filter(|_| encrypted == EncryptedContent::Included),
            });
            serde_json::to_string(&reasoning).unwrap_or_default().into()
        }
        _ => (&item.json).into(),
    }
}

fn read_id(id: Id) -> Result<String, ApiError> {
    // What is not text is no id.
    let Path(id) = id.map_err(|_| unknown("\u{fffd}"))?;
    Ok(id)
}

fn responses(database: &Database, id: &str) -> Result<Responses, ApiError> {
    database.as_ref().map(Store::responses).map_err(|reason| {
        not_found(format!(
            "There is no response '{}': none is kept here, as {reason}.",
            shortened(id)
        ))
    })
}

fn json_response(body: impl Into<Body>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], body.into()).into_response()
}

fn unknown(id: &str) -> ApiError {
    not_found(format!(
        "There is no response '{}': it was not stored, was deleted, has expired, or belongs to another key.",
        shortened(id)
    ))
}

fn not_found(message: String) -> ApiError {
    ApiError::new(404, ErrorType::InvalidRequestError, message).with_code("response_not_found")
}

/// As much of an id as is repeated to the client.
pub(super) fn shortened(id: &str) -> String {
    const LONGEST: usize = 64;
    id.chars().take(LONGEST).collect()
}

/// The database gives no answer at the moment.
pub(super) fn unavailable(error: &StoreError) -> ApiError {
    tracing::warn!(%error, "the kept responses cannot be used");
    let message = "The kept responses cannot be used at the moment; the log says why.";
    ApiError {
        retry_after: Some(Duration::from_secs(1)),
        ..ApiError::new(503, ErrorType::ServerError, message).with_code("responses_unavailable")
    }
}
