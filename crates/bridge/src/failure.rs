//! Failed turns as OpenAI's errors.

mod words;

use model_turn::{Failure, FailureKind, InvalidTurn};
use openai_wire::{ApiError, ErrorType};

/// Most characters of a code or a parameter of the upstream's.
const MOST_OF_A_NAME: usize = 200;

/// Whom a turn has asked, which decides what can be done about a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedUpstream<'a> {
    /// The one of the login.
    OfLogin {
        /// Where the client can sign in, besides the command line.
        page: Option<&'a str>,
    },
    /// One that was set up in its place, with a key of its own.
    Own,
    /// That is not known.
    Unknown,
}

/// What is known of a failed turn by its failure alone.
pub fn api_error(failure: &Failure) -> ApiError {
    api_error_of(failure, AskedUpstream::Unknown)
}

/// What a client is told of a failed turn.
pub fn api_error_of(failure: &Failure, asked: AskedUpstream<'_>) -> ApiError {
    let kind = failure.kind;
    let (status, r#type, code) = match kind {
        FailureKind::Unauthorized => (401, ErrorType::AuthenticationError, "codex_login_required"),
        FailureKind::UsageLimit => (429, ErrorType::RateLimitError, "insufficient_quota"),
        FailureKind::RateLimit => (429, ErrorType::RateLimitError, "rate_limit_exceeded"),
        FailureKind::ContextLength => {
            (400, ErrorType::InvalidRequestError, "context_length_exceeded")
        }
        FailureKind::BadRequest => (400, ErrorType::InvalidRequestError, "upstream_bad_request"),
        FailureKind::ModelNotFound => (404, ErrorType::InvalidRequestError, "model_not_found"),
        FailureKind::ContentFilter => (400, ErrorType::InvalidRequestError, "content_filter"),
        FailureKind::MaxOutput => (400, ErrorType::InvalidRequestError, "max_output_tokens"),
        FailureKind::Overloaded => (503, ErrorType::ServerError, "overloaded"),
        FailureKind::ServerError => (502, ErrorType::ServerError, "upstream_error"),
        FailureKind::Unreachable => (502, ErrorType::ServerError, "upstream_unreachable"),
        FailureKind::StreamCut => (502, ErrorType::ServerError, "stream_cut"),
        FailureKind::ChildGone => (503, ErrorType::ServerError, "codex_unavailable"),
        FailureKind::Untested => (503, ErrorType::ServerError, "codex_untested"),
        FailureKind::Stopping => (503, ErrorType::ServerError, "shutting_down"),
        FailureKind::Timeout => (504, ErrorType::ServerError, "timeout"),
        FailureKind::SlowConsumer => (500, ErrorType::ServerError, "slow_client"),
        FailureKind::OutputTooLarge => (502, ErrorType::ServerError, "output_too_large"),
        FailureKind::Unexpected => (502, ErrorType::ServerError, "unexpected"),
    };
    let upstream = failure.upstream_body.as_ref().map(|body| &body["error"]);
    let said = |member: &str| Some(start_of(upstream?.get(member)?.as_str()?, MOST_OF_A_NAME));
    ApiError {
        param: said("param"),
        code: Some(said("code").map_or(code.into(), Into::into)),
        should_retry: kind.retry_can_help(),
        ..ApiError::new(status, r#type, words::of(failure, asked))
    }
}

/// As much as may be told of what an upstream has said, which may be anything.
fn start_of(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// What a client is told of a turn that Codex would not take; `conversation` is the member of its
/// request that holds the history.
pub fn invalid_turn(invalid: &InvalidTurn, conversation: &str) -> ApiError {
    let param = match invalid {
        InvalidTurn::History(_) | InvalidTurn::Empty => conversation,
        InvalidTurn::DuplicateTool(_) | InvalidTurn::ToolParameters(_) => "tools",
    };
    ApiError::invalid(param, invalid.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failure(kind: FailureKind) -> Failure {
        Failure { kind, message: "no".to_owned(), upstream_status: None, upstream_body: None }
    }

    #[test]
    fn the_upstreams_own_words_are_kept() {
        let error = json!({"error": {"message": "no", "param": "input[1]", "code": "bad_thing"}});
        let told = api_error(&Failure {
            upstream_status: Some(400),
            upstream_body: Some(error),
            ..failure(FailureKind::BadRequest)
        });
        assert_eq!(
            told,
            ApiError {
                should_retry: false,
                ..ApiError::invalid("input[1]", "No.").with_code("bad_thing")
            }
        );
    }

    #[test]
    fn what_an_upstream_says_without_end_is_cut() {
        let long = "é".repeat(words::MOST + 1);
        let told = api_error(&Failure {
            message: long.clone(),
            upstream_body: Some(json!({"error": {"code": long, "param": long}})),
            ..failure(FailureKind::BadRequest)
        });
        let lengths = [Some(told.message), told.code.map(Into::into), told.param]
            .map(|text: Option<String>| text.unwrap().chars().count());
        assert_eq!(lengths, [words::MOST + 1, MOST_OF_A_NAME + 1, MOST_OF_A_NAME + 1]);
    }

    #[test]
    fn clients_that_would_try_again_in_vain_are_told() {
        let told = api_error(&failure(FailureKind::UsageLimit));
        assert_eq!((told.status, told.should_retry), (429, false));
        let told = api_error(&failure(FailureKind::RateLimit));
        assert_eq!((told.status, told.should_retry), (429, true));
    }
}
