//! The server, put together from the settings.

use std::error::Error;
use std::sync::Arc;

use configuration::{
    DefaultValue, Effective, Host, Kept, Key, Keys, Loaded, Reload, Settings, Source, Values,
    Warning,
};
use server::{
    Access, AccessSettings, Api, ApiSettings, App, BodyLimits, CaptureSettings, CapturedContent,
    ConnectionLimits, ContentLog, GateSettings, IdleTimeout, Listen, QueueLimits, RateLimit,
    Readiness, ResponsesSettings, RunSecret, ShownSetting, ShownSettings,
};
use store::{Store, StoreError};
use tokio::sync::watch;

/// For somebody without the right key, who may be anybody.
const KEY_HINT: &str =
    "It is the value of PROXY_API_KEY, or else in the file that the server names when it starts.";

pub(crate) fn listen(listen: configuration::Listen) -> Listen {
    let host = match listen.host {
        Host::Loopback => None,
        Host::Address(address) => Some(address.to_string()),
    };
    Listen { host, port: listen.port }
}

pub(crate) fn api_settings(loaded: &Loaded) -> ApiSettings {
    let settings = &loaded.settings;
    let limits = &settings.limits;
    ApiSettings {
        turns: Arc::new(settings.turns.clone()),
        turn_options: settings.turn_options(),
        aliases: settings.codex.aliases.clone(),
        model_fallback: settings.codex.model_fallback.clone(),
        differing: settings.changed_answers().collect::<Vec<_>>().join(" ").into(),
        keep_alive: limits.sse_keepalive,
        queue: QueueLimits {
            turns: u32::try_from(limits.concurrent_turns).unwrap_or(u32::MAX),
            waiting: limits.queue_max,
            longest_wait: limits.queue_wait,
        },
        rate_limit: limits
            .rate_limit
            .map(|configuration::RateLimit { max, window }| RateLimit { max, window }),
        body: BodyLimits { bytes: limits.body_bytes, time: limits.body_time },
        max_json_depth: limits.json_depth,
        metrics: settings.metrics.enabled,
        usage_max_age: settings.usage_max_age,
        responses: {
            let configuration::ResponsesSettings { store, max_age, max_bytes } = settings.responses;
            ResponsesSettings { store, max_age, max_bytes }
        },
        continuity: settings.continuity,
        keep_reasoning: settings.keep_reasoning,
        content_log: if settings.log.content { ContentLog::On } else { ContentLog::Off },
        captures: settings.captures.as_ref().map(|captures| CaptureSettings {
            folder: captures.folder.clone(),
            max_bytes: captures.max_bytes,
            content: if settings.log.content {
                CapturedContent::Verbatim
            } else {
                CapturedContent::Masked
            },
        }),
        shown: Arc::new(shown_settings(&loaded.values, &loaded.warnings)),
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
    if let Host::Address(address) = settings.listen.host
        && !address.is_unspecified()
    {
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
            protect_metrics: !(settings.metrics.allow_loopback
                && settings.listen.host.is_loopback()),
            max_body_bytes: settings.limits.body_bytes,
        },
        limits: ConnectionLimits {
            max_connections: settings.limits.connections,
            header_timeout: settings.limits.header_time,
            max_header_bytes: settings.limits.header_bytes,
            max_headers: settings.limits.headers,
            idle_timeout,
        },
    }
}

fn bracketed(address: std::net::IpAddr) -> String {
    match address {
        std::net::IpAddr::V4(address) => address.to_string(),
        std::net::IpAddr::V6(address) => format!("[{address}]"),
    }
}
