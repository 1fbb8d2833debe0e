//! The headers of our own.

use axum::http::{HeaderName, header};

/// Names a request in the logs, here and at the client.
pub(crate) const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// How many calls were forwarded.
pub(crate) const X_CODEX_TOOL_CALL_COUNT: HeaderName =
    HeaderName::from_static("x-codex-tool-call-count");
/// Whether a call was dropped, or the turn was cut.
pub(crate) const X_CODEX_TOOL_CALL_TRUNCATED: HeaderName =
    HeaderName::from_static("x-codex-tool-call-truncated");
/// When a turn with calls ends.
pub(crate) const X_CODEX_STOP_AFTER_TOOLS_MODE: HeaderName =
    HeaderName::from_static("x-codex-stop-after-tools-mode");
/// In which shape calls are sent; in a request, in which they are wanted.
pub(crate) const X_PROXY_OUTPUT_MODE: HeaderName = HeaderName::from_static("x-proxy-output-mode");
/// The fields of the request that have no effect.
pub(crate) const X_PROXY_IGNORED_PARAMS: HeaderName =
    HeaderName::from_static("x-proxy-ignored-params");
/// The model behind the name in the request.
pub(crate) const X_PROXY_MODEL: HeaderName = HeaderName::from_static("x-proxy-model");
/// Where the figures of the usage come from.
pub(crate) const X_PROXY_USAGE: HeaderName = HeaderName::from_static("x-proxy-usage");
/// Whether an earlier thread was gone on with.
pub(crate) const X_PROXY_CONTINUITY: HeaderName = HeaderName::from_static("x-proxy-continuity");
/// In a request: whether arguments are wanted as the model writes them.
pub(crate) const X_PROXY_STREAM_ARGUMENTS: HeaderName =
    HeaderName::from_static("x-proxy-stream-arguments");
/// OpenAI's SDKs look at it before they try again.
pub(crate) const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");
/// How many requests of a key are possible in a window.
pub(crate) const X_RATELIMIT_LIMIT_REQUESTS: HeaderName =
    HeaderName::from_static("x-ratelimit-limit-requests");
/// How many of them are left.
pub(crate) const X_RATELIMIT_REMAINING_REQUESTS: HeaderName =
    HeaderName::from_static("x-ratelimit-remaining-requests");
/// When all of them are possible again.
pub(crate) const X_RATELIMIT_RESET_REQUESTS: HeaderName =
    HeaderName::from_static("x-ratelimit-reset-requests");

/// Tells reverse proxies to pass a stream on as it comes.
pub(crate) const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// What a script in a browser may read of an answer.
pub(crate) const EXPOSED: [HeaderName; 15] = [
    X_REQUEST_ID,
    X_CODEX_TOOL_CALL_COUNT,
    X_CODEX_TOOL_CALL_TRUNCATED,
    X_CODEX_STOP_AFTER_TOOLS_MODE,
    X_PROXY_OUTPUT_MODE,
    X_PROXY_IGNORED_PARAMS,
    X_PROXY_MODEL,
    X_PROXY_USAGE,
    X_PROXY_CONTINUITY,
    X_SHOULD_RETRY,
    X_ACCEL_BUFFERING,
    X_RATELIMIT_LIMIT_REQUESTS,
    X_RATELIMIT_REMAINING_REQUESTS,
    X_RATELIMIT_RESET_REQUESTS,
    header::RETRY_AFTER,
];
