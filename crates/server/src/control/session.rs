//! `/v1/proxy/session`: the page's session, which stands for the owner's key. This path checks the key
//! itself, because a code opens a session as well.

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use serde_json::json;

use crate::gate::Access;
use crate::gate::admission::refuse;

pub(crate) const PATH: &str = "/v1/proxy/session";

pub(crate) fn routes(access: &Access) -> Router {
    Router::new().route(PATH, post(open).delete(end).with_state(access.clone()))
}

/// `POST /v1/proxy/session`
async fn open(State(access): State<Access>, headers: HeaderMap) -> Response {
    match access.open_session(&headers) {
        Ok(token) => {
            let shown = Json(json!({"object": "proxy.session", "token": token}));
            ([(header::CACHE_CONTROL, "no-store")], shown).into_response()
        }
        Err(error) => refuse(error),
    }
}

/// `DELETE /v1/proxy/session`
async fn end(State(access): State<Access>, headers: HeaderMap) -> Response {
    match access.end_session(&headers) {
        Ok(()) => Json(json!({"object": "proxy.session", "ended": true})).into_response(),
        Err(error) => refuse(error),
    }
}
