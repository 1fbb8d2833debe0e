//! The models that can be asked: `/v1/models`, and what a name stands for.

mod nearest;

use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::http::Uri;
use bridge::Target;
use codex_app_server::{DEMO_MODEL, Model, ModelAliases, Pool, ResolvedModel, WorkerState};
use model_turn::Upstream;
use openai_wire::{ApiError, ErrorType};
use parking_lot::Mutex;
use serde_json::{Value, json};
use siphasher::sip::SipHasher13;

use crate::api::{Backend, BackendCell, LiveSettings};
use crate::api_error::ErrorResponse;
use crate::kept_reasoning::Origin;
use nearest::nearest_names;

/// How long the catalog is taken for what it was: it changes with the Codex on disk only.
const FRESH_FOR: Duration = Duration::from_mins(1);

/// How long somebody waits for a newer catalog who could have the last one.
const ASKED_WITHIN: Duration = Duration::from_secs(1);

/// How long somebody waits for Codex to be ready.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// Everything that can be asked, under all its names.
pub struct ModelDirectory {
    pool: Pool,
    /// What a name without a model stands for; `None` is Codex's own default.
    default_model: Option<String>,
    /// Where all models but `demo` are asked instead of where the login leads.
    upstream: Option<Upstream>,
    /// Where `demo` is asked.
    demo: Upstream,
    catalog: Mutex<Option<Known>>,
}

#[derive(Clone)]
struct Known {
    models: Arc<[Model]>,
    since: Instant,
}

/// What a request says of its model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AskedModel<'a> {
    pub(crate) name: &'a str,
    pub(crate) effort: Option<&'a str>,
    /// Where the request has the effort.
    pub(crate) effort_field: &'static str,
    pub(crate) aliases: &'a ModelAliases,
    /// The name that stands for one that is not known.
    pub(crate) fallback: Option<&'a str>,
}

/// Efforts from the lowest. One that is not here is higher than all of them.
const EFFORTS: [&str; 8] = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];

/// Efforts that a client may ask of any model: the lowest stands for them.
const LOWEST: [&str; 2] = ["none", "minimal"];

/// `GET /v1/models`
pub(crate) async fn list(
    State(settings): State<LiveSettings>,
    State(backend): State<BackendCell>,
    uri: Uri,
) -> Result<Json<Value>, ErrorResponse> {
    let mut query = form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let efforts = query.any(|(name, value)| name == "efforts" && value == "true");
    let models = &Backend::ready(&backend).await?.models;
    let names = models.names(&settings.load_full().aliases, efforts).await?;
    let models: Vec<Value> = names.iter().map(|name| model(name)).collect();
    Ok(Json(json!({"object": "list", "data": models})))
}

/// `GET /v1/models/{id}`
pub(crate) async fn show(
    State(settings): State<LiveSettings>,
    State(backend): State<BackendCell>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Value>, ErrorResponse> {
    // A name that is not text is unknown.
    let Path(id) = id.map_err(|_| unknown_model("\u{fffd}", &[]))?;
    Backend::ready(&backend).await?.models.find(&id, &settings.load_full().aliases).await?;
    Ok(Json(model(&id)))
}

/// The catalog has no creation time of a model.
fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "codex"})
}

// === impl ModelDirectory ===

impl ModelDirectory {
    /// The models of the pool's Codex, and `demo`.
    pub fn new(
        pool: Pool,
        default_model: Option<String>,
        upstream: Option<Upstream>,
        demo: Upstream,
    ) -> Self {
        Self { pool, default_model, upstream, demo, catalog: Mutex::new(None) }
    }

    /// Resolves a request's model and effort, and the origin that can decrypt their reasoning.
    pub(crate) async fn choose(&self, asked: AskedModel<'_>) -> Result<(Target, Origin), ApiError> {
        let AskedModel { name, effort, effort_field, aliases, fallback } = asked;
        let catalog = self.catalog().await?;
        let mut resolved = self.resolve(name, aliases, &catalog)?;
        // The models of an upstream of one's own are not known here.
        let is_unknown = |resolved: &ResolvedModel| {
            self.upstream.is_none() && find_model(&catalog, &resolved.model).is_none()
        };
        if let Some(fallback) = fallback.filter(|_| is_unknown(&resolved)) {
            resolved = self.resolve(fallback, aliases, &catalog)?;
        }
        if is_unknown(&resolved) {
            return Err(unknown_model(name, &names(&catalog, aliases)));
        }
        let ResolvedModel { model, effort: implied } = resolved;
        let known = find_model(&catalog, &model);
        let upstream = match model.as_str() {
            DEMO_MODEL => Some(self.demo.clone()),
            _ => self.upstream.clone(),
        };
        let lowest = known.zip(effort).and_then(|(known, effort)| lowest_instead(known, effort));
        if let (Some(known), Some(effort), None) = (known, effort, lowest) {
            check_effort(known, effort, effort_field)?;
        }
        let origin = self.origin(&model, upstream.as_ref());
        let effort = lowest.or(effort).map(str::to_owned).or(implied);
        let ignored = lowest.map(|_| effort_field);
        Ok((Target { model, effort, upstream, ignored }, origin))
    }

    fn origin(&self, model: &str, upstream: Option<&Upstream>) -> Origin {
        let mut hasher = SipHasher13::new();
        model.hash(&mut hasher);
        if let Some(upstream) = upstream {
            (&upstream.base_url, &upstream.api_key).hash(&mut hasher);
        } else {
            let client = self.pool.client();
            client.and_then(|client| client.account_fingerprint()).hash(&mut hasher);
        }
        Origin(hasher.finish())
    }

    /// Every name, in the catalog's order, then the other names; with `efforts` each model also with each
    /// of its efforts.
    pub(crate) async fn names(
        &self,
        aliases: &ModelAliases,
        efforts: bool,
    ) -> Result<Vec<String>, ApiError> {
        let catalog = self.catalog().await?;
        let names = names(&catalog, aliases).into_iter().map(str::to_owned);
        let with_effort = |model: &Model| {
            let id = model.id.clone();
            let efforts = model.supported_reasoning_efforts.clone().into_iter();
            efforts.map(move |option| format!("{id}-{}", option.reasoning_effort))
        };
        let shown = catalog.iter().filter(|model| efforts && !model.hidden);
        Ok(names.chain(shown.flat_map(with_effort)).collect())
    }

    /// Every model with what is known of it, and what the other names stand for.
    pub(crate) async fn described(&self, aliases: &ModelAliases) -> Result<Value, ApiError> {
        let catalog = self.catalog().await?;
        let default = aliases.default_model(self.default_model.as_deref(), &catalog);
        Ok(describe_models(&catalog, aliases, default.as_deref()))
    }

    /// Where models are asked, if not where the login leads.
    pub(crate) fn upstream_address(&self) -> Option<&str> {
        self.upstream.as_ref().map(|upstream| upstream.base_url.as_str())
    }

    /// # Errors
    /// If the name cannot be asked.
    pub(crate) async fn find(&self, name: &str, aliases: &ModelAliases) -> Result<(), ApiError> {
        let catalog = self.catalog().await?;
        let resolved = self.resolve(name, aliases, &catalog)?;
        if aliases.contains(name) || find_model(&catalog, &resolved.model).is_some() {
            return Ok(());
        }
        Err(unknown_model(name, &names(&catalog, aliases)))
    }

    fn resolve(
        &self,
        name: &str,
        aliases: &ModelAliases,
        catalog: &[Model],
    ) -> Result<ResolvedModel, ApiError> {
        let default = aliases.default_model(self.default_model.as_deref(), catalog);
        let resolve = |name: &str| match &default {
            Some(default) => Ok(aliases.resolve(name, default)),
            None if aliases.contains(name) => Err(no_default()),
            None => Ok(ResolvedModel { model: name.to_owned(), effort: None }),
        };
        let whole = resolve(name)?;
        if find_model(catalog, &whole.model).is_some() {
            return Ok(whole);
        }
        // Every model has a name for each of its efforts.
        if let Some((name, effort)) = name.rsplit_once('-') {
            let ResolvedModel { model, .. } = resolve(name)?;
            if find_model(catalog, &model).is_some_and(|model| has_effort(model, effort)) {
                return Ok(ResolvedModel { model, effort: Some(effort.to_owned()) });
            }
        }
        Ok(whole)
    }

    async fn catalog(&self) -> Result<Arc<[Model]>, ApiError> {
        let models = match self.known() {
            None => self.ask_for_catalog().await?,
            Some(Known { models, since }) if ambient::since(since) < FRESH_FOR => {
                return Ok(models);
            }
            // A child that is lost or hangs just then is no reason to fail.
            Some(Known { models, .. }) => {
                let asked = tokio::time::timeout(ASKED_WITHIN, self.ask_for_catalog()).await;
                asked.ok().and_then(Result::ok).unwrap_or(models)
            }
        };
        let known = Known { models: Arc::clone(&models), since: ambient::now() };
        *self.catalog.lock() = Some(known);
        Ok(models)
    }

    async fn ask_for_catalog(&self) -> Result<Arc<[Model]>, ApiError> {
        let client = self.ready_client().await?;
        let models = client.models().await.map_err(|error| unavailable(&error.to_string()))?;
        Ok(models.into())
    }

    fn known(&self) -> Option<Known> {
        self.catalog.lock().clone()
    }

    /// A child that is ready.
    pub(crate) async fn ready_client(&self) -> Result<codex_app_server::Client, ApiError> {
        if let Some(client) = self.pool.client() {
            return Ok(client);
        }
        let mut states = self.pool.states();
        let is_ready = |states: &Vec<WorkerState>| {
            states.iter().any(|s| matches!(s, WorkerState::Ready { .. }))
        };
        let ready = tokio::time::timeout(READY_WITHIN, states.wait_for(is_ready)).await;
        let client = ready.is_ok().then(|| self.pool.client()).flatten();
        client.ok_or_else(|| unavailable("it is not ready; /readyz says why"))
    }
}

/// Models and their other names as JSON.
pub fn describe_models(models: &[Model], aliases: &ModelAliases, default: Option<&str>) -> Value {
    let model = |model: &Model| {
        let efforts = model.supported_reasoning_efforts.iter();
        json!({
            "id": model.id,
            "name": model.display_name,
            "description": model.description,
            "default": Some(model.id.as_str()) == default,
            "hidden": model.hidden,
            "efforts": efforts.map(|option| option.reasoning_effort.as_str()).collect::<Vec<_>>(),
            "default_effort": model.default_reasoning_effort,
            "input": model.input_modalities,
        })
    };
    let alias = |(name, _): (&str, _)| {
        let resolved = default.map(|default| aliases.resolve(name, default));
        json!({
            "name": name,
            "model": resolved.as_ref().map(|resolved| &resolved.model),
            "effort": resolved.as_ref().map(|resolved| &resolved.effort),
        })
    };
    json!({
        "default": default,
        "models": models.iter().map(model).collect::<Vec<_>>(),
        "aliases": aliases.iter().map(alias).collect::<Vec<_>>(),
    })
}

fn find_model<'a>(catalog: &'a [Model], id: &str) -> Option<&'a Model> {
    catalog.iter().find(|model| model.id == id)
}

fn has_effort(model: &Model, effort: &str) -> bool {
    model.supported_reasoning_efforts.iter().any(|option| option.reasoning_effort == effort)
}

/// The lowest effort of a model that has not the one that is asked for, if that is a low one.
fn lowest_instead<'a>(model: &'a Model, effort: &str) -> Option<&'a str> {
    if !LOWEST.contains(&effort) || has_effort(model, effort) {
        return None;
    }
    let rank =
        |effort: &&str| EFFORTS.iter().position(|known| known == effort).unwrap_or(usize::MAX);
    let efforts = model.supported_reasoning_efforts.iter();
    efforts.map(|option| option.reasoning_effort.as_str()).min_by_key(rank)
}

fn check_effort(model: &Model, effort: &str, field: &str) -> Result<(), ApiError> {
    let supported = &model.supported_reasoning_efforts;
    if supported.is_empty() || has_effort(model, effort) {
        return Ok(());
    }
    let names: Vec<_> = supported.iter().map(|option| option.reasoning_effort.as_str()).collect();
    Err(ApiError::invalid(
        field,
        format!(
            "The model {} has no effort {effort:?}: use one of {}.",
            model.id,
            names.join(", ")
        ),
    ))
}

/// Every name that is shown, in the catalog's order, then the other names.
fn names<'a>(catalog: &'a [Model], aliases: &'a ModelAliases) -> Vec<&'a str> {
    let shown = catalog.iter().filter(|model| !model.hidden).map(|model| model.id.as_str());
    shown.chain(aliases.iter().map(|(name, _)| name)).collect()
}

/// The error for a name that is none of `known`.
fn unknown_model(name: &str, known: &[&str]) -> ApiError {
    let nearest = nearest_names(name, known);
    let instead = match nearest.as_slice() {
        [] => String::new(),
        [one] => format!(" Did you mean `{one}`?"),
        [before @ .., last] => format!(" Did you mean `{}` or `{last}`?", before.join("`, `")),
    };
    let message =
        format!("The model `{name}` does not exist.{instead} GET /v1/models lists the models.");
    ApiError {
        param: Some("model".to_owned()),
        ..ApiError::new(404, ErrorType::InvalidRequestError, message).with_code("model_not_found")
    }
}

fn no_default() -> ApiError {
    let message = "Codex names no default model; set CODEX_MODEL.";
    ApiError::new(404, ErrorType::InvalidRequestError, message).with_code("model_not_found")
}

fn unavailable(reason: &str) -> ApiError {
    let message = format!("Codex cannot be asked for its models: {reason}. Try again in a second.");
    ApiError {
        retry_after: Some(Duration::from_secs(1)),
        ..ApiError::new(503, ErrorType::ServerError, message).with_code("codex_unavailable")
    }
}
