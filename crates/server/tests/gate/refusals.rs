//! What is refused, and that it is refused alike.

use serde_json::json;
use server::{AccessSettings, ApiKey};
use testkit::http::Connection;

use crate::client::{KEY, MAX_BODY_BYTES, Server, access};

const JSON: &str = "content-type: application/json";
const CHAT: &str = "POST /v1/chat/completions";

#[tokio::test]
async fn a_request_that_has_everything_reaches_its_handler() {
    let server = Server::start().await;
    let answer = server.send(CHAT, &[KEY, JSON, "x-request-id: mine-1"], "{}").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json(), json!({"caller": "owner", "id": "mine-1", "body": "{}"}));
    assert_eq!(answer.header("x-request-id"), Some("mine-1"));
    assert_eq!(answer.header("vary"), Some("origin"));
    assert_eq!(answer.header("access-control-allow-origin"), None);

    let answer = server.send(CHAT, &[KEY, JSON], "{}").await;
    let id = answer.header("x-request-id").unwrap();
    assert!(id.starts_with("req_") && id.len() == 28, "{id}");
    assert_eq!(answer.json()["id"], id);
}

#[tokio::test]
async fn row_2_host_is_checked_on_every_path_and_before_the_key() {
    let server = Server::start().await;
    let port = server.address.port();
    let ours = format!("host: localhost:{port}");
    for path in ["/livez", "/", "/v1/models", "/v1/nothing"] {
        let line = format!("GET {path}");
        let rebound = format!("host: rebound.example:{port}");
        let other_port = format!("host: localhost:{}", port.wrapping_add(1));
        let refused: [&[&str]; 5] =
            [&[], &[&rebound], &["host: localhost"], &[&other_port], &[&ours, &rebound]];
        for lines in refused {
            let lines: Vec<&str> = lines.iter().copied().chain([KEY]).collect();
            let answer = server.send_to_any_host(&line, &lines, "").await;
            assert_eq!(answer.error(), (403, "host_not_allowed".to_owned()), "{path} {lines:?}");
            assert!(answer.body.contains("PROXY_ALLOWED_HOSTS"));
        }
    }
    for host in [&ours, "host: proxy.example", "Host: PROXY.example:1", "host: [::1]:PORT"] {
        let host = host.replace("PORT", &port.to_string());
        let answer = server.send_to_any_host("GET /livez", &[&host], "").await;
        assert_eq!((answer.status, answer.body.as_str()), (200, "ok\n"), "{host}");
    }
}

#[tokio::test]
async fn row_2_host_of_an_absolute_target_is_checked_too() {
    let server = Server::start().await;
    let ours = format!("host: {}", server.address);
    for (target, status) in [
        (format!("http://{}/livez", server.address), 200),
        ("http://proxy.example/livez".to_owned(), 200),
        ("http://rebound.example/livez".to_owned(), 403),
        (format!("http://{}@rebound.example/livez", server.address), 403),
    ] {
        let answer = server.send_to_any_host(&format!("GET {target}"), &[&ours], "").await;
        assert_eq!(answer.status, status, "{target}");
    }
    // Neither a proxy nor a way to ask about everything.
    let connect = format!("CONNECT {}", server.address);
    for (line, status) in
        [("CONNECT rebound.example:443", 403), (&connect, 404), ("OPTIONS *", 404)]
    {
        let answer = server.send_to_any_host(line, &[&ours], "").await;
        assert_eq!(answer.status, status, "{line}");
    }
}

#[tokio::test]
async fn row_4_content_type_must_be_json_if_there_is_a_body() {
    let server = Server::start().await;
    for (lines, body, status) in [
        (vec![JSON], "{}", 200),
        (vec!["content-type: Application/JSON; charset=utf-8"], "{}", 200),
        (vec![], "", 200),
        (vec!["content-length: 0"], "", 200),
        (vec!["content-type: text/plain"], "", 200),
        (vec![], "{}", 415),
        (vec!["content-type: text/plain"], "{}", 415),
        (vec!["content-type: application/x-www-form-urlencoded"], "{}", 415),
        (vec!["transfer-encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n", 415),
        (vec![JSON, "transfer-encoding: chunked"], "2\r\n{}\r\n0\r\n\r\n", 200),
    ] {
        let all: Vec<&str> = lines.iter().copied().chain([KEY]).collect();
        let answer = server.send(CHAT, &all, body).await;
        assert_eq!(answer.status, status, "{lines:?} {body:?}");
        if status == 415 {
            assert_eq!(answer.error(), (415, "unsupported_content_type".to_owned()));
            assert!(answer.body.contains("application/json"));
        }
    }
}

#[tokio::test]
async fn row_5_key_is_needed_for_the_api_and_missing_and_wrong_look_the_same() {
    let server = Server::start().await;
    let wrong = ["x-other: 1", "authorization: Bearer sk-wrong", "x-api-key: sk-right"];
    for line in [CHAT, "POST /chat/completions", "GET /v1/models", "GET /models", "PUT /v1/models"]
    {
        let mut seen = Vec::new();
        for header in wrong {
            let answer = server.send(line, &[JSON, header, "x-request-id: same"], "{}").await;
            assert_eq!(answer.error(), (401, "invalid_api_key".to_owned()), "{line} {header}");
            assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
            assert!(answer.body.contains("It is in the file key."));
            let headers: Vec<_> =
                answer.headers.into_iter().filter(|(name, _)| name != "date").collect();
            seen.push((headers, answer.body));
        }
        assert!(seen.iter().all(|answer| answer == &seen[0]), "{seen:?}");
    }
    for path in ["/livez", "/healthz", "/", "/v1"] {
        assert_eq!(server.send(&format!("GET {path}"), &[], "").await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn row_5_key_is_not_needed_to_read_models_that_are_not_protected() {
    let server = Server::start_with(|app| app.gate.protect_models = false).await;
    for (line, status) in [
        ("GET /v1/models", 200),
        ("HEAD /v1/models", 200),
        ("GET /models/", 200),
        ("GET /v1/models/gpt", 200),
        ("DELETE /v1/models/gpt", 401),
        ("POST /v1/chat/completions", 401),
    ] {
        assert_eq!(server.send(line, &[], "").await.status, status, "{line}");
    }
}

#[tokio::test]
async fn row_5_without_keys_the_api_is_closed() {
    let server = Server::start().await;
    server.access.change(AccessSettings { keys: Vec::new(), ..access() });
    for key in [KEY, "authorization: Bearer", "authorization: Bearer "] {
        assert_eq!(server.send(CHAT, &[key, JSON], "{}").await.status, 401);
    }
}

#[tokio::test]
async fn hosts_origins_and_keys_can_change_while_the_server_runs() {
    let server = Server::start().await;
    let other_host = ["host: other.example", "authorization: Bearer sk-new", JSON];
    let other_origin = ["origin: https://other.example", "authorization: Bearer sk-new", JSON];
    assert_eq!(server.send(CHAT, &[KEY, JSON], "{}").await.status, 200);
    assert_eq!(server.send_to_any_host(CHAT, &other_host, "{}").await.status, 403);
    assert_eq!(server.send(CHAT, &other_origin, "{}").await.status, 403);

    server.access.change(AccessSettings {
        allowed_hosts: vec!["other.example".parse().unwrap()],
        allowed_origins: vec!["https://other.example".parse().unwrap()],
        keys: vec![ApiKey::new("key_new", "new", "sk-new")],
        key_hint: String::new(),
    });
    assert_eq!(server.send(CHAT, &[KEY, JSON], "{}").await.status, 401);
    let answer = server.send_to_any_host(CHAT, &other_host, "{}").await;
    assert_eq!((answer.status, &answer.json()["caller"]), (200, &json!("new")));
    let answer = server.send(CHAT, &other_origin, "{}").await;
    assert_eq!(answer.header("access-control-allow-origin"), Some("https://other.example"));
    assert_eq!(server.send_to_any_host(CHAT, &["host: proxy.example"], "{}").await.status, 403);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_whether_it_declares_its_length_or_not() {
    let server = Server::start().await;
    let fits = "x".repeat(MAX_BODY_BYTES);
    let chunked = |body: &str| format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for (body, status) in [(fits.clone(), 200), (format!("{fits}x"), 413)] {
        let declared = server.send(CHAT, &[KEY, JSON], &body).await;
        let lines = [KEY, JSON, "transfer-encoding: chunked"];
        let counted = server.send(CHAT, &lines, &chunked(&body)).await;
        assert_eq!((declared.status, counted.status), (status, status));
        if status == 413 {
            assert_eq!(declared.error(), (413, "request_too_large".to_owned()));
            assert_eq!(declared.body, counted.body);
            assert!(declared.body.contains("64 bytes (PROXY_MAX_BODY_BYTES)"));
        }
    }
}

#[tokio::test]
async fn row_15_panic_costs_its_own_request_only() {
    let server = Server::start().await;
    let lines = [KEY, JSON, "x-request-id: it", "origin: app://obsidian.md"];
    let answer = server.send(CHAT, &lines, "panic").await;
    assert_eq!(answer.error(), (500, "internal_error".to_owned()));
    assert!(!answer.body.contains("sk-secret"));
    assert_eq!(answer.header("x-request-id"), Some("it"));
    assert_eq!(answer.header("access-control-allow-origin"), Some("app://obsidian.md"));
    assert_eq!(server.send(CHAT, &lines, "{}").await.status, 200);
}

/// A client that has not sent its body yet would use the connection for its next request.
#[tokio::test]
async fn an_answer_before_the_end_of_the_body_ends_the_connection_and_says_so() {
    let server = Server::start().await;
    let this = format!("host: {}", server.address);
    let refused: [(u16, &str, &[&str]); 5] = [
        (401, CHAT, &[&this, JSON]),
        (403, CHAT, &["host: other.example", KEY, JSON]),
        (404, "POST /v1/nothing", &[&this, KEY, JSON]),
        (405, "PUT /v1/chat/completions", &[&this, KEY, JSON]),
        (415, CHAT, &[&this, KEY, "content-type: text/plain"]),
    ];
    for (status, target, lines) in refused {
        let lines = lines.join("\r\n");
        let head = format!("{target} HTTP/1.1\r\n{lines}\r\ncontent-length: 2\r\n\r\n");
        let answer = server.send_raw(&head).await;
        assert_eq!((answer.status, answer.header("connection")), (status, Some("close")));
    }
    let whole =
        format!("{CHAT} HTTP/1.1\r\n{this}\r\n{KEY}\r\n{JSON}\r\ncontent-length: 2\r\n\r\n{{}}");
    let mut connection = Connection::open_with(server.address, whole.as_bytes()).await.unwrap();
    let head = connection.head().await.unwrap();
    assert_eq!((head.status, head.header("connection")), (200, None));
}
