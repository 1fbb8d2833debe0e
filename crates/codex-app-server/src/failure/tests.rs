use serde_json::json;

use super::*;

fn kind(message: &str, info: Value) -> (FailureKind, String, Option<u16>) {
    let failure = from_codex(&TurnError {
        message: message.to_owned(),
        codex_error_info: Some(info),
        additional_details: None,
    });
    (failure.kind, failure.message, failure.upstream_status)
}

#[test]
fn every_description_that_codex_was_seen_to_give_has_its_kind() {
    use FailureKind as K;
    let cut = "stream disconnected before completion: Transport error: network error";
    let cases = [
        (
            "unexpected status 401",
            json!({"httpConnectionFailed": {"httpStatusCode": 401}}),
            K::Unauthorized,
        ),
        (
            "exceeded retry limit",
            json!({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}),
            K::RateLimit,
        ),
        ("usage limit", json!("usageLimitExceeded"), K::UsageLimit),
        ("high demand", json!("internalServerError"), K::ServerError),
        ("at capacity", json!("serverOverloaded"), K::Overloaded),
        ("The model `x` does not exist", json!("modelNotFound"), K::ModelNotFound),
        ("out of room", json!("contextWindowExceeded"), K::ContextLength),
        ("rate limit exceeded: x", json!("rateLimitExceeded"), K::RateLimit),
        (cut, json!("other"), K::StreamCut),
        (cut, json!({"responseStreamDisconnected": {"httpStatusCode": null}}), K::StreamCut),
        (
            "stream disconnected before completion: idle timeout waiting for SSE",
            json!("other"),
            K::StreamCut,
        ),
        ("Incomplete response returned, reason: max_output_tokens", json!("other"), K::MaxOutput),
        (
            "stream disconnected before completion: Incomplete response returned, reason: content_filter",
            json!("other"),
            K::ContentFilter,
        ),
        (
            "Connection failed",
            json!({"httpConnectionFailed": {"httpStatusCode": null}}),
            K::Unreachable,
        ),
        (
            "unexpected status 418",
            json!({"httpConnectionFailed": {"httpStatusCode": 418}}),
            K::BadRequest,
        ),
        ("bad gateway", json!({"httpConnectionFailed": {"httpStatusCode": 502}}), K::ServerError),
        ("Fatal error: application network permission was revoked", json!("other"), K::StreamCut),
        ("Fatal error: something new", json!("other"), K::Unexpected),
        ("<html>no</html>", json!("other"), K::BadRequest),
        ("Incomplete response returned, reason: new", json!("other"), K::Unexpected),
        ("too early", json!({"httpConnectionFailed": {"httpStatusCode": 425}}), K::ServerError),
        ("something new", json!({"somethingNew": {}}), K::Unexpected),
        ("something new", json!(null), K::Unexpected),
    ];
    for (message, info, expected) in cases {
        assert_eq!(kind(message, info.clone()).0, expected, "{message} {info}");
    }
}

#[test]
fn a_failed_response_keeps_the_upstreams_own_words() {
    let seen = kind("stream disconnected before completion: the server burned", json!("other"));
    assert_eq!(seen, (FailureKind::ServerError, "the server burned".to_owned(), None));
}

#[test]
fn the_body_of_a_400_is_kept_whole() {
    let body = json!({"error": {"message": "Invalid 'input'", "code": "invalid_value"}});
    let failure = from_codex(&TurnError {
        message: body.to_string(),
        codex_error_info: Some(json!("other")),
        additional_details: None,
    });
    assert_eq!(
        failure,
        Failure {
            kind: FailureKind::BadRequest,
            message: "Invalid 'input'".to_owned(),
            upstream_status: Some(400),
            upstream_body: Some(body),
        }
    );
    let seen =
        kind(r#"{"error":{"code":"context_length_exceeded","message":"long"}}"#, json!("other"));
    assert_eq!(seen, (FailureKind::ContextLength, "long".to_owned(), Some(400)));
}

#[test]
fn a_body_that_is_no_json_is_kept_too() {
    for (message, words) in
        [("<html>", "<html>"), ("", "the upstream refused the request without a word")]
    {
        let failure = from_codex(&TurnError {
            message: message.to_owned(),
            codex_error_info: Some(json!("other")),
            additional_details: None,
        });
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::BadRequest, words));
        assert_eq!(failure.upstream_body, Some(json!(message)));
    }
}
