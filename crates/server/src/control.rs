//! What the owner sees and does: the state of everything, the turns as they come, signing in and out.
//! For the page, and for commands that ask a running server.

mod events;
mod session;
mod sign_in;
mod status;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::routing::{get, post};
use axum::{Extension, Json};
use codex_app_server::account::{Account, LoginMethod};
use openai_wire::{ApiError, ErrorType};
use serde_json::{Value, json};

use crate::api::{Backend, OwnerApi};
use crate::api_error::ErrorResponse;
use crate::body::{WholeBody, read_body};
use crate::gate::admission::OwnerGrant;
use crate::gate::{CODE_LIFETIME, Caller};
use crate::recent_turns::TurnList;
use crate::routes::ApiRoutes;

pub(crate) use session::{PATH as SESSION_PATH, routes as session_routes};
pub(crate) use sign_in::SignIn;
use sign_in::{Owner, SignInMethod};

/// Its paths begin so; all of them need the owner's key.
pub(crate) const PREFIX: &str = "/proxy/";

/// A setting, as it is shown to the owner.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ShownSetting {
    /// Its name in the environment.
    pub name: &'static str,
    /// What it belongs to.
    pub group: &'static str,
    /// What it holds, without secrets; `None` if nobody has set it and nothing stands for that.
    pub value: Option<String>,
    /// What it means that nobody has set it, where there is no value for that.
    pub unset_means: Option<&'static str>,
    /// Where that comes from.
    pub source: String,
    /// Whether nobody has said anything.
    pub is_default: bool,
    /// What it does, in Markdown.
    pub meaning: &'static str,
    /// Whether it can change while the server runs.
    pub live: bool,
}

/// The settings in force, as they are shown to the owner.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct ShownSettings {
    /// In the order of the documentation.
    pub settings: Vec<ShownSetting>,
    /// What is odd about them.
    pub warnings: Vec<String>,
}

/// Adds its paths.
pub(crate) fn add_routes(routes: ApiRoutes, api: &Arc<OwnerApi>) -> ApiRoutes {
    let api = || Arc::clone(api);
    routes
        .route("/proxy/code", post(issue_code))
        .route("/proxy/status", get(show_status).with_state(api()))
        .route("/proxy/events", get(events::follow).with_state(api()))
        .route("/proxy/turns", get(show_turns).with_state(api()))
        .route("/proxy/models", get(show_models).with_state(api()))
        .route("/proxy/settings", get(show_settings).with_state(api()))
        .route("/proxy/login", post(start_login).delete(cancel_login).with_state(api()))
        .route("/proxy/login/confirm", post(confirm_login).with_state(api()))
        .route("/proxy/logout", post(log_out).with_state(api()))
}

/// `POST /v1/proxy/code`
async fn issue_code(Extension(grant): Extension<OwnerGrant>) -> Result<Json<Value>, ErrorResponse> {
    let (code, page) = grant.issue_code()?;
    let expires_in = CODE_LIFETIME.as_secs();
    Ok(Json(json!({"object": "proxy.code", "code": code, "page": page, "expires_in": expires_in})))
}

/// `GET /v1/proxy/status`
async fn show_status(State(api): State<Arc<OwnerApi>>) -> Json<Value> {
    if let Some(backend) = api.backend.get() {
        backend.account.refreshed().await;
    }
    Json(status::now(&api))
}

/// `GET /v1/proxy/turns`
async fn show_turns(State(api): State<Arc<OwnerApi>>) -> Json<TurnList> {
    Json(api.recent.all())
}

/// `GET /v1/proxy/models`
async fn show_models(State(api): State<Arc<OwnerApi>>) -> Result<Json<Value>, ErrorResponse> {
    let models = &Backend::ready(&api.backend).await?.models;
    Ok(Json(models.described(&api.settings.load_full().aliases).await?))
}

/// `GET /v1/proxy/settings`
async fn show_settings(State(api): State<Arc<OwnerApi>>) -> Json<ShownSettings> {
    Json(ShownSettings::clone(&api.settings.load().shown))
}

/// `POST /v1/proxy/login`
async fn start_login(
    State(api): State<Arc<OwnerApi>>,
    Extension(grant): Extension<OwnerGrant>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<Value>, ErrorResponse> {
    let method = read_method(&api, &caller, request.into_body()).await?;
    let backend = Backend::ready(&api.backend).await?;
    let begun = api.sign_in.start(Owner { caller, grant }, method, backend, &api.stopping).await;
    let login = begun.map_err(|reason| login_failed(&reason))?;
    Ok(Json(json!(login)))
}

/// `POST /v1/proxy/login/confirm`
async fn confirm_login(
    State(api): State<Arc<OwnerApi>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Json<Value>, ErrorResponse> {
    let read = read_json(&api, &caller, request.into_body()).await?;
    // What the owner has seen is confirmed, and not what may have begun since.
    let id = read.get("id").and_then(Value::as_u64).ok_or_else(|| {
        ApiError::invalid("id", "The id of the sign-in is needed: the number that its status has.")
    })?;
    let login = api.sign_in.confirm(id).await.ok_or_else(nothing_to_confirm)?;
    Ok(Json(json!(login)))
}

/// `DELETE /v1/proxy/login`
async fn cancel_login(State(api): State<Arc<OwnerApi>>) -> Json<Value> {
    Json(json!(api.sign_in.cancel().await))
}

/// `POST /v1/proxy/logout`
async fn log_out(
    State(api): State<Arc<OwnerApi>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Value>, ErrorResponse> {
    let Backend { pool, models, account, .. } = Backend::ready(&api.backend).await?;
    let _no_sign_in = api.sign_in.forget().await;
    let client = models.ready_client().await?;
    let before = pool.login_in_place();
    let change = account.own_change();
    client.logout().await.map_err(|error| login_failed(&error.in_plain_words()))?;
    change.made(None);
    let name = before.account().map_or("none", Account::name);
    tracing::info!(account = name, key = caller.name(), "signed out");
    Ok(Json(json!({"signed_in": false})))
}

async fn read_json(api: &OwnerApi, caller: &Caller, body: Body) -> Result<Value, ApiError> {
    let limits = api.settings.load().body;
    let WholeBody { bytes, .. } = read_body(body, limits, &api.large, caller).await?;
    serde_json::from_slice(&bytes).map_err(|error| ApiError::not_json(&error))
}

async fn read_method(
    api: &OwnerApi,
    caller: &Caller,
    body: Body,
) -> Result<SignInMethod, ApiError> {
    let read = read_json(api, caller, body).await?;
    let supported = "Supported values are: 'browser', 'device_code' and 'api_key'.";
    match read.get("method").and_then(Value::as_str) {
        Some("browser") => Ok(SignInMethod::ChatGpt(LoginMethod::Browser)),
        Some("device_code") => Ok(SignInMethod::ChatGpt(LoginMethod::DeviceCode)),
        Some("api_key") => match read.get("api_key").and_then(Value::as_str).map(str::trim) {
            Some(key) if !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(SignInMethod::ApiKey(key.to_owned()))
            }
            Some(key) if !key.is_empty() => Err(ApiError::invalid(
                "api_key",
                "An API key has no white space, and nothing but plain letters, digits and signs.",
            )),
            _ => Err(ApiError::invalid("api_key", "The API key is missing: a text is needed.")),
        },
        Some(_) => {
            Err(ApiError::invalid("method", format!("There is no such method. {supported}")))
        }
        None => Err(ApiError::invalid("method", format!("A method is needed. {supported}"))),
    }
}

/// Codex has not done what the owner wanted.
fn login_failed(reason: &str) -> ApiError {
    let message = format!("Codex could not sign in or out: {}.", reason.trim_end_matches('.'));
    ApiError {
        retry_after: Some(Duration::from_secs(1)),
        ..ApiError::new(502, ErrorType::ServerError, message).with_code("login_failed")
    }
}

fn nothing_to_confirm() -> ApiError {
    let message =
        "This sign-in does not wait to be confirmed: only one whose state is 'confirming' does.";
    ApiError::new(400, ErrorType::InvalidRequestError, message).with_code("login_not_confirming")
}
