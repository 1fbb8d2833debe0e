//! The server, put together from the settings.

use std::error::Error;
use std::sync::Arc;

use configuration::{
    DefaultValue, Effective, Kept, Key, Keys, Listen, Loaded, Reload, Settings, Source, Values,
    Warning, table as t,
};
use server::{
    Access, AccessSettings, Api, ApiSettings, App, BindError, BodyLimits, CaptureSettings,
    CapturedContent, ConnectionLimits, ContentLog, GateSettings, IdleTimeout, QueueLimits,
    RateLimit, Readiness, ResponsesSettings, RunSecret, ShownSetting, ShownSettings,
};
use store::{Store, StoreError};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// For somebody without the right key, who may be anybody.
const KEY_HINT: &str =
    "It is the value of PROXY_API_KEY, or else in the file that the server names when it starts.";

/// Listens where the settings want it.
pub(crate) async fn bind(listen: Listen) -> Result<Vec<TcpListener>, BindError> {
    let host = listen.host.address().map(|address| address.to_string());
    server::bind(host.as_deref(), listen.port).await
}

pub(crate) fn api_settings(loaded: &Loaded) -> ApiSettings {
    let settings = &loaded.settings;
    let values = &settings.values;
    ApiSettings {
        turns: Arc::new(settings.turns.clone()),
        turn_options: settings.turn_options(),
        aliases: settings.codex.aliases.clone(),
        model_fallback: settings.codex.model_fallback.clone(),
        differing: settings.changed_answers().into(),
        keep_alive: values.millis_unless_zero(&t::PROXY_SSE_KEEPALIVE_MS),
        queue: QueueLimits {
            turns: values.number(&t::PROXY_MAX_CONCURRENT_TURNS),
            waiting: values.number(&t::PROXY_QUEUE_MAX),
            longest_wait: values.millis(&t::PROXY_QUEUE_WAIT_MS),
        },
        rate_limit: values.flag(&t::PROXY_RATE_LIMIT_ENABLED).then(|| RateLimit {
            max: values.number(&t::PROXY_RATE_LIMIT_MAX),
            window: values.millis(&t::PROXY_RATE_LIMIT_WINDOW_MS),
        }),
        body: BodyLimits {
            bytes: values.number(&t::PROXY_MAX_BODY_BYTES),
            time: values.millis(&t::PROXY_BODY_TIMEOUT_MS),
        },
        max_json_depth: values.number(&t::PROXY_MAX_JSON_DEPTH),
        metrics: values.flag(&t::PROXY_ENABLE_METRICS),
        usage_max_age: values.days(&t::PROXY_USAGE_MAX_AGE_DAYS),
        responses: ResponsesSettings {
            store: values.flag(&t::PROXY_RESPONSES_STORE),
            max_age: values.days(&t::PROXY_RESPONSES_STORE_MAX_AGE_DAYS),
            max_bytes: values.number(&t::PROXY_RESPONSES_STORE_MAX_BYTES),
        },
        continuity: values.flag(&t::PROXY_CONTINUITY),
        keep_reasoning: Some(values.number(&t::PROXY_KEEP_REASONING_BYTES))
            .filter(|bytes| *bytes > 0),
        content_log: if settings.log.content { ContentLog::On } else { ContentLog::Off },
        captures: settings.captures.clone().map(|folder| CaptureSettings {
            folder,
            max_bytes: values.number(&t::PROXY_CAPTURE_MAX_BYTES),
            content: if settings.log.content {
                CapturedContent::Verbatim
            } else {
                CapturedContent::Masked
            },
        }),
        shown: Arc::new(shown_settings(values, &loaded.warnings)),
    }
}

fn shown_settings(values: &Values, warnings: &[Warning]) -> ShownSettings {
    let shown = |Effective { variable, value, source }| ShownSetting {
        name: variable.name,
        group: variable.group,
        unset_means: match variable.default {
            DefaultValue::Unset(words) if value.is_none() => Some(words),
            DefaultValue::Unset(_) | DefaultValue::Is(_) => None,
        },
        value,
        is_default: source == Source::Default,
        source: source.to_string(),
        meaning: variable.meaning,
        live: variable.reload == Reload::Live,
    };
    ShownSettings {
        settings: values.iter().map(shown).collect(),
        warnings: warnings.iter().map(ToString::to_string).collect(),
    }
}

/// The database, or why there is none: everything but usage works without it.
pub(crate) async fn database(settings: &Settings) -> Result<Store, Arc<str>> {
    let file = settings.database();
    let opening = tokio::task::spawn_blocking({
        let file = file.clone();
        move || Store::open(&file)
    });
    let opened = opening.await.unwrap_or(Err(StoreError::Unanswered));
    opened.map_err(|error| {
        let file = file.display();
        tracing::warn!(%file, %error, "the database cannot be used: usage is not recorded");
        error.to_string().into()
    })
}

pub(crate) fn access_settings(
    settings: &Settings,
    keys: &Keys,
) -> Result<AccessSettings, Box<dyn Error>> {
    let access = &settings.access;
    let mut allowed_hosts =
        access.allowed_hosts.iter().map(|host| host.parse()).collect::<Result<Vec<_>, _>>()?;
    // An address cannot be made to point elsewhere, as a name can.
    if let Some(address) = settings.listen.host.address().filter(|ip| !ip.is_unspecified()) {
        allowed_hosts.push(bracketed(address).parse()?);
    }
    Ok(AccessSettings {
        allowed_hosts,
        allowed_origins: access
            .allowed_origins
            .iter()
            .map(|origin| origin.parse())
            .collect::<Result<_, _>>()?,
        keys: keys.keys.iter().map(accepted).collect(),
        key_hint: KEY_HINT.to_owned(),
    })
}

fn accepted(key: &Key) -> server::ApiKey {
    let accepted =
        server::ApiKey::from_sha256(key.id.as_str(), key.name.as_str(), key.digest.to_bytes());
    match key.kept {
        Kept::Setting | Kept::Whole(_) => accepted.of_the_owner(),
        Kept::Digest(_) => accepted,
    }
}

pub(crate) fn app(
    settings: &Settings,
    access: Access,
    run_secret: RunSecret,
    idle_timeout: IdleTimeout,
    api: &Api,
    readiness: watch::Receiver<Readiness>,
) -> App {
    App {
        api: api.routes(),
        readiness,
        queue: api.queue().clone(),
        access,
        run_secret,
        gate: GateSettings {
            protect_models: settings.access.protect_models,
            // Only what nobody else can reach is open.
            protect_metrics: !(settings.values.flag(&t::PROXY_METRICS_ALLOW_LOOPBACK)
                && settings.listen.host.is_loopback()),
            max_body_bytes: settings.values.number(&t::PROXY_MAX_BODY_BYTES),
        },
        limits: connection_limits(&settings.values, idle_timeout),
    }
}

fn connection_limits(values: &Values, idle_timeout: IdleTimeout) -> ConnectionLimits {
    ConnectionLimits {
        max_connections: values.number(&t::PROXY_MAX_CONNECTIONS),
        header_timeout: values.millis(&t::PROXY_HEADER_TIMEOUT_MS),
        max_header_bytes: values.number(&t::PROXY_MAX_HEADER_BYTES),
        max_headers: values.number(&t::PROXY_MAX_HEADERS),
        idle_timeout,
    }
}

fn bracketed(address: std::net::IpAddr) -> String {
    match address {
        std::net::IpAddr::V4(address) => address.to_string(),
        std::net::IpAddr::V6(address) => format!("[{address}]"),
    }
}

#[cfg(test)]
mod tests;
