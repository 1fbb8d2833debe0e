//! `GET /v1/usage`: what the turns used, and what is left of the account's allowance.

use std::borrow::Cow;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::{Extension, Json};
use codex_app_server::account::{LimitWindow, RateLimits};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use openai_wire::{ApiError, ErrorType};
use serde_json::{Value, json};
use store::{KeyUsage, UsageKey, UsageQuery, UsageReport, UsageSums};

use crate::account_limits::AccountStanding;
use crate::api::{BackendCell, Database};
use crate::api_error::ErrorResponse;
use crate::gate::Caller;
use crate::health::merge;

/// Days that are told of unless somebody asks for others, today among them.
const USUAL_DAYS: i64 = 30;

/// How long rows of turns that have just ended are waited for.
const WRITTEN_WITHIN: Duration = Duration::from_secs(1);

/// What can be asked for.
const PARAMETERS: [&str; 4] = ["from", "to", "key", "model"];

pub(crate) async fn show(
    State(database): State<Database>,
    State(backend): State<BackendCell>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Result<Json<Value>, ErrorResponse> {
    let mut query = parse(query.as_deref().unwrap_or_default(), today())?;
    query.key = within_reach(query.key, &caller)?;
    // Asking again does not help.
    let database =
        database.map_err(|reason| ApiError { should_retry: false, ..unavailable(&reason) })?;
    let usage = database.usage();
    // A client that asks after its own turn finds it.
    let written = tokio::time::timeout(WRITTEN_WITHIN, usage.flush());
    let account = async {
        match backend.get() {
            Some(backend) => backend.account.refreshed().await,
            None => AccountStanding::NotAsked,
        }
    };
    let (_, account) = tokio::join!(written, account);
    let report = usage.report(query.clone()).await.map_err(|error| {
        tracing::warn!(%error, "usage could not be read");
        unavailable(&error.to_string())
    })?;
    Ok(Json(shown(&query, &report, &account)))
}

/// The owner sees all usage, and a client its own.
fn within_reach(asked: UsageKey, caller: &Caller) -> Result<UsageKey, ApiError> {
    let (id, name) = (caller.id(), caller.name());
    match asked {
        asked if caller.is_owner() => Ok(asked),
        UsageKey::Called(key) | UsageKey::Only(key) if key != id && key != name => {
            let message = format!(
                "A client's key shows its own usage only: key must be {name} or {id}, or left out. \
                 The usage of other keys needs the key of the server's owner."
            );
            let error = ApiError::new(403, ErrorType::PermissionError, message);
            Err(ApiError { param: Some("key".to_owned()), ..error.with_code("owner_key_required") })
        }
        // Not by its name, which a revoked key may have had.
        UsageKey::Any | UsageKey::Called(_) | UsageKey::Only(_) => {
            Ok(UsageKey::Only(id.to_owned()))
        }
    }
}

fn unavailable(reason: &str) -> ApiError {
    let message = format!("There are no figures of usage: {reason}.");
    ApiError::new(503, ErrorType::ServerError, message).with_code("usage_unavailable")
}

fn today() -> Date {
    TimeZone::UTC.to_datetime(Timestamp::try_from(ambient::wall_time()).unwrap_or_default()).date()
}

/// Reads what is asked for.
fn parse(query: &str, today: Date) -> Result<UsageQuery, ApiError> {
    let mut given: [Option<Cow<'_, str>>; PARAMETERS.len()] = [const { None }; PARAMETERS.len()];
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let Some(place) = PARAMETERS.iter().position(|known| *known == name) else {
            let known = PARAMETERS.join(", ");
            let message = format!("There is no parameter of this name. There are {known}.");
            return Err(ApiError::invalid(name, message).with_code("unknown_parameter"));
        };
        if value.is_empty() {
            let message = format!("{name} has no value.");
            return Err(ApiError::invalid(name, message));
        }
        if given[place].replace(value).is_some() {
            let message = format!("{name} is there more than once.");
            return Err(ApiError::invalid(name, message));
        }
    }
    let [from, to, key, model] = given;
    let day = |name, value: Option<Cow<'_, str>>| value.map(|value| day(name, &value)).transpose();
    let to = day("to", to)?.unwrap_or(today);
    // Before the first day that there is, there is none.
    let usual = to.saturating_sub((USUAL_DAYS - 1).days());
    let from = day("from", from)?.unwrap_or(usual);
    if from > to {
        let message = format!("from must not be after to: {from} is after {to}.");
        return Err(ApiError::invalid("from", message));
    }
    let owned = |value: Option<Cow<'_, str>>| value.map(Cow::into_owned);
    let key = owned(key).map_or(UsageKey::Any, UsageKey::Called);
    Ok(UsageQuery { from, to, key, model: owned(model) })
}

fn day(name: &'static str, value: &str) -> Result<Date, ApiError> {
    // The type also reads longer forms, and years before the first.
    let day = value.parse().ok().filter(|day: &Date| day.year() > 0 && day.to_string() == value);
    day.ok_or_else(|| {
        let message = format!("{name} must be a day in UTC, such as 2026-01-31.");
        ApiError::invalid(name, message)
    })
}

fn shown(query: &UsageQuery, report: &UsageReport, account: &AccountStanding) -> Value {
    json!({
        "object": "usage",
        "from": query.from.to_string(),
        "to": query.to.to_string(),
        "totals": report.totals,
        "by_day": listed("day", &report.by_day),
        "by_model": listed("model", &report.by_model),
        "by_backend_model": listed("backend_model", &report.by_backend_model),
        "by_key": report.by_key.iter().map(of_key).collect::<Value>(),
        "by_stop_reason": listed("stop_reason", &report.by_stop_reason),
        "account": shown_account(account),
    })
}

/// Groups, each with its name beside its sums.
fn listed(kind: &str, groups: &[(String, UsageSums)]) -> Value {
    groups.iter().map(|(name, sums)| with_sums(json!({ kind: name }), sums)).collect()
}

fn of_key(KeyUsage { id, name, sums }: &KeyUsage) -> Value {
    with_sums(json!({"key": name, "key_id": id}), sums)
}

fn with_sums(mut group: Value, sums: &UsageSums) -> Value {
    merge(&mut group, json!(sums));
    group
}

/// The same members in any case.
pub(crate) fn shown_account(standing: &AccountStanding) -> Value {
    let nothing = RateLimits::default();
    let (signed_in, reason, limits, as_of) = match standing {
        AccountStanding::NotAsked => (None, Some("Codex is still starting"), &nothing, None),
        AccountStanding::SignedOut => {
            (Some(false), Some("nobody is signed in to Codex"), &nothing, None)
        }
        AccountStanding::WithoutAllowance => {
            (Some(true), Some("only a ChatGPT login has an allowance"), &nothing, None)
        }
        AccountStanding::Unknown { reason, .. } => {
            (Some(true), Some(reason.as_str()), &nothing, None)
        }
        AccountStanding::WithAllowance(known) => {
            (Some(true), None, &known.limits, Some(known.as_of))
        }
    };
    let window = |window: LimitWindow| {
        json!({
            "used_percent": window.used_percent,
            "window_minutes": window.length.map(|length| length.as_secs() / 60),
            "resets_at": window.resets_at,
        })
    };
    json!({
        "signed_in": signed_in,
        "reason": reason,
        "plan": limits.plan,
        "primary": limits.primary.map(window),
        "secondary": limits.secondary.map(window),
        "credits": limits.credits,
        "reached": limits.reached,
        "as_of": as_of,
    })
}

#[cfg(test)]
mod tests;
