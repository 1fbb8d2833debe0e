//! Tools that no client runs, efforts that a model lacks, and what else is passed on or named.

use bytes::Bytes;
use http_body_util::Full;
use hyper::Request;
use serde_json::{Value, json};

use super::{Proxy, offered};
use crate::asking::{ask, tools, with};
use crate::responses::{self, post, respond};

const IGNORED: &str = "x-proxy-ignored-params";

fn declaring() -> Value {
    let mut declared = tools(&["get_weather"]);
    let hosted = [json!({"type": "web_search"}), json!({"type": "of_the_future"})];
    declared.as_array_mut().expect("tools").extend(hosted);
    with(ask("[[text]]Hi"), json!({"tools": declared}))
}

on_one_server! {
    a_hosted_tool_is_left_out_and_named,
    efforts_verbosity_and_tier_reach_the_model,
    tokens_are_counted_without_a_turn,
    what_is_not_there_says_what_is,
}

async fn a_hosted_tool_is_left_out_and_named(proxy: &Proxy) {
    let answer = proxy.chat_with(&declaring(), &[("x-request-id", "hosted")]).await;
    assert_eq!(answer.header(IGNORED), Some("tools.web_search, tools.of_the_future"));
    assert_eq!(offered(proxy).as_array().map(Vec::len), Some(1));
    let [line] = &proxy.turn_lines("hosted", 1).await[..] else { panic!("one turn") };
    assert_eq!(line["ignored_params"], "tools.web_search,tools.of_the_future");

    let forced = with(declaring(), json!({"tool_choice": {"type": "web_search"}}));
    let (status, param, _) = proxy.chat(&forced).await.error();
    assert_eq!((status, param), (400, json!("tool_choice.type")));
}

#[tokio::test]
async fn a_hosted_tool_is_refused_where_the_operator_wants_that() {
    let proxy = Proxy::start(&[("PROXY_UNSUPPORTED_TOOLS", "refuse")]).await;
    let (status, param, _) = proxy.chat(&declaring()).await.error();
    assert_eq!((status, param), (400, json!("tools[1].type")));
    let item = json!({"type": "additional_tools", "tools": [{"type": "mcp"}]});
    let (status, param, _) = respond(&proxy, &responses::ask(json!([item]))).await.error();
    assert_eq!((status, param), (400, json!("input[0].tools[0].type")));
}

/// What the model was asked last beside its items and tools.
fn asked(proxy: &Proxy) -> (Value, Value, Value) {
    let body = proxy.model.last_request().expect("a request").body;
    (
        body["reasoning"]["effort"].clone(),
        body["text"]["verbosity"].clone(),
        body["service_tier"].clone(),
    )
}

async fn efforts_verbosity_and_tier_reach_the_model(proxy: &Proxy) {
    let null = || Value::Null;
    for (members, expected, named) in [
        (json!({}), (json!("medium"), null(), null()), None),
        (
            json!({"reasoning_effort": "none"}),
            (json!("low"), null(), null()),
            Some("reasoning_effort"),
        ),
        (
            json!({"reasoning_effort": "minimal"}),
            (json!("low"), null(), null()),
            Some("reasoning_effort"),
        ),
        (json!({"model": "gpt-5.5-high"}), (json!("high"), null(), null()), None),
        (json!({"model": "codex-5-xhigh"}), (json!("xhigh"), null(), null()), None),
        (
            json!({"model": "gpt-5.5-high", "reasoning_effort": "low"}),
            (json!("low"), null(), null()),
            None,
        ),
        (
            json!({"verbosity": "high", "service_tier": "fast"}),
            (json!("medium"), json!("high"), json!("priority")),
            None,
        ),
        (
            json!({"model": "of-my-own", "verbosity": "low", "service_tier": "priority"}),
            (null(), json!("low"), json!("priority")),
            None,
        ),
        (json!({"service_tier": "default"}), (json!("medium"), null(), null()), None),
    ] {
        let answer = proxy.chat(&with(ask("[[text]]Hi"), members.clone())).await;
        assert_eq!(answer.status, 200, "{members}: {}", answer.body);
        assert_eq!(asked(proxy), expected, "{members}");
        assert_eq!(answer.header(IGNORED), named, "{members}");
    }
    let request = with(
        responses::ask("[[text]]Hi"),
        json!({"reasoning": {"effort": "minimal"}, "text": {"verbosity": "medium"}, "service_tier": "flex"}),
    );
    let answer = respond(proxy, &request).await;
    assert_eq!(answer.header(IGNORED), Some("reasoning.effort"));
    assert_eq!(asked(proxy), (json!("low"), json!("medium"), json!("flex")));

    let listed = |names: Value| {
        let names = names["data"].as_array().expect("models").clone();
        names.iter().filter(|model| model["id"].as_str().unwrap().starts_with("gpt-5.5")).count()
    };
    assert_eq!(listed(proxy.get("/v1/models").await.json()), 1);
    assert_eq!(listed(proxy.get("/v1/models?efforts=true").await.json()), 5);
    assert_eq!(proxy.get("/v1/models/gpt-5.5-xhigh").await.status, 200);
    assert_eq!(proxy.get("/v1/models/gpt-5.5-none").await.status, 404);
}

#[tokio::test]
async fn an_unknown_model_is_replaced_by_the_fallback() {
    let settings = [("PROXY_UPSTREAM_BASE_URL", ""), ("PROXY_MODEL_FALLBACK", "demo")];
    let proxy = Proxy::start(&settings).await;
    let answer = proxy.chat(&with(ask("Hi"), json!({"model": "gpt-5.4-nano"}))).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.header("x-proxy-model"), Some("demo"));
    assert_eq!(answer.json()["model"], "gpt-5.4-nano");
    assert_eq!(proxy.get("/v1/models/gpt-5.4-nano").await.status, 404);
}

async fn tokens_are_counted_without_a_turn(proxy: &Proxy) {
    let request =
        json!({"model": "gpt-5.5", "input": "Tell me a joke.", "instructions": "Be brief."});
    let count = post(proxy, "/v1/responses/input_tokens", request.to_string(), &[]).await;
    let count = count.whole().await;
    assert_eq!(count.header("x-proxy-usage"), Some("estimated"));
    let tokens = count.json();
    assert_eq!(tokens["object"], "response.input_tokens");
    assert_eq!(tokens["input_tokens"], 8);
    assert_eq!(proxy.model.requests(), 0);
    let wrong = post(proxy, "/v1/responses/input_tokens", "{}", &[]).await.whole().await;
    assert_eq!(wrong.error().0, 400);
}

async fn what_is_not_there_says_what_is(proxy: &Proxy) {
    let upgrade = Request::get("/v1/responses")
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .body(Full::<Bytes>::default())
        .unwrap();
    let refused = proxy.send(upgrade).await.whole().await;
    assert_eq!(refused.status, 426, "{}", refused.body);
    assert!(refused.body.contains("with POST"), "{}", refused.body);
    assert_eq!(proxy.get("/v1/responses").await.status, 405);
    for (path, words) in [
        ("/v1/responses/compact", "not compacted here"),
        ("/responses/compact", "not compacted here"),
        ("/v1/chat/completions/chatcmpl-1", "No chat completion is stored here"),
        ("/v1/evals", "no evaluations"),
    ] {
        let answer = post(proxy, path, "{}", &[]).await.whole().await;
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains(words), "{path}: {}", answer.body);
    }
}
