//! The response object, written straight into a buffer.

use bytes::{BufMut as _, BytesMut};
use serde::Serialize;
use serde_json::Value;

use super::item::{EncryptedContent, OutputItem, Shown};
use super::request::Echo;
use crate::error::ApiError;
use crate::frame::put_json;
use crate::usage::Usage;

/// What every response object of one answer has in common.
#[derive(Debug)]
pub struct ResponseHead<'a> {
    /// `resp_…`
    pub id: &'a str,
    /// Seconds since 1970.
    pub created_at: u64,
    /// The model, by the name that the request gave it.
    pub model: &'a str,
    /// The request's `instructions`.
    pub instructions: Option<&'a str>,
    /// The request's limit of tokens.
    pub max_output_tokens: Option<u32>,
    /// Whether several calls may come at once.
    pub parallel_tool_calls: bool,
    /// The response that it goes on from.
    pub previous_response_id: Option<&'a str>,
    /// Whether it can be asked for later.
    pub store: bool,
    /// What else it repeats of the request.
    pub echo: &'a Echo,
}

/// What changes in the response object while the answer comes.
#[derive(Debug, Clone, Copy)]
pub struct ResponseState<'a> {
    /// How far it is.
    pub status: &'a ResponseStatus,
    /// Its items.
    pub output: &'a [OutputItem],
    /// Token counts, once they are known.
    pub usage: Option<&'a Usage>,
}

/// How far a response is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResponseStatus {
    /// More follows.
    InProgress,
    /// It has ended as it should.
    Completed {
        /// When, in seconds since 1970.
        at: u64,
    },
    /// It was cut.
    Incomplete(IncompleteReason),
    /// It has failed.
    Failed(ResponseError),
    /// Somebody has cancelled it.
    Cancelled,
}

/// Why a response was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum IncompleteReason {
    /// A limit of tokens was met.
    MaxOutputTokens,
    /// The rest was withheld.
    ContentFilter,
}

/// `error` of a response that has failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResponseError {
    /// One of the few codes that OpenAI has for it.
    pub code: &'static str,
    /// For people.
    pub message: String,
}

/// `usage` of a response.
#[derive(Serialize)]
struct ResponsesUsage {
    input_tokens: u64,
    input_tokens_details: InputTokensDetails,
    output_tokens: u64,
    output_tokens_details: OutputTokensDetails,
    total_tokens: u64,
}

#[derive(Serialize)]
struct InputTokensDetails {
    /// Always 0: Codex does not report it, and clients want a number.
    cache_write_tokens: u64,
    cached_tokens: u64,
}

#[derive(Serialize)]
struct OutputTokensDetails {
    reasoning_tokens: u64,
}

/// Writes the response object of one answer, whose constant members are written once.
#[derive(Debug)]
pub struct ResponseWriter {
    /// Up to the value of `status`.
    before_status: String,
    /// What is between `incomplete_details` and the items.
    before_output: String,
    /// What is between the items and the value of `store`.
    before_store: String,
    store: bool,
    /// What is between that and the value of `usage`.
    before_usage: String,
    /// What follows `usage`.
    after_usage: String,
}

// === impl ResponseStatus ===

impl ResponseStatus {
    /// As OpenAI writes it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed { .. } => "completed",
            Self::Incomplete(_) => "incomplete",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

// === impl ResponseError ===

impl From<&ApiError> for ResponseError {
    fn from(error: &ApiError) -> Self {
        let code = match error.status {
            429 => "rate_limit_exceeded",
            400 | 404 | 413 | 422 => "invalid_prompt",
            _ => "server_error",
        };
        Self { code, message: error.message.clone() }
    }
}

// === impl ResponsesUsage ===

impl From<&Usage> for ResponsesUsage {
    fn from(usage: &Usage) -> Self {
        Self {
            input_tokens: usage.prompt_tokens,
            input_tokens_details: InputTokensDetails {
                cache_write_tokens: 0,
                cached_tokens: usage.prompt_tokens_details.cached_tokens,
            },
            output_tokens: usage.completion_tokens,
            output_tokens_details: OutputTokensDetails {
                reasoning_tokens: usage.completion_tokens_details.reasoning_tokens,
            },
            total_tokens: usage.total_tokens,
        }
    }
}

// === impl ResponseWriter ===

impl ResponseWriter {
    /// A writer for an answer.
    pub fn new(head: &ResponseHead<'_>) -> Self {
        let echo = head.echo;
        let mut before_output = Members::default();
        before_output.put("instructions", &head.instructions);
        before_output.put("max_output_tokens", &head.max_output_tokens);
        before_output.put("max_tool_calls", &echo.max_tool_calls);
        before_output.put("model", head.model);
        let mut before_store = Members::default();
        before_store.put("parallel_tool_calls", &head.parallel_tool_calls);
        before_store.put("previous_response_id", &head.previous_response_id);
        before_store.put("prompt_cache_key", &echo.prompt_cache_key);
        before_store.put("reasoning", &echo.reasoning);
        before_store.put("safety_identifier", &echo.safety_identifier);
        before_store.put("service_tier", &echo.service_tier);
        let mut before_usage = Members::default();
        before_usage.put("temperature", &());
        before_usage.put("text", &echo.text);
        before_usage.put("tool_choice", &echo.tool_choice);
        before_usage.put("tools", &echo.tools);
        before_usage.put("top_logprobs", &());
        before_usage.put("top_p", &());
        before_usage.put("truncation", &echo.truncation);
        let mut after_usage = Members::default();
        after_usage.put("user", &echo.user);
        after_usage.put("metadata", &echo.metadata);
        let id = Value::from(head.id);
        let created_at = head.created_at;
        Self {
            before_status: format!(
                r#"{{"id":{id},"object":"response","created_at":{created_at},"status":""#
            ),
            before_output: before_output.0,
            before_store: before_store.0,
            store: head.store,
            before_usage: before_usage.0,
            after_usage: after_usage.0,
        }
    }

    /// From now on it says that the response cannot be asked for later.
    pub fn not_stored(&mut self) {
        self.store = false;
    }

    /// The object as it is by now.
    pub fn write(
        &self,
        state: &ResponseState<'_>,
        encrypted: EncryptedContent,
        buffer: &mut BytesMut,
    ) {
        let ResponseState { status, output, usage } = state;
        let (completed_at, error, incomplete) = match status {
            ResponseStatus::InProgress | ResponseStatus::Cancelled => (None, None, None),
            ResponseStatus::Completed { at } => (Some(at), None, None),
            ResponseStatus::Incomplete(reason) => (None, None, Some(reason)),
            ResponseStatus::Failed(error) => (None, Some(error), None),
        };
        buffer.put_slice(self.before_status.as_bytes());
        buffer.put_slice(status.as_str().as_bytes());
        buffer.put_slice(br#"","background":false,"completed_at":"#);
        put_json(&completed_at, buffer);
        buffer.put_slice(br#","error":"#);
        put_json(&error, buffer);
        buffer.put_slice(br#","incomplete_details":"#);
        put_json(&incomplete.map(|reason| IncompleteDetails { reason: *reason }), buffer);
        buffer.put_slice(self.before_output.as_bytes());
        buffer.put_slice(br#","output":["#);
        for (index, item) in output.iter().enumerate() {
            if index > 0 {
                buffer.put_slice(b",");
            }
            put_json(&Shown(item, encrypted), buffer);
        }
        buffer.put_slice(b"]");
        buffer.put_slice(self.before_store.as_bytes());
        buffer.put_slice(br#","store":"#);
        put_json(&self.store, buffer);
        buffer.put_slice(self.before_usage.as_bytes());
        buffer.put_slice(br#","usage":"#);
        put_json(&usage.map(ResponsesUsage::from), buffer);
        buffer.put_slice(self.after_usage.as_bytes());
        buffer.put_slice(b"}");
    }
}

#[derive(Serialize)]
struct IncompleteDetails {
    reason: IncompleteReason,
}

/// The output of a response without any.
const NO_OUTPUT: &str = r#","output":[]"#;

/// Puts items into a response that was written without any.
pub fn with_output<'a>(response: &str, items: impl IntoIterator<Item = &'a str>) -> String {
    // Before it there are only numbers, texts, in which every quote is escaped, and objects that we make.
    let Some((before, after)) = response.split_once(NO_OUTPUT) else { return response.to_owned() };
    let items: Vec<_> = items.into_iter().collect();
    format!(r#"{before},"output":[{}]{after}"#, items.join(","))
}

/// Members of an object, each with a comma before it.
#[derive(Default)]
struct Members(String);

// === impl Members ===

impl Members {
    fn put(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        let value = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.0.extend([",\"", name, "\":", &value]);
    }
}

#[cfg(test)]
mod tests;
