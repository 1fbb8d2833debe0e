//! From checked values to typed settings, and what single values cannot tell.

use std::io;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use bridge::{
    OutputModeSetting, RemoteImages, StopAfterTools, StreamArguments, TextTools, TurnSettings,
    UnsupportedTools,
};
use model_turn::Upstream;
use secrecy::ExposeSecret as _;
use tool_call_aggregator::Limits;
use tool_call_aggregator::obsidian::XmlEscaping;

use super::{Access, CodexSettings, Host, Listen, LogFormat, LogSettings, Settings};
use crate::access;
use crate::problem::Problem;
use crate::table as t;
use crate::trusted;
use crate::values::Values;
use crate::variable::Variable;

/// Codex's own variables for another issuer of logins.
static LOGIN_VARIABLES: [&Variable; 3] = [
    &t::CODEX_APP_SERVER_LOGIN_ISSUER,
    &t::CODEX_REFRESH_TOKEN_URL_OVERRIDE,
    &t::CODEX_REVOKE_TOKEN_URL_OVERRIDE,
];

impl Settings {
    /// Every value has its kind; what does not go together is told beside.
    pub(crate) fn read(values: Values) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let settings = Self {
            data_folder: values.path(&t::PROXY_DATA_DIR).unwrap_or_default(),
            listen: listen(&values),
            access: access(&values),
            codex: codex(&values, &mut problems),
            turns: turns(&values, &mut problems),
            log: log(&values),
            captures: captures(&values, &mut problems),
            values,
        };
        problems.extend(access::refuse(&settings.listen, &settings.access));
        (settings, problems)
    }
}

fn listen(values: &Values) -> Listen {
    let address = values.text(&t::PROXY_HOST).and_then(|host| host.parse().ok());
    Listen { host: address.map_or(Host::Loopback, Host::Address), port: values.number(&t::PORT) }
}

fn access(values: &Values) -> Access {
    Access {
        api_key: values.secret(&t::PROXY_API_KEY),
        allow_remote: values.flag(&t::PROXY_ALLOW_REMOTE),
        protect_models: values.flag(&t::PROXY_PROTECT_MODELS),
        allowed_hosts: values.list(&t::PROXY_ALLOWED_HOSTS),
        allowed_origins: values.list(&t::PROXY_CORS_ALLOWED_ORIGINS),
    }
}

fn codex(values: &Values, problems: &mut Vec<Problem>) -> CodexSettings {
    let aliases = values.text(&t::PROXY_MODEL_ALIASES).unwrap_or_default();
    let login = LOGIN_VARIABLES
        .into_iter()
        .filter_map(|variable| Some((variable.name.to_owned(), values.text(variable)?.to_owned())));
    CodexSettings {
        binary: values.path(&t::CODEX_BIN),
        home: values.path(&t::PROXY_CODEX_HOME).unwrap_or_default(),
        model: values.text(&t::CODEX_MODEL).map(str::to_owned),
        aliases: aliases.parse().unwrap_or_default(),
        model_fallback: values.text(&t::PROXY_MODEL_FALLBACK).map(str::to_owned),
        upstream: upstream(values, problems),
        allow_untested: values.flag(&t::PROXY_ALLOW_UNTESTED_CODEX),
        environment: login.collect(),
    }
}

fn upstream(values: &Values, problems: &mut Vec<Problem>) -> Option<Upstream> {
    let api_key = values.secret(&t::PROXY_UPSTREAM_API_KEY);
    let Some(base_url) = values.text(&t::PROXY_UPSTREAM_BASE_URL) else {
        if api_key.is_some() {
            problems.push(Problem::Conflict(format!(
                "PROXY_UPSTREAM_API_KEY is set, but PROXY_UPSTREAM_BASE_URL is not: \
                 whose key is it? (from: {})",
                values.source(&t::PROXY_UPSTREAM_API_KEY)
            )));
        }
        return None;
    };
    let api_key = api_key.map(|key| key.expose_secret().to_owned());
    Some(Upstream { base_url: base_url.to_owned(), api_key })
}

fn output_mode(values: &Values, variable: &Variable) -> OutputModeSetting {
    match values.text(variable).map(str::parse) {
        Some(Ok(mode)) => OutputModeSetting::Always(mode),
        _ => OutputModeSetting::Auto,
    }
}

fn turns(values: &Values, problems: &mut Vec<Problem>) -> TurnSettings {
    let max_held_bytes = values.number(&t::PROXY_MAX_HELD_BYTES);
    TurnSettings {
        output_mode: output_mode(values, &t::PROXY_OUTPUT_MODE),
        responses_output_mode: output_mode(values, &t::PROXY_RESPONSES_OUTPUT_MODE),
        stop_after_tools: stop_after_tools(values),
        suppress_tail: values.flag(&t::PROXY_SUPPRESS_TAIL_AFTER_TOOLS),
        max_calls: NonZeroUsize::new(values.number(&t::PROXY_TOOL_BLOCK_MAX)),
        dedup: values.flag(&t::PROXY_TOOL_BLOCK_DEDUP),
        delimiter: values.text(&t::PROXY_TOOL_BLOCK_DELIMITER).map(delimiter).unwrap_or_default(),
        parallel_calls: values.flag_if_set(&t::PROXY_ENABLE_PARALLEL_TOOL_CALLS),
        text_tools: match values.text(&t::PROXY_TEXT_TOOLS) {
            Some("on") => TextTools::On,
            Some("off") => TextTools::Off,
            _ => TextTools::Auto,
        },
        xml_escaping: match values.text(&t::PROXY_XML_ESCAPE) {
            Some("entities") => XmlEscaping::Entities,
            _ => XmlEscaping::Verbatim,
        },
        stream_arguments: match values.text(&t::PROXY_STREAM_ARGUMENTS) {
            Some("off") => StreamArguments::Off,
            _ => StreamArguments::Auto,
        },
        reasoning: values.text(&t::PROXY_REASONING) != Some("off"),
        limits: Limits {
            calls: values.number(&t::PROXY_MAX_TOOL_CALLS),
            argument_bytes: values.number(&t::PROXY_MAX_ARGUMENT_BYTES),
            held_bytes: max_held_bytes,
            ..Limits::default()
        },
        max_held_bytes,
        max_answer_bytes: values.number(&t::PROXY_MAX_ANSWER_BYTES),
        max_choices: values.number(&t::PROXY_MAX_CHAT_CHOICES),
        remote_images: if values.flag(&t::PROXY_ALLOW_REMOTE_IMAGES) {
            RemoteImages::Fetched
        } else {
            RemoteImages::Refused
        },
        unsupported_tools: match values.text(&t::PROXY_UNSUPPORTED_TOOLS) {
            Some("refuse") => UnsupportedTools::Refuse,
            _ => UnsupportedTools::Ignore,
        },
        instructions: values
            .path(&t::PROXY_INSTRUCTIONS_FILE)
            .and_then(|path| instructions(path, problems)),
    }
}

fn stop_after_tools(values: &Values) -> StopAfterTools {
    if !values.flag(&t::PROXY_STOP_AFTER_TOOLS) {
        return StopAfterTools::Off;
    }
    match values.text(&t::PROXY_STOP_AFTER_TOOLS_MODE) {
        Some("first") => StopAfterTools::First,
        _ => StopAfterTools::Burst {
            grace: values.millis_if_set(&t::PROXY_STOP_AFTER_TOOLS_GRACE_MS),
        },
    }
}

fn delimiter(text: &str) -> String {
    if text.trim().eq_ignore_ascii_case("true") {
        return "\n\n".to_owned();
    }
    text.replace("\\n", "\n").replace("\\t", "\t")
}

fn instructions(path: PathBuf, problems: &mut Vec<Problem>) -> Option<Arc<str>> {
    // Words of anybody's can be said: they decide about nothing here.
    let text = trusted::read_of_anybody(&path).and_then(|content| {
        String::from_utf8(content).map_err(|_| io::Error::other("it is not UTF-8"))
    });
    match text {
        Ok(text) if text.trim().is_empty() => None,
        Ok(text) => Some(text.into()),
        Err(error) => {
            let reason = format!("{error} (PROXY_INSTRUCTIONS_FILE)");
            problems.push(Problem::File { path, reason });
            None
        }
    }
}

fn log(values: &Values) -> LogSettings {
    LogSettings {
        filter: values.text(&t::PROXY_LOG).map(str::to_owned),
        format: match values.text(&t::PROXY_LOG_FORMAT) {
            Some("json") => Some(LogFormat::Json),
            Some(_) => Some(LogFormat::Text),
            None => None,
        },
        content: values.flag(&t::PROXY_LOG_CONTENT),
    }
}

fn captures(values: &Values, problems: &mut Vec<Problem>) -> Option<PathBuf> {
    let folder = values.path(&t::PROXY_CAPTURE_DIR)?;
    if let Err(error) = trusted::check_folder(&folder) {
        let reason = format!("{error} (PROXY_CAPTURE_DIR)");
        problems.push(Problem::File { path: folder.clone(), reason });
    }
    Some(folder)
}
