//! Where responses are asked for, and where not.

use http_body_util::Full;
use hyper::{Method, Request};
use serde_json::{Value, json};

use super::asking::{RESPONSES, ask, post};
use super::reply::Reply;
use crate::http::Answer;
use crate::proxy::Proxy;

const OBSIDIAN: &str = "app://obsidian.md";

async fn send(proxy: &Proxy, method: Method, path: &str) -> Answer {
    let request = Request::builder().method(method).uri(path).header("origin", OBSIDIAN);
    let request = request.header("content-type", "application/json");
    let answer = proxy.send(request.body(Full::default()).unwrap()).await.whole().await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(OBSIDIAN), "{path}");
    answer
}

on_one_server! {
    responses_are_found_with_and_without_the_version,
    other_methods_and_paths_say_what_there_is,
    pages_may_use_every_method,
}

async fn responses_are_found_with_and_without_the_version(proxy: &Proxy) {
    for path in [RESPONSES, "/responses", "/v1/responses/"] {
        let body = ask("[[text]]").to_string();
        let answer = post(proxy, path, body, &[("origin", OBSIDIAN)]).await.whole().await;
        assert_eq!(answer.header("access-control-allow-origin"), Some(OBSIDIAN));
        let reply = Reply::of(&answer);
        assert_eq!(reply.text(), "Hello from the scripted model.");
        for start in ["/v1", ""] {
            let path = format!("{start}/responses/{}", reply.id());
            assert_eq!(send(proxy, Method::GET, &path).await.json(), reply.response);
            let input = send(proxy, Method::GET, &format!("{path}/input_items")).await.json();
            assert_eq!(input["data"][0]["content"][0]["text"], "[[text]]");
        }
    }
}

async fn other_methods_and_paths_say_what_there_is(proxy: &Proxy) {
    let id = "/v1/responses/resp_1";
    for (path, allowed, others) in [
        (RESPONSES, "POST", [Method::GET, Method::PUT, Method::DELETE]),
        (id, "GET,HEAD,DELETE", [Method::POST, Method::PUT, Method::PATCH]),
        (&format!("{id}/input_items"), "GET,HEAD", [Method::POST, Method::PUT, Method::DELETE]),
        (&format!("{id}/cancel"), "POST", [Method::GET, Method::PUT, Method::DELETE]),
    ] {
        let options = send(proxy, Method::OPTIONS, path).await;
        assert_eq!((options.status, options.header("allow")), (204, Some(allowed)), "{path}");
        for method in others {
            let answer = send(proxy, method, path).await;
            let error = (405, Value::Null, json!("method_not_allowed"));
            assert_eq!(answer.error(), error, "{path}");
            assert_eq!(answer.header("allow"), Some(allowed), "{path}");
        }
    }
    for path in ["/v1/responses/resp_1/output", "/responses/resp_1/cancel/now"] {
        let answer = send(proxy, Method::GET, path).await;
        assert_eq!(answer.error(), (404, Value::Null, json!("unknown_path")));
        assert!(answer.body.contains("/v1/responses/{id}/input_items"), "{}", answer.body);
    }
    let unknown = (404, Value::Null, json!("response_not_found"));
    for (method, path) in [
        (Method::GET, id.to_owned()),
        (Method::DELETE, id.to_owned()),
        (Method::GET, format!("{id}/input_items")),
        (Method::POST, format!("{id}/cancel")),
        (Method::GET, "/v1/responses/%F0%9F%A6%80".to_owned()),
        (Method::GET, "/v1/responses/%FF".to_owned()),
    ] {
        assert_eq!(send(proxy, method, &path).await.error(), unknown, "{path}");
    }
}

/// A page may show, delete and cancel too; a browser asks before without the key.
async fn pages_may_use_every_method(proxy: &Proxy) {
    for (path, method) in [
        (RESPONSES, "POST"),
        ("/v1/responses/resp_1", "GET"),
        ("/v1/responses/resp_1", "DELETE"),
        ("/v1/responses/resp_1/cancel", "POST"),
    ] {
        let preflight = Request::options(path)
            .header("origin", OBSIDIAN)
            .header("access-control-request-method", method)
            .header("access-control-request-headers", "authorization,content-type");
        let answer = proxy.send_without_key(preflight.body(Full::default()).unwrap()).await;
        assert_eq!(answer.status, 204, "{method} {path}");
        let allowed = answer.headers.get("access-control-allow-methods").unwrap();
        assert!(allowed.to_str().unwrap().split(", ").any(|name| name == method), "{allowed:?}");
    }
}

#[tokio::test]
async fn row_17_responses_need_the_key() {
    let settings = [("PROXY_PROTECT_MODELS", "false"), ("PROXY_METRICS_ALLOW_LOOPBACK", "true")];
    let proxy = Proxy::start(&settings).await;
    let id = "/v1/responses/resp_1";
    for (method, path) in [
        (Method::POST, RESPONSES.to_owned()),
        (Method::GET, id.to_owned()),
        (Method::DELETE, id.to_owned()),
        (Method::GET, format!("{id}/input_items")),
        (Method::POST, format!("{id}/cancel")),
    ] {
        let request = Request::builder().method(method).uri(&path).body(Full::default()).unwrap();
        let answer = proxy.send_without_key(request).await.whole().await;
        assert_eq!(answer.error(), (401, Value::Null, json!("invalid_api_key")), "{path}");
    }
}
