//! What there is beside the answers themselves: models, other methods, other paths, keys.

use http_body_util::Full;
use hyper::{Method, Request};
use serde_json::{Value, json};

use crate::asking::ask;
use crate::http::Answer;
use crate::proxy::{CHAT, KEY, Proxy};
use crate::reply::Reply;

const OBSIDIAN: &str = "app://obsidian.md";

async fn send(proxy: &Proxy, method: Method, path: &str) -> Answer {
    let request = Request::builder().method(method).uri(path).header("origin", OBSIDIAN);
    let answer = proxy.send(request.body(Full::default()).unwrap()).await.whole().await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(OBSIDIAN), "{path}");
    answer
}

async fn post(proxy: &Proxy, path: &str, body: &Value) -> Answer {
    let request = Request::post(path).header("content-type", "application/json");
    let request = request.header("origin", OBSIDIAN);
    let answer =
        proxy.send(request.body(Full::from(body.to_string())).unwrap()).await.whole().await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(OBSIDIAN), "{path}");
    answer
}

fn model(id: &str) -> Value {
    json!({"id": id, "object": "model", "created": 0, "owned_by": "codex"})
}

#[tokio::test]
async fn models_are_listed_and_shown() {
    let proxy = Proxy::start(&[("PROXY_MODEL_ALIASES", "fast=gpt-5.5:low")]).await;
    for path in ["/v1/models", "/models", "/v1/models/"] {
        let list = send(&proxy, Method::GET, path).await.json();
        assert_eq!(list["object"], "list");
        let models = list["data"].as_array().unwrap();
        for name in ["gpt-5.5", "demo", "fast", "chat", "chat-low", "codex-5", "codex-5-high"] {
            assert!(models.contains(&model(name)), "{name} in {list}");
        }
        let mut names: Vec<_> = models.iter().map(|model| model["id"].as_str().unwrap()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), models.len(), "each is there once");
    }
    for name in ["gpt-5.5", "demo", "fast"] {
        assert_eq!(
            send(&proxy, Method::GET, &format!("/v1/models/{name}")).await.json(),
            model(name)
        );
    }
    for name in ["nothing", "a%2Fb", "%F0%9F%A6%80"] {
        let answer = send(&proxy, Method::GET, &format!("/models/{name}")).await;
        assert_eq!(answer.error(), (404, json!("model"), json!("model_not_found")));
    }
    for (path, status) in [("/v1/models", 200), ("/v1/models/demo", 200), ("/v1/models/no", 404)] {
        let head = send(&proxy, Method::HEAD, path).await;
        assert_eq!((head.status, head.body.as_str()), (status, ""));
    }
}

#[tokio::test]
async fn other_methods_and_paths_say_what_there_is() {
    let proxy = Proxy::start(&[]).await;
    for path in ["/chat/completions", CHAT, "/v1/chat/completions/"] {
        let reply = Reply::of(&post(&proxy, path, &ask("[[text]]")).await);
        assert_eq!(reply.choice().text(), "Hello from the scripted model.");
    }
    let options = send(&proxy, Method::OPTIONS, CHAT).await;
    assert_eq!((options.status, options.header("allow")), (204, Some("POST")));
    for method in [Method::GET, Method::PUT, Method::DELETE] {
        let answer = send(&proxy, method, CHAT).await;
        assert_eq!(answer.error(), (405, Value::Null, json!("method_not_allowed")));
        assert_eq!(answer.header("allow"), Some("POST"));
    }
    for (path, hint) in [
        ("/v1/nothing", "Unknown path /v1/nothing."),
        ("/v1/completions", "use /v1/chat/completions"),
        ("/v1/embeddings", "no embeddings"),
        ("/v1/audio/speech", "neither speech nor transcription"),
        ("/v1/v1/chat/completions", "/v1 twice"),
    ] {
        let answer = post(&proxy, path, &json!({})).await;
        assert_eq!(answer.error(), (404, Value::Null, json!("unknown_path")));
        assert!(answer.body.contains(hint), "{}", answer.body);
    }
}

/// A browser shows an error of ours only if it may read it.
#[tokio::test]
async fn errors_can_be_read_by_allowed_pages() {
    let proxy = Proxy::start(&[("PROXY_MAX_BODY_BYTES", "1024")]).await;
    for (body, status) in [
        (ask("[[http:429]]"), 429),
        (ask("[[http:500]]"), 502),
        (json!({}), 400),
        (ask(&"x".repeat(2_000)), 413),
    ] {
        assert_eq!(post(&proxy, CHAT, &body).await.status, status);
    }
    for key in [None, Some("Bearer wrong"), Some("wrong")] {
        let mut request = Request::post(CHAT).header("origin", OBSIDIAN);
        if let Some(key) = key {
            request = request.header("authorization", key);
        }
        let answer = proxy.send_without_key(request.body(Full::default()).unwrap()).await;
        let answer = answer.whole().await;
        assert_eq!(answer.error(), (401, Value::Null, json!("invalid_api_key")));
        assert_eq!(answer.header("access-control-allow-origin"), Some(OBSIDIAN));
    }
    let preflight = Request::options(CHAT)
        .header("origin", OBSIDIAN)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,content-type,x-stainless-os");
    let answer = proxy.send_without_key(preflight.body(Full::default()).unwrap()).await;
    assert_eq!(answer.status, 204);
    let allowed = answer.headers.get("access-control-allow-headers").unwrap();
    assert_eq!(allowed, "authorization,content-type,x-stainless-os");
    let exposed = send(&proxy, Method::GET, "/v1/models").await;
    let exposed = exposed.header("access-control-expose-headers").unwrap();
    for name in ["x-request-id", "x-codex-tool-call-count", "x-proxy-ignored-params", "retry-after"]
    {
        assert!(exposed.contains(name), "{name} in {exposed}");
    }
}

/// Without another upstream only Codex's own models can be asked, and all but `demo` need a login.
#[tokio::test]
async fn without_a_login_there_is_the_demo() {
    let proxy = Proxy::start(&[("PROXY_UPSTREAM_BASE_URL", "")]).await;
    let asked = |model: &str| crate::asking::with(ask("Hello"), json!({"model": model}));
    let unknown = proxy.chat(&asked("no-such-model")).await;
    assert_eq!(unknown.error(), (404, json!("model"), json!("model_not_found")));
    let answer = proxy.chat(&asked("gpt-5.5")).await;
    assert_eq!(answer.error(), (401, Value::Null, json!("codex_login_required")));
    assert!(answer.body.contains("codex-completions login"), "{}", answer.body);
    for request in [asked("demo"), crate::asking::streamed(asked("demo"))] {
        let reply = Reply::of(&proxy.chat(&request).await);
        assert!(reply.choice().text().contains("“Hello”"), "{reply:?}");
    }
    assert_eq!(proxy.model.requests(), 0);
}

#[tokio::test]
async fn models_and_counters_can_be_open_to_anybody() {
    let open = [("PROXY_PROTECT_MODELS", "false"), ("PROXY_METRICS_ALLOW_LOOPBACK", "true")];
    for (settings, status) in [(&open[..], 200), (&[], 401)] {
        let proxy = Proxy::start(settings).await;
        for path in ["/v1/models", "/models/demo", "/metrics"] {
            let request = Request::get(path).body(Full::default()).unwrap();
            assert_eq!(proxy.send_without_key(request).await.status, status, "{path}");
        }
        let request = Request::post(CHAT).body(Full::default()).unwrap();
        assert_eq!(proxy.send_without_key(request).await.status, 401);
    }
}

#[tokio::test]
async fn row_17_page_and_health_hold_nothing_of_the_owners() {
    let proxy = Proxy::start(&[]).await;
    let asked = proxy.chat(&ask("[[echo]] canary-of-a-prompt")).await;
    assert!(Reply::of(&asked).choice().text().contains("canary-of-a-prompt"));
    let get = async |path: &str| {
        let request = Request::get(path).body(Full::default()).unwrap();
        proxy.send_without_key(request).await.whole().await
    };
    let home = proxy.folder().to_str().unwrap();
    for path in ["/", "/v1", "/livez", "/readyz", "/healthz"] {
        let answer = get(path).await;
        assert_eq!(answer.status, 200, "{path}");
        for secret in [KEY, home, "canary-of-a-prompt", "gpt-5.5"] {
            assert!(!format!("{answer:?}").contains(secret), "{path}: {answer:?}");
        }
    }
    for path in ["/v1/models", "/v1/models/demo", "/metrics", CHAT] {
        assert_eq!(get(path).await.status, 401, "{path}");
    }
}
