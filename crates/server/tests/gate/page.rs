//! What a browser is told about every answer, and what there is for those without a key.

use std::time::Duration;

use axum::routing::get;
use serde_json::json;
use server::ApiRoutes;

use crate::client::{Answer, KEY, MAX_BODY_BYTES, PATIENCE, Server, stand_in};
use crate::streams::{connect, rest, under_way};

const JSON: &str = "content-type: application/json";
const PROTECTION: [(&str, &str); 4] = [
    ("content-security-policy", "default-src 'self'; frame-ancestors 'none'"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    ("x-content-type-options", "nosniff"),
];

fn assert_protected(answer: &Answer) {
    for (name, value) in PROTECTION {
        // The page itself has more than this.
        let parts = answer.header(name).unwrap_or_default().split("; ").collect::<Vec<_>>();
        assert!(value.split("; ").all(|part| parts.contains(&part)), "{name}: {answer:?}");
    }
    assert!(answer.header("x-request-id").is_some(), "{answer:?}");
}

fn with_metrics() -> ApiRoutes {
    stand_in(PATIENCE).route("/metrics", get(async || "# EOF\n"))
}

#[tokio::test]
async fn row_17_page_protection_is_on_every_answer() {
    let server = Server::start_with(|app| {
        app.limits.header_timeout = Duration::from_millis(50);
        app.limits.max_connections = 2;
    })
    .await;
    let long = "x".repeat(MAX_BODY_BYTES + 1);
    let page = "origin: app://obsidian.md";
    let preflight = "access-control-request-method: POST";
    for (request, lines, body, status) in [
        ("GET /", vec![], "", 200),
        ("GET /livez", vec![], "", 200),
        ("GET /readyz", vec![], "", 503),
        ("POST /v1/chat/completions", vec![KEY, JSON, page], "{}", 200),
        ("POST /v1/chat/completions", vec![KEY, JSON], "panic", 500),
        ("POST /v1/chat/completions", vec![KEY, JSON], &*long, 413),
        ("POST /v1/chat/completions", vec![KEY], "{}", 415),
        ("POST /v1/chat/completions", vec![JSON], "{}", 401),
        ("OPTIONS /v1/chat/completions", vec![page, preflight], "", 204),
        ("OPTIONS /v1/chat/completions", vec!["origin: null"], "", 403),
        ("PUT /v1/chat/completions", vec![KEY], "", 405),
        ("HEAD /v1/models", vec![KEY], "", 200),
        ("GET /nothing", vec![], "", 404),
    ] {
        let answer = server.send(request, &lines, body).await;
        assert_eq!(answer.status, status, "{request}");
        assert_protected(&answer);
    }
    // Those that no handler has seen, too.
    let slow = connect(&server, "GET / HTTP/1.1\r\n").await;
    for (answer, status) in
        [(rest(connect(&server, "GET /\r\n\r\n").await).await, 400), (rest(slow).await, 408)]
    {
        let answer = Answer::parse(&answer);
        assert_eq!(answer.status, status);
        assert_protected(&answer);
    }
    let _busy = (under_way(&server, 2).await, under_way(&server, 2).await);
    let answer = Answer::parse(&rest(connect(&server, "").await).await);
    assert_eq!(answer.status, 429);
    assert_protected(&answer);
}

#[tokio::test]
async fn row_17_page_and_health_hold_nothing_and_the_rest_needs_the_key() {
    let server = Server::start_with(|app| app.api = with_metrics()).await;
    let asked = server.send("POST /v1/chat/completions", &[KEY, JSON], r#""a prompt""#).await;
    assert_eq!(asked.status, 200);
    let version = env!("CARGO_PKG_VERSION");
    let index = json!({
        "name": "codex-completions",
        "version": version,
        "paths": [
            "/v1/chat/completions", "/v1/models", "/v1/models/{id}", "/v1/metrics",
            "/healthz", "/livez", "/readyz",
        ],
    });
    let health = json!({"status": "codex_starting"});
    let readiness = json!({"ready": false, "reason": "codex_starting"});
    let page = include_str!("../../page/index.html");
    assert_eq!(server.send("GET /", &[], "").await.body, page);
    for (path, expected) in [("/v1", &index), ("/healthz", &health), ("/readyz", &readiness)] {
        assert_eq!(&server.send(&format!("GET {path}"), &[], "").await.json(), expected);
    }
    assert_eq!(server.send("GET /livez", &[], "").await.body, "ok\n");
    for path in ["/v1/chat/completions", "/v1/models", "/v1/models/x", "/metrics", "/v1/metrics"] {
        for method in ["GET", "POST", "HEAD", "DELETE"] {
            let answer = server.send(&format!("{method} {path}"), &[], "").await;
            assert_eq!(answer.status, 401, "{method} {path}");
        }
    }
}

#[tokio::test]
async fn row_17_page_of_metrics_can_be_opened() {
    for (protect_metrics, status) in [(true, 401), (false, 200)] {
        let server = Server::start_with(|app| {
            app.api = with_metrics();
            app.gate.protect_metrics = protect_metrics;
        })
        .await;
        assert_eq!(server.send("GET /metrics", &[], "").await.status, status);
        assert_eq!(server.send("GET /metrics", &[KEY], "").await.status, 200);
        assert_eq!(server.send("GET /v1/models", &[], "").await.status, 401);
    }
}

/// Every spelling of the path that is routed, and some that are not.
const METRICS: [&str; 6] =
    ["/metrics", "/metrics/", "/v1/metrics", "/v1/metrics/", "/v1/metrics?name=x", "/metrics#x"];
const NO_METRICS: [&str; 12] = [
    "//metrics",
    "/metrics//",
    "/v1//metrics",
    "/v1/v1/metrics",
    "/./metrics",
    "/v1/../metrics",
    "/Metrics",
    "/V1/metrics",
    "/%6detrics",
    "/v1%2fmetrics",
    "/metrics;x",
    "/metrics%20",
];

async fn with_open_metrics() -> Server {
    Server::start_with(|app| {
        app.api = with_metrics();
        app.gate.protect_metrics = false;
    })
    .await
}

#[tokio::test]
async fn row_25_open_metrics_are_open_to_loopback_names_alone() {
    let server = with_open_metrics().await;
    let port = server.address.port();
    for path in METRICS {
        for (host, status) in [
            (format!("127.0.0.1:{port}"), 200),
            (format!("LocalHost:{port}"), 200),
            (format!("[::1]:{port}"), 200),
            ("proxy.example".to_owned(), 401),
            (format!("proxy.example:{port}"), 401),
            ("127.0.0.1".to_owned(), 403),
            (format!("127.0.0.1:{}", port ^ 1), 403),
        ] {
            let host = format!("host: {host}");
            let get = format!("GET {path}");
            let answer = server.send_to_any_host(&get, &[&host], "").await;
            assert_eq!(answer.status, status, "{path}, {host}");
            let absolute = format!("GET http://proxy.example{path}");
            let answer = server.send_to_any_host(&absolute, &[&host], "").await;
            assert_eq!(answer.status, if status == 403 { 403 } else { 401 }, "{absolute}, {host}");
            let with_key = server.send_to_any_host(&get, &[&host, KEY], "").await.status;
            assert_eq!(with_key, if status == 403 { 403 } else { 200 }, "{path}, {host}");
        }
        assert_eq!(server.send(&format!("POST {path}"), &[], "").await.status, 401, "{path}");
    }
    for path in NO_METRICS {
        assert_eq!(server.send(&format!("GET {path}"), &[], "").await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn row_25_open_metrics_are_closed_to_what_a_proxy_passes_on() {
    let server = with_open_metrics().await;
    for path in METRICS {
        let get = format!("GET {path}");
        for forwarding in [
            "Forwarded: for=192.0.2.1",
            "Via: 1.1 proxy.example",
            "X-Forwarded-For: 127.0.0.1",
            "x-forwarded-proto: https",
            "X-Forwarded-Host: localhost",
            "X-Forwarded-Server: proxy.example",
            "X-Real-IP:",
            "X-Client-IP: 192.0.2.1",
            "X-Cluster-Client-IP: 192.0.2.1",
            "X-Original-Forwarded-For: 192.0.2.1",
            "X-Envoy-External-Address: 192.0.2.1",
            "X-Amzn-Trace-Id: Root=1",
            "True-Client-IP: 192.0.2.1",
            "CF-Connecting-IP: 192.0.2.1",
            "Fastly-Client-IP: 192.0.2.1",
            "CDN-Loop: proxy.example",
        ] {
            assert_eq!(server.send(&get, &[forwarding], "").await.status, 401, "{forwarding}");
            let with_key = server.send(&get, &[forwarding, KEY], "").await.status;
            assert_eq!(with_key, 200, "{forwarding}");
        }
        for other in ["x-request-id: 7", "x-proxy-output-mode: openai-json", "user-agent: curl/8"] {
            assert_eq!(server.send(&get, &[other], "").await.status, 200, "{other}");
        }
    }
}
