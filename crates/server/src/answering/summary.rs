//! What the headers of a whole answer tell of its turns.

use axum::http::{HeaderMap, HeaderValue};
use bridge::ChoiceReport;
use codex_app_server::Continued;
use openai_wire::Usage;

use super::usage::Prompt;
use crate::headers::{
    X_CODEX_TOOL_CALL_COUNT, X_CODEX_TOOL_CALL_TRUNCATED, X_PROXY_CONTINUITY, X_PROXY_USAGE,
};

/// Token counts that the upstream did not give, in `x-proxy-usage`.
pub(crate) const ESTIMATED: &str = "estimated";

/// How the turns got their threads.
pub(crate) fn tell_continuity(continued: Continued, headers: &mut HeaderMap) {
    headers.insert(X_PROXY_CONTINUITY, HeaderValue::from_static(continued.as_str()));
}

/// Puts it into the headers, and gives the token counts, which are counted where the upstream gave none.
pub(crate) async fn sum_up(
    reports: &[ChoiceReport],
    continued: Continued,
    prompt: Prompt,
    headers: &mut HeaderMap,
) -> Usage {
    tell_continuity(continued, headers);
    let truncated = if bridge::is_truncated(reports) { "true" } else { "false" };
    headers.insert(X_CODEX_TOOL_CALL_COUNT, HeaderValue::from(bridge::call_count(reports)));
    headers.insert(X_CODEX_TOOL_CALL_TRUNCATED, HeaderValue::from_static(truncated));
    match prompt.usage(reports) {
        Ok(usage) => usage,
        Err(mut counting) => {
            headers.insert(X_PROXY_USAGE, HeaderValue::from_static(ESTIMATED));
            std::future::poll_fn(|context| counting.poll_usage(context)).await
        }
    }
}
