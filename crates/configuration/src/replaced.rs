//! Settings of codex-completions-api that are not needed here, so that its `.env` can be carried
//! over, and our own of earlier builds.

const IDLE: &str = "PROXY_IDLE_TIMEOUT_MS limits the time without an event";
const TURNS: &str = "PROXY_MAX_CONCURRENT_TURNS limits the turns that run at once";
const TIMEOUT: &str = "PROXY_TIMEOUT_MS limits the time of a turn, and nothing is cut silently";
const APPROVAL: &str = "whatever Codex asks leave for is declined";
const NO_TESTS: &str = "there are no endpoints for tests";
const NO_SUMMARIES: &str = "titles and summaries are turns like all others";
const KEYED: &str = "PROXY_API_KEY is needed everywhere but for health, and \
    PROXY_METRICS_ALLOW_LOOPBACK opens the metrics to this machine";

/// Each with what is there instead.
const REPLACED: &[(&str, &str)] = &[
    ("CODEX_APPROVAL_POLICY", APPROVAL),
    ("CODEX_FORCE_PROVIDER", "PROXY_UPSTREAM_BASE_URL names another upstream"),
    ("CODEX_HOME", "PROXY_CODEX_HOME names a home of the proxy's own"),
    ("PROXY_APPROVAL_POLICY", APPROVAL),
    ("PROXY_CODEX_WORKDIR", "the child always stands in an empty folder of its own"),
    ("PROXY_COPILOT_AUTO_DETECT", "PROXY_OUTPUT_MODE=auto chooses by the request"),
    ("PROXY_DEBUG_PROTO", "PROXY_LOG=codex=debug shows what the child writes"),
    ("PROXY_DEV_TRUNCATE_AFTER_MS", TIMEOUT),
    ("PROXY_ENABLE_CORS", "PROXY_CORS_ALLOWED_ORIGINS names the pages that may use the server"),
    ("PROXY_ENABLE_OTEL", "PROXY_OTEL_EXPORTER_URL switches traces on"),
    ("PROXY_ENABLE_RESPONSES", "no endpoint can be switched off"),
    ("PROXY_ENV", "the models have the same names everywhere; PROXY_MODEL_ALIASES adds others"),
    ("PROXY_INGRESS_GUARDRAIL", "messages go to the model as they are"),
    ("PROXY_KILL_ON_DISCONNECT", "the turn of a client that leaves is always ended"),
    ("PROXY_LOG_CORS_ORIGIN", "PROXY_LOG chooses what is logged"),
    ("PROXY_MAINTENANCE_MODE", "SIGTERM lets running turns end and takes no new ones"),
    ("PROXY_MAX_PROMPT_TOKENS", "the model's own limit counts"),
    ("PROXY_METRICS_ALLOW_UNAUTH", KEYED),
    ("PROXY_METRICS_TOKEN", KEYED),
    ("PROXY_NONSTREAM_TRUNCATE_AFTER_MS", TIMEOUT),
    ("PROXY_OTEL_SERVICE_NAME", "the service is called codex-completions"),
    ("PROXY_PROTO_IDLE_MS", IDLE),
    ("PROXY_RESPONSES_DEFAULT_MAX_TOKENS", "only a request limits its own tokens"),
    ("PROXY_SANDBOX_MODE", "Codex is always read-only, and runs no tools of its own"),
    ("PROXY_SANITIZE_METADATA", "nothing of Codex's own metadata is passed on"),
    ("PROXY_SSE_MAX_CONCURRENCY", TURNS),
    ("PROXY_STREAM_IDLE_TIMEOUT_MS", IDLE),
    ("PROXY_TEST_ALLOW_REMOTE", NO_TESTS),
    ("PROXY_TEST_ENDPOINTS", NO_TESTS),
    ("PROXY_TITLE_SUMMARY_EXEC_MODEL", NO_SUMMARIES),
    ("PROXY_TITLE_SUMMARY_EXEC_REASONING_EFFORT", NO_SUMMARIES),
    ("PROXY_TRUST_PROXY", "no header of a proxy in front is believed"),
    ("PROXY_USAGE_ALLOW_UNAUTH", KEYED),
    ("PROXY_USE_APP_SERVER", "codex app-server is always used"),
    ("WORKER_MAX_CONCURRENCY", TURNS),
    ("WORKER_RESTART_MAX", "a lost child is started again for ever, with growing pauses"),
    ("WORKER_STARTUP_TIMEOUT_MS", "WORKER_HANDSHAKE_TIMEOUT_MS limits the start of a child"),
    ("WORKER_THREADS_AHEAD", "threads are started when a turn needs them"),
];

/// The name, and what is there instead of it.
pub(crate) fn replacement(name: &str) -> Option<(&'static str, &'static str)> {
    REPLACED.iter().copied().find(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::VARIABLES;

    #[test]
    fn what_is_replaced_is_no_setting_and_advice_names_only_settings() {
        for (name, instead) in REPLACED {
            assert!(VARIABLES.iter().all(|variable| variable.name != *name), "{name}");
            for word in instead.split(|char: char| !char.is_ascii_uppercase() && char != '_') {
                let is_name = word.starts_with("PROXY_") || word.starts_with("WORKER_");
                let known = VARIABLES.iter().any(|variable| variable.name == word);
                assert!(!is_name || known, "{name}: {word}");
            }
        }
    }
}
