//! Paths and methods.

use serde_json::json;

use crate::client::{KEY, Server};

const JSON: &str = "content-type: application/json";

#[tokio::test]
async fn the_api_answers_with_and_without_v1_and_with_a_slash_too_many() {
    let server = Server::start().await;
    for path in ["/v1/chat/completions", "/chat/completions", "/v1/chat/completions/?a=b"] {
        let answer = server.send(&format!("POST {path}"), &[KEY, JSON], "{}").await;
        assert_eq!(answer.status, 200, "{path}");
    }
    for path in ["/v1/models", "/models", "/v1/models/", "/v1/models/a", "/models/a/", "/livez/"] {
        let answer = server.send(&format!("GET {path}"), &[KEY], "").await;
        assert_eq!(answer.status, 200, "{path}");
    }
    for path in ["/v1/v1/models", "//v1/models", "/v1/models//", "/v1/livez", "/V1/models"] {
        let answer = server.send(&format!("GET {path}"), &[KEY], "").await;
        assert_eq!(answer.error(), (404, "unknown_path".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn an_unknown_path_lists_what_there_is() {
    let server = Server::start().await;
    let answer = server.send("GET /v1/nothing", &[], "").await;
    let expected = json!({"error": {
        "message": "Unknown path /v1/nothing. There are /v1/chat/completions, /v1/models, \
            /v1/models/{id}, /healthz, /livez, /readyz.",
        "type": "invalid_request_error",
        "param": null,
        "code": "unknown_path",
    }});
    assert_eq!((answer.status, answer.json()), (404, expected));
    let answer = server.send("POST /v1/embeddings", &[KEY, JSON], "{}").await;
    assert_eq!(answer.error(), (404, "unknown_path".to_owned()));
    assert!(answer.body.contains("There are no embeddings here"), "{}", answer.body);
}

#[tokio::test]
async fn the_index_says_what_there_is() {
    let server = Server::start().await;
    let expected = json!({
        "name": "codex-completions",
        "version": env!("CARGO_PKG_VERSION"),
        "paths": [
            "/v1/chat/completions", "/v1/models", "/v1/models/{id}",
            "/healthz", "/livez", "/readyz",
        ],
    });
    for path in ["/v1", "/v1/"] {
        assert_eq!(server.send(&format!("GET {path}"), &[], "").await.json(), expected);
    }
}

#[tokio::test]
async fn a_method_that_is_not_there_is_answered_with_those_that_are() {
    let server = Server::start().await;
    for (line, allow, words) in [
        ("GET /v1/chat/completions", "POST", "GET is not possible on this path, only POST."),
        ("DELETE /v1/models", "GET,HEAD", "DELETE is not possible on this path, only GET, HEAD."),
        ("POST /livez", "GET,HEAD", "POST is not possible on this path, only GET, HEAD."),
    ] {
        let answer = server.send(line, &[KEY], "").await;
        assert_eq!(answer.error(), (405, "method_not_allowed".to_owned()), "{line}");
        assert_eq!(answer.header("allow"), Some(allow));
        assert_eq!(answer.json()["error"]["message"], words);
    }
    let options = server.send("OPTIONS /v1/chat/completions", &[KEY], "").await;
    assert_eq!((options.status, options.header("allow")), (204, Some("POST")));
    let head = server.send("HEAD /v1/models", &[KEY], "").await;
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), Some("11"));
}

#[tokio::test]
async fn details_are_shown_to_those_who_have_a_key_alone() {
    let server = Server::start().await;
    for (path, summary) in [
        ("/healthz", json!({"status": "codex_starting"})),
        ("/readyz", json!({"ready": false, "reason": "codex_starting"})),
    ] {
        let line = format!("GET {path}");
        for lines in [&[][..], &["authorization: Bearer sk-wrong"]] {
            assert_eq!(server.send(&line, lines, "").await.json(), summary, "{path}");
        }
        let mut shown = server.send(&line, &[KEY], "").await.json();
        let members = shown.as_object_mut().unwrap();
        assert!(members.remove("uptime_seconds").unwrap().is_u64());
        let mut expected = summary;
        expected.as_object_mut().unwrap().extend([
            ("version".to_owned(), json!(env!("CARGO_PKG_VERSION"))),
            ("workers".to_owned(), json!([])),
            (
                "turns".to_owned(),
                json!({"running": 0, "waiting": 0, "limit": 16, "queue_max": 64, "keys": {}}),
            ),
        ]);
        assert_eq!(shown, expected, "{path}");
    }
    let unready = server.send("GET /readyz", &[], "").await;
    assert_eq!((unready.status, unready.header("retry-after")), (503, Some("1")));
}
