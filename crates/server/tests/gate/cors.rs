//! Pages: whose may use us, and what their browsers are told.

use proptest::prelude::*;

use crate::client::{Answer, KEY, Server};

const JSON: &str = "content-type: application/json";
const EXPOSED: &str = "x-request-id, x-codex-tool-call-count, x-codex-tool-call-truncated, \
    x-codex-stop-after-tools-mode, x-proxy-output-mode, x-proxy-ignored-params, x-proxy-model, \
    x-proxy-usage, x-proxy-continuity, x-should-retry, x-accel-buffering, x-ratelimit-limit-requests, \
    x-ratelimit-remaining-requests, x-ratelimit-reset-requests, retry-after";

fn cors_headers(answer: &Answer) -> Vec<(&str, &str)> {
    let all = answer.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    all.filter(|(name, _)| name.starts_with("access-control")).collect()
}

#[tokio::test]
async fn row_3_origin_of_an_allowed_page_is_on_every_answer() {
    let server = Server::start().await;
    let own = format!("http://localhost:{}", server.address.port());
    let long = "x".repeat(100);
    let allowed = ["app://obsidian.md", "capacitor://localhost", "http://localhost"];
    for origin in allowed.into_iter().chain(["https://notes.example", &own]) {
        let line = format!("origin: {origin}");
        for (request, lines, body, status) in [
            ("POST /v1/chat/completions", vec![KEY, JSON], "{}", 200),
            ("POST /v1/chat/completions", vec![JSON], "{}", 401),
            ("POST /v1/chat/completions", vec![KEY], "{}", 415),
            ("POST /v1/chat/completions", vec![KEY, JSON], &*long, 413),
            ("POST /v1/chat/completions", vec![KEY, JSON], "panic", 500),
            ("PUT /v1/chat/completions", vec![KEY], "", 405),
            ("GET /v1/embeddings", vec![], "", 404),
            ("GET /livez", vec![], "", 200),
            ("GET /livez", vec!["host: second.example"], "", 403),
        ] {
            let lines: Vec<&str> = lines.iter().copied().chain([line.as_str()]).collect();
            let answer = server.send(request, &lines, body).await;
            assert_eq!(answer.status, status, "{request}");
            let mut told = cors_headers(&answer);
            told.sort_unstable();
            let expected = [
                ("access-control-allow-origin", origin),
                ("access-control-expose-headers", EXPOSED),
            ];
            assert_eq!(told, expected);
            assert_eq!(answer.header("vary"), Some("origin"));
        }
    }
}

#[tokio::test]
async fn row_3_origin_of_another_page_is_refused_and_told_nothing() {
    let server = Server::start().await;
    let twice = "origin: app://obsidian.md\r\norigin: app://obsidian.md";
    for line in ["origin: null", "origin: https://evil.example", "origin: *", "origin:", twice] {
        for request in ["POST /v1/chat/completions", "GET /livez", "GET /nothing", "OPTIONS /v1"] {
            let preflight = "access-control-request-method: GET";
            let answer = server.send(request, &[KEY, line, preflight], "").await;
            assert_eq!(answer.error(), (403, "origin_not_allowed".to_owned()), "{line} {request}");
            assert_eq!(cors_headers(&answer), []);
            assert_eq!(answer.header("vary"), Some("origin"));
        }
    }
}

#[tokio::test]
async fn row_3_origin_that_is_allowed_may_ask_without_a_key() {
    let server = Server::start().await;
    let wanted = "authorization,content-type,dangerously-allow-browser,x-stainless-arch";
    let headers = format!("access-control-request-headers: {wanted}");
    let lines = [
        "origin: app://obsidian.md",
        "access-control-request-method: POST",
        &headers,
        "access-control-request-private-network: true",
    ];
    let answer = server.send("OPTIONS /v1/chat/completions", &lines, "").await;
    assert_eq!((answer.status, answer.body.as_str()), (204, ""));
    let mut told = cors_headers(&answer);
    told.sort_unstable();
    let expected = [
        ("access-control-allow-headers", wanted),
        ("access-control-allow-methods", "GET, HEAD, POST, DELETE"),
        ("access-control-allow-origin", "app://obsidian.md"),
        ("access-control-allow-private-network", "true"),
        ("access-control-expose-headers", EXPOSED),
        ("access-control-max-age", "600"),
    ];
    assert_eq!(told, expected);

    let bad = ["origin: app://obsidian.md", lines[1], "access-control-request-headers: a b"];
    let answer = server.send("OPTIONS /v1/chat/completions", &bad, "").await;
    assert_eq!(answer.error(), (400, "invalid_value".to_owned()));
    assert_eq!(answer.json()["error"]["param"], "access-control-request-headers");
}

/// Near misses of what is allowed, and anything else that can be in a header.
fn any_origin() -> impl Strategy<Value = String> {
    let near = prop::sample::select(vec![
        "app://obsidian.md",
        "capacitor://localhost",
        "http://localhost",
        "https://notes.example",
    ]);
    prop_oneof![
        near.clone().prop_map(str::to_owned),
        (near.clone(), "[ -~]{1,3}").prop_map(|(origin, more)| format!("{origin}{more}")),
        (near, any::<prop::sample::Index>()).prop_map(|(origin, at)| {
            let at = at.index(origin.len());
            format!("{}{}", &origin[..at], &origin[at + 1..])
        }),
        "[ -~]{0,30}",
        "https?://[a-z.]{1,12}(:[0-9]{1,5})?",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The origin in an answer is one of the list, and the one that asked.
    #[test]
    fn row_3_origin_law(origins in prop::collection::vec(any_origin(), 8)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::start().await;
            let port = server.address.port();
            let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
            let listed = ["app://obsidian.md", "capacitor://localhost", "http://localhost"];
            let configured = "https://notes.example";
            for origin in origins {
                let answer = server.send("GET /livez", &[&format!("origin: {origin}")], "").await;
                // The spaces around a header's value are not part of it.
                let origin = origin.trim_matches(' ');
                let is_listed = listed.contains(&origin)
                    || origin == configured
                    || own.iter().any(|own| own == origin);
                let told = answer.header("access-control-allow-origin");
                prop_assert_eq!(told, is_listed.then_some(origin));
                prop_assert_eq!(answer.status, if is_listed { 200 } else { 403 });
            }
            Ok(())
        })?;
    }
}
